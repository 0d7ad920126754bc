"""An answer as a table: every estimate with its interval in the same row, as text and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from adomnia.console.answers.measured import MeasuredColumn, read_measured
from adomnia.console.answers.reading import ROWS_A_PAGE
from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.session.cells import UNINFORMATIVE, name_key, show_public

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adomnia.console.answers.scales import IntervalScale
    from adomnia.session.answer import Answer
    from adomnia.session.cells import ShownCell

_NAMED = 4  # rows that are uninformative


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
    """What is shown of a cell, and the picture of its interval."""

    shown: ShownCell
    bar: Bar | None = None


def draw_cells(column: MeasuredColumn, places: range) -> Iterator[Cell]:
    """The cells of some rows of a measured column."""
    shown, scale = column.shown, column.scale
    for place, cell in zip(places, shown.cells(places), strict=True):
        if scale is None or cell.word:
            yield Cell(cell, None if scale is None else VOID)
            continue
        value, lower, upper = (float(each[place]) for each in (shown.values, shown.lower, shown.upper))
        hollow = column.coefficients and lower <= 0 <= upper
        yield Cell(cell, draw_bar(scale, value, lower, upper, hollow=hollow))


@dataclass(frozen=True)
class Bar:
    """Shares of the axis. Where an interval goes beyond it there is an arrow, and no dot where the value does.

    `void`: there is none. `hollow`: no difference is possible. `beyond`: no part of it is on the axis.
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

    In `uninformative` of them some number is; `named` are the keys of the first ones. `not_estimable`: some number is.
    """

    heads: tuple[ColumnHead, ...]
    rows: tuple[tuple[Cell, ...], ...]
    first: int
    whole: int
    uninformative: int = 0
    named: tuple[str, ...] = ()
    not_estimable: bool = False

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
        """Whether any row that is shown is uninformative."""
        return any(cell.shown.word == UNINFORMATIVE for row in self.rows for cell in row)


def build_table(answer: Answer, start: int = 1) -> AnswerTable:
    """A page of rows, from one of them on; the scales are those of all rows."""
    first = start if start <= len(answer) else 1
    places = range(first - 1, min(first - 1 + ROWS_A_PAGE, len(answer)))
    read = [read_measured(answer, each) if isinstance(each, ValueColumn) else each for each in answer.typed_columns]
    columns = [
        [Cell(show_public(each, each.values[answer.rows[place]])) for place in places]
        if isinstance(each, KeyColumn)
        else list(draw_cells(each, places))
        for each in read
    ]
    heads = tuple(_head(told.name, each) for told, each in zip(answer.typed_columns, read, strict=True))
    measured = [each for each in read if isinstance(each, MeasuredColumn)]
    mute = [each.shown.uninformative for each in measured]
    uninformative = np.flatnonzero(np.any(mute, axis=0)) if mute else ()
    missing = any(bool((np.isnan(each.shown.values) & ~each.shown.uninformative).any()) for each in measured)
    named = _name_rows(answer, uninformative[:_NAMED])
    return AnswerTable(heads, tuple(zip(*columns, strict=True)), first, len(answer), len(uninformative), named, missing)


def _head(name: str, column: KeyColumn | MeasuredColumn) -> ColumnHead:
    if isinstance(column, MeasuredColumn):
        return ColumnHead(name, "value", True, column.scale)
    kinds = {type(value) for value in column.values} - {type(None)}
    return ColumnHead(name, "fact" if column.fact else "key", bool(kinds) and kinds <= {int, float}, text=str in kinds)


def _name_rows(answer: Answer, places: Iterable[int]) -> tuple[str, ...]:
    """Rows by their keys; of an answer without keys, nothing."""
    keys = [column for column in answer.typed_columns if isinstance(column, KeyColumn) and not column.fact]
    return (
        tuple(" · ".join(name_key(key.values[answer.rows[place]]) for key in keys) for place in places) if keys else ()
    )
