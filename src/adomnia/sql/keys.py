"""GROUP BY: declared categories and booleans, so that every key comes back whoever is in the data."""

import re
from collections.abc import Iterator
from math import prod

from sqlglot import exp

from adomnia.privacy.expressions import Column, columns_of
from adomnia.privacy.kinds import Identity, Text, Truth
from adomnia.privacy.queries import key_values
from adomnia.sql.refusals import refusal
from adomnia.sql.scope import Scope, bare, only

MOST_CELLS = 10**6

_SHORT_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)


def written_keys(select: exp.Select, scope: Scope) -> tuple[Column, ...]:
    """The keys in the order of GROUP BY, each once."""
    group = select.args.get("group")
    if group is None:
        return ()
    refuse_grouping_sets(group)
    only(group, "expressions")
    keys = tuple(dict.fromkeys(_keys(group, select, scope)))
    cells = prod(len(key_values(key)) for key in keys)
    if cells > MOST_CELLS:
        why = f"makes {cells:,} groups, more than {MOST_CELLS:,}"
        raise refusal("too_many_cells", group, why, "group by fewer keys", "GROUP BY")
    return keys


def refuse_grouping_sets(group: exp.Group) -> None:
    """Refuse ROLLUP and the like."""
    for part in group.find_all(exp.Rollup, exp.Cube, exp.GroupingSets):
        why, fix = "puts every row into several groups at once", "ask for each grouping by itself"
        raise refusal("grouping_sets", part, why, fix)


def numbered(node: exp.Literal, outputs: int) -> int:
    """The place of the output that a number in GROUP BY or ORDER BY stands for, from 0."""
    if node.is_string or not _SHORT_NUMBER.fullmatch(str(node.this)) or not 1 <= int(node.this) <= outputs:
        raise refusal("bad_literal", node, "is not the number of an output", f"write a number from 1 to {outputs}")
    return int(node.this) - 1


def _keys(group: exp.Group, select: exp.Select, scope: Scope) -> Iterator[Column]:
    for part in group.expressions:
        yield _key(referred(bare(part), select, scope), scope)


def referred(node: exp.Expr, select: exp.Select, scope: Scope) -> exp.Expr:
    """What a part of GROUP BY stands for: a column, else the output of that number or name."""
    outputs: list[exp.Expr] = select.expressions
    if isinstance(node, exp.Literal):
        return outputs[numbered(node, len(outputs))].unalias()
    if isinstance(node, exp.Column) and not node.table and not scope.named(node.name):
        named = (item for item in outputs if isinstance(item, exp.Alias) and item.alias.lower() == node.name.lower())
        return next(named, node).unalias()
    return node


def _key(node: exp.Expr, scope: Scope) -> Column:
    if node.find(exp.Query):
        raise refusal("needs_key_domain", node, "has no declared values", "group by a category or boolean column")
    meanings = [scope.column(column) for column in node.find_all(exp.Column)]
    columns = {column for meaning in meanings for column in columns_of(meaning)}
    if any(isinstance(column.kind, Identity) and column.kind.person for column in columns):
        raise refusal("group_by_privacy_unit", node, "makes a group of every person", "group by a declared category")
    column = meanings[0] if isinstance(node, exp.Column) else None
    if not isinstance(column, Column):
        raise refusal("needs_key_domain", node, "has no declared values", "group by a category or boolean column")
    match column.kind:
        case Text(values=tuple()) | Truth():
            return column
        case Identity() | Text():
            why, fix = "may identify people, and its values are not declared", "group by a declared category"
            raise refusal("identifier_column", node, why, fix)
    why = "has no declared values to make groups of"
    raise refusal("needs_key_domain", node, why, "group by a category or boolean column, or put a condition on it")
