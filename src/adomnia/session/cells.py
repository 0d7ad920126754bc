"""Answers as people read them, on every surface: as many digits as an interval allows, and ends rounded outwards.

What is stored and exported is unbiased and may be below zero. Where people read, the value and the lower end of what is
never negative stop at 0; all digits, as they were released, are in `exact`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from adomnia.plans.columns import KeyColumn, ValueColumn, read_dates
from adomnia.session.digits import find_places, show_all, show_fact, show_key, show_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adomnia.session.answer_values import AnswerValues
    from adomnia.statistics.contract import Floats

UNINFORMATIVE, NOT_ESTIMABLE, NOT_BOUGHT = "uninformative", "not estimable", "not bought"
_MISSING, _EMPTY, _UNBOUNDED = "NULL", "empty text", "unbounded"


@dataclass(frozen=True)
class ShownCell:
    """A text with its interval, and all digits beside them; or a word in the place of a number that is missing."""

    text: str = ""
    interval: str = ""
    exact: str = ""
    word: str = ""


@dataclass(frozen=True)
class ShownColumn:
    """The numbers of a measured column as they are shown: values, NaN where a word stands, and ends of intervals."""

    column: ValueColumn
    values: Floats
    lower: Floats
    upper: Floats
    uninformative: np.ndarray
    released: tuple[Floats, Floats]  # values and lower ends, before they stop at 0

    def cells(self, places: Iterable[int]) -> Iterator[ShownCell]:
        """The cells of some rows of the answer."""
        return map(self._cell, places)

    def _cell(self, place: int) -> ShownCell:
        estimate = self.column.estimate
        value, lower, upper = (float(each[place]) for each in (self.values, self.lower, self.upper))
        if estimate.about is None:
            if isnan(value):
                return ShownCell(word=NOT_ESTIMABLE)
            return ShownCell(_day(value) if estimate.dates else f"{value:,.7g}", NOT_BOUGHT, show_all(value))
        if estimate.dates:
            interval = _between(*(_day(end) if isfinite(end) else "" for end in (lower, upper)))
        else:
            places = find_places(*_around(value, lower, upper), estimate.whole)
            ends = ((lower, -1), (upper, 1))
            interval = _between(*(show_number(end, places, side) if isfinite(end) else "" for end, side in ends))
        if self.uninformative[place]:
            return ShownCell(interval=interval, word=UNINFORMATIVE)
        if isnan(value):
            return ShownCell(interval=interval.replace(_UNBOUNDED, ""), word=NOT_ESTIMABLE)
        return ShownCell(_day(value) if estimate.dates else show_number(value, places), interval, self._exact(place))

    def _exact(self, place: int) -> str:
        """All digits, as they were released."""
        value, lower = (float(each[place]) for each in self.released)
        upper = float(self.upper[place])
        if self.column.estimate.dates:
            return f"{_day(value)}, {_day(lower)} to {_day(upper)}"
        ends = " to ".join(show_all(end) if isfinite(end) else "no end" for end in (lower, upper))
        return f"{show_all(value)}, {ends}"


def show_column(answer: AnswerValues, column: ValueColumn) -> ShownColumn:
    """A measured column in the rows of an answer."""
    found = answer.read(column)
    # An interval that is all below 0 shows that the noise was unusually large, and stays as it is.
    stops = is_never_negative(column) & (found.upper >= 0)
    values, lower = (np.where(stops, np.maximum(each, 0.0), each) for each in (found.values, found.lower))
    return ShownColumn(column, values, lower, found.upper, found.uninformative, (found.values, found.lower))


def is_never_negative(column: ValueColumn) -> bool:
    """Whether the exact value is 0 or more, whatever the data."""
    return column.estimate.possible is not None and column.estimate.possible[0] == 0


def show_public(column: KeyColumn, value: object) -> ShownCell:
    """A key, or a fact that follows from what was measured; of rows that have none, such as residuals, nothing."""
    if value is None:
        return ShownCell(word="" if column.fact else _MISSING)
    if value == "":
        return ShownCell(word=_EMPTY)
    if column.fact:
        return ShownCell(show_fact(value, column.floor), exact=show_all(value) if isinstance(value, float) else "")
    return ShownCell(show_key(value))


def name_key(value: object) -> str:
    """A key within a sentence."""
    return _MISSING if value is None else show_key(value) or _EMPTY


def _around(value: float, lower: float, upper: float) -> tuple[float, float]:
    """The ends; where one is missing, as far away as the other is."""
    reach = min(value - lower, upper - value)
    return (lower, upper) if isfinite(upper - lower) else (value - reach, value + reach)


def _between(low: str, high: str) -> str:
    if low and high:
        return f"{low} to {high}"
    return f"from {low} on" if low else f"up to {high}" if high else _UNBOUNDED


def _day(days: float) -> str:
    (found,) = read_dates(np.array([days]))
    return "" if found is None else found.isoformat()
