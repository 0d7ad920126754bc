"""Reads GROUP BY BLOCK(k): one row for each of k blocks of people, of all rows of the people in it."""

from collections.abc import Sequence

from sqlglot import exp

from adomnia.privacy.keys import MOST_BLOCKS, Blocks
from adomnia.privacy.relations import Relation
from adomnia.sql.reading.refusals import refusal


def is_block(node: exp.Expr) -> bool:
    """Whether a node is BLOCK(...)."""
    return isinstance(node, exp.Anonymous) and str(node.this).upper() == "BLOCK"


def read_blocks(keys: Sequence[exp.Expr], relation: Relation) -> Blocks | None:
    """The blocks that a SELECT inside a question is grouped by, if it is; no other key may stand beside them."""
    found = next((key for key in keys if is_block(key)), None)
    if found is None:
        return None
    if len(keys) > 1:
        why, fix = "stands beside other keys", "group by the block alone, and filter with WHERE"
        raise refusal("blocks", found, why, fix, "BLOCK")
    if relation.is_public:
        raise refusal("blocks", found, "is of people, and these rows are public", "group by a column", "BLOCK")
    if relation.has_blocks:
        why, fix = "is of people, and these rows are of blocks already", "aggregate them without BLOCK"
        raise refusal("blocks", found, why, fix, "BLOCK")
    return Blocks(_read_count(found))


def _read_count(node: exp.Expr) -> int:
    written = [str(part.this) for part in node.expressions if isinstance(part, exp.Literal) and not part.is_string]
    digits = written[0].lstrip("0") if len(node.expressions) == 1 and written and written[0].isdecimal() else ""
    # Longer numbers are not read at all: of some thousand digits, Python refuses to.
    count = int(digits or 0) if len(digits) <= len(str(MOST_BLOCKS)) else 0
    if not 2 <= count <= MOST_BLOCKS:
        why = f"takes one whole number, from 2 to {MOST_BLOCKS:,}: how many blocks there are"
        raise refusal("blocks", node, why, "write for example BLOCK(200)", "BLOCK")
    return count
