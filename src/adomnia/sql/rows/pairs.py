"""Reads EXISTS with conditions between rows of one person: each row around is compared with all rows inside.

The different values of a row around that the conditions look at are paired with the rows inside, person by person and
within the caps of both. Those that meet a row are kept, and each row around looks up its own: rows stay as many.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from adomnia.plans.descriptions import describe
from adomnia.privacy.expressions import Column, Expression, columns_of, map_columns
from adomnia.privacy.kinds import Moment, Quantity
from adomnia.privacy.relations import Join, Named, PerPerson, Select, Selected
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.rows.correlation import is_around
from adomnia.sql.rows.derived import refuse_slow
from adomnia.sql.rows.joins import MOST_PAIRS, read_join_condition
from adomnia.sql.values.scope import Scope, ScopeTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adomnia.sql.rows.correlation import Block
    from adomnia.sql.rows.derived import Side

_AROUND, _INSIDE = "around", "inside"


def pair_rows(
    node: exp.Expr, block: Block, outer: Scope, sides: Sequence[Side]
) -> tuple[PerPerson, tuple[Expression, ...]]:
    """The values of rows around that meet a row inside, one row for each, and what they are looked up by."""
    conditions, around, inside = _rename_columns(block, outer)
    columns = sorted({column for meaning in around for column in columns_of(meaning)}, key=describe)
    side = _find_side(node, columns, sides)
    rows = PerPerson(side.relation.source, _outputs("g", [replace(each, source="") for each in columns]), ())
    found = Select(block.relation, _outputs("c", inside))
    left, right = Named(rows, _AROUND), Named(found, _INSIDE)
    keys = [replace(key.column, source=_AROUND) for key in rows.keys]
    known = dict(zip(columns, keys, strict=True))
    meanings = {name: map_columns(meaning, lambda column: known[column]) for meaning, name in around.items()}
    outputs = {output.name: replace(output.column, source=_INSIDE) for output in found.outputs}
    scope = Scope((ScopeTable(_AROUND, meanings), ScopeTable(_INSIDE, outputs)))
    on = dict.fromkeys(read_join_condition(condition, scope) for condition in conditions)
    pairs = Join(left, right, tuple(sorted(on, key=describe)))
    if pairs.rows_per_person > max(MOST_PAIRS, left.rows_per_person, right.rows_per_person):
        why = f"makes up to {pairs.rows_per_person:,} pairs of the rows of one person, more than {MOST_PAIRS:,}"
        raise refusal("too_complex", node, why, "compare less than all of both tables", "This subquery")
    refuse_slow(node, max(block.weight, side.weight) * right.rows_per_person, on)
    return PerPerson(pairs, _outputs("g", keys), ()), tuple(columns)


def _rename_columns(block: Block, outer: Scope) -> tuple[list[exp.Expr], dict[Expression, str], dict[Expression, str]]:
    """The conditions with columns of the two sides of a join, and what these mean around and inside, by their names."""
    around: dict[Expression, str] = {}
    inside: dict[Expression, str] = {}
    conditions: list[exp.Expr] = []
    for node in block.correlation.compared:
        if node.find(exp.Query):
            raise refusal("private_subquery", node, "has a subquery inside a comparison", "take it apart")
        condition = exp.Paren(this=node.copy())
        for column in list(condition.find_all(exp.Column)):
            if is_around(column, block.scope, outer):
                name = around.setdefault(outer.column(column), f"a{len(around)}")
                column.replace(exp.column(name, _AROUND))
            else:
                name = inside.setdefault(block.scope.column(column), f"c{len(inside)}")
                column.replace(exp.column(name, _INSIDE))
        conditions.append(condition.this)
    return conditions, around, inside


def _outputs(stem: str, values: Iterable[Expression]) -> tuple[Selected, ...]:
    """Values under names of ours: categories as their codes, numbers and times as the doubles they are compared as."""
    return tuple(
        Selected(f"{stem}{place}", value, stored=not isinstance(value.kind, Quantity | Moment))
        for place, value in enumerate(values)
    )


def _find_side(node: exp.Expr, columns: Sequence[Column], sides: Sequence[Side]) -> Side:
    """The one table around that the conditions look at."""
    labels = {column.source for column in columns}
    found = [side for side in sides if side.label in labels and not side.public]
    if len(labels) != 1 or not found or any(column.optional for column in columns):
        why = "compares with more than one table around it, a public one, or one that LEFT JOIN may leave out"
        raise refusal("private_subquery", node, why, "compare with one private table", "This subquery")
    return found[0]
