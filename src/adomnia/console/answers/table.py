"""An answer as a table: every estimate with its interval in the same row, as text and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from adomnia.console.answers.digits import find_places, show_all, show_fact, show_key, show_number
from adomnia.console.answers.measured import MeasuredColumn, read_measured
from adomnia.console.answers.reading import ROWS_A_PAGE
from adomnia.plans.columns import KeyColumn, ValueColumn, read_dates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.console.answers.scales import IntervalScale
    from adomnia.session.answer import Answer

_NAMED = 4  # rows that say nothing
SAYS_NOTHING, NOT_ESTIMABLE, NOT_BOUGHT = "says nothing", "not estimable", "not bought"
_MISSING, _EMPTY = "NULL", "empty text"


@dataclass(frozen=True)
class ColumnHead:
    """A column: a `key`, a `fact`, or a `value` whose intervals may be drawn on a scale; `text` is what may wrap."""

    name: str
    kind: str
    number: bool
    scale: IntervalScale | None = None
    text: bool = False


@dataclass(frozen=True)
class Cell:
    """A text, with all digits beside it; of a value its interval, or a word in the place of both."""

    text: str = ""
    exact: str = ""
    interval: str = ""
    word: str = ""
    bar: Bar | None = None


def show_measured(column: MeasuredColumn, place: int) -> Cell:
    """A measured value: the digits that its interval allows."""
    value, lower, upper = (float(each[place]) for each in (column.shown, column.shown_lower, column.upper))
    void = None if column.scale is None else VOID
    if isnan(value):
        return Cell(word=NOT_ESTIMABLE, bar=void)
    if column.alone:
        return Cell(_day(value) if column.dates else f"{value:,.7g}", show_all(value), NOT_BOUGHT)
    exact = _say_exact(column, place)
    if column.silent[place]:
        return Cell(exact=exact, word=SAYS_NOTHING, bar=void)
    scale, holds_zero = column.scale, column.coefficients and lower <= 0 <= upper
    bar = None if scale is None else draw_bar(scale, value, lower, upper, hollow=holds_zero)
    if column.dates:
        return Cell(_day(value), exact, _between(_day(lower), _day(upper)), bar=bar)
    places = find_places(*_around(value, lower, upper), column.whole)
    low, high = (show_number(end, places, side) if isfinite(end) else "" for end, side in ((lower, -1), (upper, 1)))
    return Cell(show_number(value, places), exact, _between(low, high), bar=bar)


def show_public(column: KeyColumn, value: object) -> Cell:
    """A key, or a fact that follows from what was measured."""
    if value is None:
        return Cell(word=NOT_ESTIMABLE if column.fact else _MISSING)
    if value == "":
        return Cell(word=_EMPTY)
    if column.fact:
        return Cell(show_fact(value, column.floor), show_all(value) if isinstance(value, float) else "")
    return Cell(show_key(value))


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
    return f"from {low} on" if low else f"up to {high}"


def _say_exact(column: MeasuredColumn, place: int) -> str:
    """All digits, as they were released."""
    value, lower, upper = (float(each[place]) for each in (column.values, column.lower, column.upper))
    if column.dates:
        return f"{_day(value)}, {_day(lower)} to {_day(upper)}"
    ends = " to ".join(show_all(end) if isfinite(end) else "no end" for end in (lower, upper))
    return f"{show_all(value)}, {ends}"


def _day(days: float) -> str:
    (found,) = read_dates(np.array([days]))
    return "" if found is None else found.isoformat()


@dataclass(frozen=True)
class Bar:
    """Shares of the axis. Where an interval goes beyond it there is an arrow, and no dot where the value does.

    `void`: it says nothing. `hollow`: no difference is possible. `beyond`: no part of it is on the axis.
    """

    left: float = 0.0
    middle: float = 0.0
    right: float = 1.0
    dot: bool = True
    more_left: bool = False
    more_right: bool = False
    hollow: bool = False
    void: bool = False
    beyond: bool = False

    @property
    def left_half(self) -> float:
        """How long the part below the value is."""
        return max(self.middle - self.left, 0.0)

    @property
    def right_half(self) -> float:
        """How long the part above the value is."""
        return max(self.right - self.middle, 0.0)


VOID = Bar(void=True, dot=False)


def draw_bar(scale: IntervalScale, value: float, lower: float, upper: float, *, hollow: bool = False) -> Bar:
    """The bar of a value on the axis of its column."""
    low, high = (end if isfinite(end) else edge for end, edge in ((lower, scale.lower), (upper, scale.upper)))
    left, right = scale.share(low), scale.share(high)
    return Bar(
        left=left,
        middle=min(max(scale.share(value), left), right),
        right=right,
        dot=scale.lower <= value <= scale.upper,
        more_left=lower < scale.lower,
        more_right=upper > scale.upper,
        hollow=hollow,
        beyond=lower > scale.upper or upper < scale.lower,
    )


@dataclass(frozen=True)
class AnswerTable:
    """Some rows of an answer, of how many.

    In `silences` of them something says nothing; `silent` are the keys of the first ones. `unanswered`: somewhere there
    is not estimable.
    """

    heads: tuple[ColumnHead, ...]
    rows: tuple[tuple[Cell, ...], ...]
    first: int
    whole: int
    silences: int = 0
    silent: tuple[str, ...] = ()
    unanswered: bool = False

    @property
    def last(self) -> int:
        """The number of the last row that is shown."""
        return self.first + len(self.rows) - 1

    @property
    def measured(self) -> int:
        """How many columns have intervals."""
        return sum(head.kind == "value" for head in self.heads)

    @property
    def drawn(self) -> bool:
        """Whether any interval is drawn."""
        return any(head.scale is not None for head in self.heads)

    @property
    def hollow(self) -> bool:
        """Whether any dot is hollow."""
        return any(cell.bar is not None and cell.bar.hollow for row in self.rows for cell in row)

    @property
    def void(self) -> bool:
        """Whether any row that is shown says nothing."""
        return any(cell.word == SAYS_NOTHING for row in self.rows for cell in row)


def build_table(answer: Answer, start: int = 1) -> AnswerTable:
    """A page of rows, from one of them on; the scales are those of all rows."""
    first = start if start <= len(answer) else 1
    places = range(first - 1, min(first - 1 + ROWS_A_PAGE, len(answer)))
    read = [read_measured(answer, each) if isinstance(each, ValueColumn) else each for each in answer.columns]
    columns = [
        [show_public(each, each.values[answer.rows[place]]) for place in places]
        if isinstance(each, KeyColumn)
        else [show_measured(each, place) for place in places]
        for each in read
    ]
    heads = tuple(_head(told.name, each) for told, each in zip(answer.columns, read, strict=True))
    measured = [each for each in read if isinstance(each, MeasuredColumn)]
    silent = np.flatnonzero(np.any([each.silent for each in measured], axis=0)) if measured else ()
    unanswered = any(bool(np.isnan(each.values).any()) for each in measured)
    named = _name_rows(answer, silent[:_NAMED])
    return AnswerTable(heads, tuple(zip(*columns, strict=True)), first, len(answer), len(silent), named, unanswered)


def _head(name: str, column: KeyColumn | MeasuredColumn) -> ColumnHead:
    if isinstance(column, MeasuredColumn):
        return ColumnHead(name, "value", True, column.scale)
    kinds = {type(value) for value in column.values} - {type(None)}
    return ColumnHead(name, "fact" if column.fact else "key", bool(kinds) and kinds <= {int, float}, text=str in kinds)


def _name_rows(answer: Answer, places: Iterable[int]) -> tuple[str, ...]:
    """Rows by their keys; of an answer without keys, nothing."""
    keys = [column for column in answer.columns if isinstance(column, KeyColumn) and not column.fact]
    return (
        tuple(" · ".join(name_key(key.values[answer.rows[place]]) for key in keys) for place in places) if keys else ()
    )
