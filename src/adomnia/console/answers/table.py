"""An answer as a table: every estimate with its interval in the same row, as text and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adomnia.console.answers.cells import SAYS_NOTHING, Cell, name_key, show_measured, show_public
from adomnia.console.answers.measured import MeasuredColumn, read_measured
from adomnia.console.answers.reading import ROWS_A_PAGE
from adomnia.plans.columns import KeyColumn, ValueColumn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.console.answers.scales import IntervalScale
    from adomnia.session.answer import Answer

_NAMED = 4  # rows that say nothing


@dataclass(frozen=True)
class ColumnHead:
    """A column: a `key`, a `fact`, or a `value` whose intervals may be drawn on a scale; `text` is what may wrap."""

    name: str
    kind: str
    number: bool
    scale: IntervalScale | None = None
    text: bool = False


@dataclass(frozen=True)
class AnswerTable:
    """Some rows of an answer, of how many.

    In `silences` of them something says nothing; `silent` are the keys of the first ones. `unanswered`: somewhere there
    is no reply.
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
