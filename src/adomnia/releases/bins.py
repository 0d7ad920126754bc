"""Bins that an expression would cut in two: of the people inside nobody knows on which side they are.

An expression of a column in bins is known on each of them if it rises or falls all the way and is the same at both
ends. One that is made of such parts is known where they all are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.privacy.expressions import Call, Column, Expression, Literal, call, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from adomnia.releases.levels import Levels, OnLevels
    from adomnia.releases.tables import AttributeTable

_ORDERS = ("<", "<=", ">", ">=")
_EQUALITIES = ("=", "<>", "same")
# Functions that only rise or only fall with one argument if the others are constants, and which argument that may be.
_MONOTONE: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("+", "-", "*", "greatest", "least", *_ORDERS, "days between"), (0, 1)),
    **dict.fromkeys(("/", "negative", "floor", "ceil", "round", "trunc", "finite", "clamp"), (0,)),
    **dict.fromkeys(("sqrt", "exp", "ln", "log10", "log2", "shift", "shift months"), (0,)),
    **dict.fromkeys(("year", "start of year", "start of quarter", "start of month", "start of week"), (0,)),
    **dict.fromkeys(("number as text", "date as text"), (0,)),
}
_MAY_BE_NULL = ("/", "finite", "sqrt", "ln", "log10", "log2", "shift", "shift months")  # where their argument is not
# The same wherever another function is.
_FOLLOWS = {"month": "start of month", "quarter": "start of quarter"}


@dataclass(frozen=True)
class Step:
    """A part of an expression that rises or falls all the way; with a `point`, the question whether it is that."""

    value: Expression
    point: Literal | None = None


def find_cut(expression: Expression, levels: Levels) -> Column | None:
    """The first column of which an expression cuts a bin in two, if there is one."""
    steps = list(dict.fromkeys(_list_steps(expression, levels.table)))
    points = [step.point for step in steps if step.point is not None]
    ends = levels.compare_ends([step.value for step in steps])
    constants = dict(zip(points, levels.evaluate(points), strict=True))
    for step, (first, last) in zip(steps, ends, strict=True):
        point = None if step.point is None else constants[step.point].values[()]
        if not _is_known(first, last, point).all():
            (column,) = columns_of(step.value)
            return column
    return None


def _is_known(first: OnLevels, last: OnLevels, point: object) -> NDArray[np.bool_]:
    """Of each level, whether a step is the same all over it; or, of a point, whether it is surely on one side."""
    same = np.frompyfunc(lambda one, other: one == other, 2, 1)(first.values, last.values)
    if point is None:
        return np.asarray(same, dtype=np.bool_)
    outside = np.frompyfunc(lambda one, other: _is_outside(one, other, point), 2, 1)(first.values, last.values)
    return np.asarray(np.logical_or(same, outside), dtype=np.bool_)


def _is_outside(first: Any, last: Any, point: Any) -> bool:  # noqa: ANN401 - of one kind
    if first is None or last is None:
        return False
    return bool(point < min(first, last) or point > max(first, last))


def _list_steps(expression: Expression, table: AttributeTable) -> Iterator[Step]:
    if not any(table.shows_bins(column) for column in columns_of(expression)):
        return
    if _is_step(expression, table):
        yield Step(expression)
        return
    assert isinstance(expression, Call)  # noqa: S101 - a column in bins is a step
    match expression.function, expression.arguments:
        case function, (value, Literal() as point) if function in _EQUALITIES and _is_step(value, table):
            yield Step(value, point if point.value is not None else None)
        case function, (Literal() as point, value) if function in _EQUALITIES and _is_step(value, table):
            yield Step(value, point if point.value is not None else None)
        case "is null", (value,) if _is_step(value, table) and not _may_be_null(value):
            return
        case function, (value,) if function in _FOLLOWS and _is_step(value, table):
            yield Step(call(_FOLLOWS[function], value))
        case _, arguments:
            for argument in arguments:
                yield from _list_steps(argument, table)


def _is_step(expression: Expression, table: AttributeTable) -> bool:
    """Whether an expression is a monotone function of one column in bins and of constants."""
    if isinstance(expression, Column):
        return table.shows_bins(expression)
    if not isinstance(expression, Call) or expression.function not in _MONOTONE:
        return False
    moving = [place for place, each in enumerate(expression.arguments) if not isinstance(each, Literal)]
    allowed = _MONOTONE[expression.function]
    return len(moving) == 1 and moving[0] in allowed and _is_step(expression.arguments[moving[0]], table)


def _may_be_null(expression: Expression) -> bool:
    """Whether a step can be NULL where its column is not."""
    if not isinstance(expression, Call):
        return False
    return expression.function in _MAY_BE_NULL or any(
        (isinstance(each, Literal) and each.value is None) or _may_be_null(each) for each in expression.arguments
    )
