"""Answers as text and as HTML: one table, whose numbers have no more digits than their intervals allow."""

from __future__ import annotations

from math import floor, isfinite, isnan, log10
from typing import TYPE_CHECKING

from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.pricing.bills import format_cost
from adomnia.privacy.amounts import show_down
from adomnia.tables import TextTable, html_lines, show_below, show_plainly

if TYPE_CHECKING:
    from adomnia.privacy.filters import Left
    from adomnia.session.answer_values import AnswerValues

_ROUNDED = 1e4  # from here on a fact has no digits after the point
_LONGEST = 1e16  # from here on digits are left out, which a double does not have


def format_table(answer: AnswerValues) -> tuple[list[str], list[list[str]]]:
    """Headings and rows as text; each measured value has its interval beside it."""
    headings: list[str] = []
    columns: list[list[str]] = []
    for column in answer.columns:
        headings.append(column.name)
        values = answer[column.name]
        if isinstance(column, KeyColumn):
            columns.append([_fact(value, column.floor) if column.fact else _cell(value) for value in values])
            continue
        bounds = answer.interval(column.name)
        headings.append(f"{100 * answer.confidence:g}% interval")
        if column.estimate.about is None:
            columns.extend(([_alone(value) for value in values], ["not bought"] * len(values)))
            continue
        if column.estimate.dates:
            columns.extend((list(map(_cell, values)), [f"{lower} to {upper}" for lower, upper in bounds]))
            continue
        places = [0 if column.estimate.whole else _places(*ends) for ends in bounds]
        found = column.estimate.values.ravel()[answer.rows].tolist()
        columns.append(
            [_number(value, after) if not isnan(value) else "NULL" for value, after in zip(found, places, strict=True)]
        )
        columns.append([_between(ends, after) for ends, after in zip(bounds, places, strict=True)])
    return headings, [list(row) for row in zip(*columns, strict=True)]


def format_footer(answer: AnswerValues) -> list[str]:
    """What it cost, what is left, and what the interval means."""
    if answer.cost is None and not answer.notes:
        return ["Public: read exactly, at no price."]
    if answer.cost is None:
        return ["Nothing was paid.", *answer.notes, *(_meaning(answer) if _has_intervals(answer) else [])]
    if answer.receipt is not None and answer.receipt.analyst is None:
        paid = "has paid before" if answer.replayed else "paid"
        return [f"The dataset {paid}: {format_cost(answer.receipt.event)}. Your budget is as it was."]
    paid = "Replayed, free: it was paid before" if answer.replayed else "Paid"
    return [
        f"{paid}: {format_cost(answer.cost)}. Left: {_left(answer.left)}.",
        *(f"{cap}." for cap in answer.caps),
        *answer.notes,
        *_meaning(answer),
    ]


def _has_intervals(answer: AnswerValues) -> bool:
    return any(not isinstance(column, KeyColumn) for column in answer.columns)


def _meaning(answer: AnswerValues) -> list[str]:
    """What the intervals hold; a method says that itself."""
    if answer.figure:
        return []
    return [f"The interval holds {_held(answer)} (of {_rows(answer)} rows) with the stated confidence."]


def _held(answer: AnswerValues) -> str:
    about = {column.estimate.about for column in answer.columns if isinstance(column, ValueColumn)}
    return "the population's value" if "population" in about else "the exact answer"


def _left(left: Left) -> str:
    if left.epsilon:
        return f"epsilon {show_down(left.epsilon)}"
    question = f"or one question at epsilon {show_down(left.largest_question)}"
    return f"rho {show_down(left.rho)}, {question}" if left.rho else "nothing"


def _rows(answer: AnswerValues) -> str:
    shortened = any(column.estimate.shortened for column in answer.columns if isinstance(column, ValueColumn))
    return f"capped, {'shortened, ' if shortened else ''}clamped and rounded"


def format_text(answer: AnswerValues) -> str:
    return "\n".join([str(_text_table(answer)), "", *format_footer(answer)])


def format_html(answer: AnswerValues) -> str:
    return _text_table(answer).html() + html_lines(format_footer(answer))


def _text_table(answer: AnswerValues) -> TextTable:
    headings, rows = format_table(answer)
    return TextTable(tuple(headings), tuple(map(tuple, rows)))


def _cell(value: object) -> str:
    """A public value as text: no thousands separators, nothing for NULL, control characters escaped."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else show_plainly(str(value))


def _fact(value: object, floor: float | None) -> str:
    """A number that follows from noisy ones, in four digits: more would say nothing."""
    if not isinstance(value, float):
        return _cell(value)
    if floor is not None and value <= floor:
        return show_below(floor)
    return f"{value:,.0f}" if _ROUNDED <= abs(value) < _LONGEST else f"{value:.4g}"


def _alone(value: object) -> str:
    """A value of which nobody said how exact it is."""
    return f"{value:,.7g}" if isinstance(value, float) else _cell(value)


def _places(lower: float, upper: float) -> int:
    """Decimal places that show two digits of the half-width."""
    half_width = (upper - lower) / 2
    if not isfinite(half_width) or half_width <= 0:
        return 0
    return max(0, 1 - floor(log10(half_width)))


def _between(ends: tuple[float, float], places: int) -> str:
    if not isfinite(ends[1] - ends[0]):
        return "unbounded"
    return f"{_number(ends[0], places)} to {_number(ends[1], places)}"


def _number(value: float, places: int) -> str:
    return f"{value:,.{places}f}" if abs(value) < _LONGEST else f"{value:.7g}"
