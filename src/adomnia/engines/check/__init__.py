"""The second look: what one person can change, derived again from the SQL text that is about to run.

Nothing of the plan is used here, only the text and the catalog. Whatever cannot be proved by the few rules below is not
run. They say how many rows of one person reach every SELECT, that no row can make the statement fail (doubles,
comparisons and guarded casts only), and how far one person's rows can move each output.
Proofs: docs/proofs/check.md, docs/proofs/relations.md, docs/proofs/vectors.md.
"""

from adomnia.engines.check.keys import Reading
from adomnia.engines.check.statements import (
    check_cells_of_blocks,
    check_histogram,
    check_public,
    check_statement,
)
from adomnia.engines.check.transforms import Proved, transform_sensitivity

__all__ = [
    "Proved",
    "Reading",
    "check_cells_of_blocks",
    "check_histogram",
    "check_public",
    "check_statement",
    "transform_sensitivity",
]
