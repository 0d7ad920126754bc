"""Answers as what can be drawn of them."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from adomnia.figures.columns import Drawable, DrawnColumn, find_kind
from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.session import display
from adomnia.tables import TextTable

if TYPE_CHECKING:
    from adomnia.figures.columns import Kind, Role
    from adomnia.session.answer_values import AnswerValues


def as_drawable(answer: AnswerValues) -> Drawable:
    """The columns of an answer as plain data; facts without an interval stay in the table."""
    headings, rows = display.format_table(answer)
    table = TextTable(tuple(headings), tuple(map(tuple, rows)))
    columns = tuple(_column(answer, column) for column in answer.columns)
    return Drawable(columns, answer.confidence, table, answer.figure, answer.notes)


def _column(answer: AnswerValues, column: KeyColumn | ValueColumn) -> DrawnColumn:
    values = tuple(answer[column.name])
    if not isinstance(column, ValueColumn):
        whole = all(type(value) is int for value in values)
        role: Role = "label" if column.name in answer.figure.get("labels", [column.name]) else "fact"
        return DrawnColumn(column.name, values, find_kind(column.values), role, whole=whole)
    lower: tuple[Any, ...] = ()
    upper: tuple[Any, ...] = ()
    if column.estimate.about is not None:
        ends = answer.interval(column.name)
        lower, upper = (tuple(_end(each[side]) for each in ends) for side in (0, 1))
    kind: Kind = "time" if column.estimate.dates else "number"
    whole, about = column.estimate.whole, column.estimate.about
    return DrawnColumn(column.name, values, kind, "value", lower, upper, whole, about=about)


def _end(end: Any) -> Any:  # noqa: ANN401 - a number or a date
    return None if isinstance(end, float) and not isfinite(end) else end
