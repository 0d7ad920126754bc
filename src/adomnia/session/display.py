"""Answers as text and as HTML: one table, whose numbers have no more digits than their intervals allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.pricing.bills import format_cost
from adomnia.pricing.notes import FROM_CATALOG
from adomnia.privacy.amounts import show_down
from adomnia.session.cells import show_column, show_public
from adomnia.tables import TextTable, html_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.privacy.filters import Left
    from adomnia.session.answer_values import AnswerValues


def format_table(answer: AnswerValues) -> tuple[list[str], list[list[str]]]:
    """Headings and rows as text; each measured value has its interval beside it."""
    headings: list[str] = []
    columns: list[list[str]] = []
    for column in answer.typed_columns:
        headings.append(column.name)
        if isinstance(column, KeyColumn):
            cells = [show_public(column, value) for value in answer[column.name]]
            columns.append([cell.word or cell.text for cell in cells])
            continue
        headings.append(f"{100 * answer.confidence:g}% interval")
        shown = list(show_column(answer, column).cells(range(len(answer))))
        columns += [cell.word or cell.text for cell in shown], [cell.interval for cell in shown]
    return headings, [list(row) for row in zip(*columns, strict=True)]


def format_footer(answer: AnswerValues) -> list[str]:
    """What it cost, what is left, and what the interval means."""
    if answer.cost is None and not answer.notes:
        return ["Public: read exactly, at no price."]
    if [note.code for note in answer.notes] == [FROM_CATALOG.code]:
        return list(answer.notes)
    if answer.cost is None:
        return [
            "Nothing was paid.",
            *answer.notes,
            *_missing(answer),
            *(_meaning(answer) if _has_intervals(answer) else []),
        ]
    if answer.receipt is not None and answer.receipt.analyst is None:
        paid = "has paid before" if answer.replayed else "paid"
        return [f"The dataset {paid}: {format_cost(answer.receipt.event)}. Your budget is as it was."]
    paid = "Replayed, free: it was paid before" if answer.replayed else "Paid"
    return [
        f"{paid}: {format_cost(answer.cost)}. Left: {_left(answer.left)}.",
        *(f"{cap}." for cap in answer.caps),
        *answer.notes,
        *_missing(answer),
        *_meaning(answer),
    ]


def _has_intervals(answer: AnswerValues) -> bool:
    return any(not isinstance(column, KeyColumn) for column in answer.typed_columns)


def _missing(answer: AnswerValues) -> Iterator[str]:
    """Why numbers are missing, where any is."""
    found = [answer.read(column) for column in answer.typed_columns if isinstance(column, ValueColumn)]
    if any(each.uninformative.any() for each in found):
        yield "Uninformative: too few people for this price; the interval is all that is possible."
    if any((np.isnan(each.values) & ~each.uninformative).any() for each in found):
        yield "Not estimable: what was measured is too noisy for any number."


def _meaning(answer: AnswerValues) -> list[str]:
    """What the intervals hold; a method says that itself."""
    if answer.figure:
        return []
    return [f"The interval holds {_held(answer)} (of {_rows(answer)} rows) with the stated confidence."]


def _held(answer: AnswerValues) -> str:
    about = {column.estimate.about for column in answer.typed_columns if isinstance(column, ValueColumn)}
    return "the population's value" if "population" in about else "the exact answer"


def _left(left: Left) -> str:
    if left.epsilon:
        return f"epsilon {show_down(left.epsilon)}"
    question = f"or one question at epsilon {show_down(left.largest_question)}"
    return f"rho {show_down(left.rho)}, {question}" if left.rho else "nothing"


def _rows(answer: AnswerValues) -> str:
    shortened = any(column.estimate.shortened for column in answer.typed_columns if isinstance(column, ValueColumn))
    return f"capped, {'shortened, ' if shortened else ''}clamped and rounded"


def format_text(answer: AnswerValues) -> str:
    return "\n".join([str(_text_table(answer)), "", *format_footer(answer)])


def format_html(answer: AnswerValues) -> str:
    return _text_table(answer).html() + html_lines(format_footer(answer))


def _text_table(answer: AnswerValues) -> TextTable:
    headings, rows = format_table(answer)
    return TextTable(tuple(headings), tuple(map(tuple, rows)))
