"""What a query means, in plain Python: row by row, slowly, and without a line of the engine.

Rows are dictionaries of what the owner's file holds. `exact` gives the aggregate in every cell as nested lists of
Python integers. It does not cap: whoever calls it hands over the rows that count, with whose they are.
"""

from __future__ import annotations

import math
import re
from datetime import date
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from adomnia.privacy.expressions import Call, Column, Expression, Literal
from adomnia.privacy.kinds import Day, Quantity, Text, Truth
from adomnia.privacy.queries import People, Present, Query, Rows, Total
from adomnia.privacy.relations import Relation, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

Row = dict[str, Any]


def exact(query: Query, rows: Sequence[tuple[Hashable, Row]]) -> list[Any] | int:
    """The aggregate of (person, row) pairs in every cell of the declared keys, last key innermost."""
    kept = [(who, row) for who, row in rows if holds(query.relation, row)]
    domains = [declared(key) for key in query.keys]
    cells: dict[tuple[Any, ...], list[tuple[Hashable, Row]]] = {cell: [] for cell in product(*domains)}
    for who, row in kept:
        cell = tuple(value(key, row) for key in query.keys)
        if cell in cells:
            cells[cell].append((who, row))
    return _nested([_aggregate(query, inside) for inside in cells.values()], [len(domain) for domain in domains])


def holds(relation: Relation, row: Row) -> bool:
    """Whether a row passes every WHERE; unknown is not true."""
    if isinstance(relation, Table):
        return True
    return holds(relation.source, row) and value(relation.condition, row) is True


def declared(key: Column) -> tuple[Any, ...]:
    """The values of a key, in their order."""
    if isinstance(key.kind, Truth):
        return (False, True)
    assert isinstance(key.kind, Text)
    assert key.kind.values is not None
    return key.kind.values


def value(expression: Expression, row: Row) -> Any:
    """A value, or None for NULL: doubles, three-valued logic, no errors."""
    match expression:
        case Column():
            return _read(expression, row[expression.name])
        case Literal(value=Fraction() as number):
            return float(number)
        case Literal(value=constant):
            return constant
        case Call(function=function, arguments=arguments):
            return MEANINGS[function](*(value(argument, row) for argument in arguments))


def _aggregate(query: Query, rows: list[tuple[Hashable, Row]]) -> int:
    match query.aggregate:
        case Rows():
            return len(rows)
        case People():
            return len({who for who, _ in rows})
        case Present(value=counted):
            return sum(value(counted, row) is not None for _, row in rows)
        case Total(value=summed, domain=domain, centre=centre):
            grids = (domain.grid(_raw(summed, row)) for _, row in rows)
            return sum(grid - centre for grid in grids if grid is not None)


def _raw(expression: Expression, row: Row) -> Any:
    """A bare column goes to its grid from what the file holds, everything else from its value."""
    return row[expression.name] if isinstance(expression, Column) else value(expression, row)


def _read(column: Column, raw: Any) -> Any:
    """A column as declared: clamped, and NULL where it is no value of its kind."""
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return None
    match column.kind:
        case Quantity():
            return _number(column, float(raw))
        case Text(values=tuple() as values):
            return raw if raw in values else None
        case Day(lower=date() as lower, upper=date() as upper):
            return min(max(raw, lower), upper)
    return raw


def _number(column: Column, raw: float) -> float:
    assert isinstance(column.kind, Quantity)
    if column.domain and column.kind.whole:
        return float(column.domain.grid(raw))  # type: ignore[arg-type]  # only NULL and NaN have none
    if column.domain:
        return min(max(raw, float(column.domain.lower)), float(column.domain.upper))
    return float(math.floor(raw + 0.5)) if column.kind.whole and math.isfinite(raw) else raw


def _nested(flat: list[int], shape: list[int]) -> Any:
    for length in reversed(shape):
        flat = [flat[place : place + length] for place in range(0, len(flat), length)]  # type: ignore[misc]
    return flat[0]


def _known(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """NULL in, NULL out."""
    return lambda *values: None if any(each is None for each in values) else meaning(*values)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _over(numerator: float, denominator: float) -> float | None:
    return None if denominator == 0 else numerator / denominator


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: bool | None, right: bool | None) -> bool | None:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _like(text: str, pattern: str) -> bool:
    parts = {"%": ".*", "_": "."}
    return bool(re.fullmatch("".join(parts.get(sign, re.escape(sign)) for sign in pattern), text, re.DOTALL))


MEANINGS: dict[str, Callable[..., Any]] = {
    "+": _known(lambda a, b: a + b),
    "-": _known(lambda a, b: a - b),
    "*": _known(lambda a, b: a * b),
    "/": _known(_over),
    "negative": _known(lambda a: -a),
    "finite": _known(_finite),
    "=": _known(lambda a, b: a == b),
    "<>": _known(lambda a, b: a != b),
    "<": _known(lambda a, b: a < b),
    "<=": _known(lambda a, b: a <= b),
    ">": _known(lambda a, b: a > b),
    ">=": _known(lambda a, b: a >= b),
    "and": _and,
    "or": _or,
    "not": _known(lambda a: not a),
    "is null": lambda a: a is None,
    "like": _known(_like),
}
