"""Answers as what can be drawn of them."""

from __future__ import annotations

from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.figures.columns import Drawable, DrawnColumn, find_kind
from adomnia.plans.columns import KeyColumn, ValueColumn, read_dates
from adomnia.session import display
from adomnia.session.cells import show_column
from adomnia.tables import TextTable

if TYPE_CHECKING:
    from adomnia.figures.columns import Kind, Role
    from adomnia.session.answer_values import AnswerValues
    from adomnia.statistics.contract import Estimate, Floats


def as_drawable(answer: AnswerValues) -> Drawable:
    """The columns of an answer as plain data, as its table shows them; facts without an interval stay in the table."""
    headings, rows = display.format_table(answer)
    table = TextTable(tuple(headings), tuple(map(tuple, rows)))
    columns = [_column(answer, column) for column in answer.typed_columns]
    told = [column for column in columns if not column.silent or not all(column.silent)]
    if not answer.figure and any(column.has_intervals for column in told):
        columns = told  # one that is all uninformative leaves its place to the others
    return Drawable(tuple(columns), answer.confidence, table, answer.figure, answer.notes)


def _column(answer: AnswerValues, column: KeyColumn | ValueColumn) -> DrawnColumn:
    if not isinstance(column, ValueColumn):
        values = tuple(answer[column.name])
        whole = all(type(value) is int for value in values)
        role: Role = "label" if column.name in answer.figure.get("labels", [column.name]) else "fact"
        return DrawnColumn(column.name, values, find_kind(column.values), role, whole=whole)
    estimate = column.estimate
    kind: Kind = "time" if estimate.dates else "number"
    shown = show_column(answer, column)
    if estimate.about is None:
        return DrawnColumn(column.name, _plain(shown.values, estimate), kind, "value", whole=estimate.whole, about=None)
    mute = shown.uninformative
    parts = (np.where(mute, nan, numbers) for numbers in (shown.values, shown.lower, shown.upper))
    values, lower, upper = (_plain(numbers, estimate) for numbers in parts)
    silent = tuple(mute.tolist()) if mute.any() else ()
    return DrawnColumn(
        column.name, values, kind, "value", lower, upper, estimate.whole, silent=silent, about=estimate.about
    )


def _plain(numbers: Floats, estimate: Estimate) -> tuple[Any, ...]:
    """Numbers or dates, None where there is none."""
    if estimate.dates:
        return tuple(read_dates(numbers))
    exact = int if estimate.whole else float
    return tuple(exact(number) if isfinite(number) else None for number in numbers.tolist())
