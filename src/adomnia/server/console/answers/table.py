"""An answer as a table: every estimate with its interval in the same row, as text and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from adomnia.figures.described import is_intercept
from adomnia.server.console.answers.bars import VOID, Bar, draw_bar
from adomnia.server.console.answers.digits import find_places, show_all, show_fact, show_key, show_number
from adomnia.server.console.answers.reading import ROWS_A_PAGE
from adomnia.server.console.answers.scales import Scale, choose_scale
from adomnia.server.console.answers.silence import find_silent
from adomnia.session.columns import KeyColumn, ValueColumn, read_dates
from adomnia.statistics.quantile import VALUE_ALONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from adomnia.session.answer import Answer
    from adomnia.statistics.contract import Floats

__all__ = ["AnswerTable", "Cell", "Head", "build_table"]

SAYS_NOTHING, NO_REPLY, NOT_BOUGHT = "says nothing", "no reply", "not bought"
_MISSING, _EMPTY = "NULL", "empty text"
_NAMED = 4  # rows that say nothing
_TERM, _COLUMN = (
    "term",
    "column",
)  # what methods call the labels of coefficients, and of columns with units of their own


@dataclass(frozen=True)
class Head:
    """A column: a `key`, a `fact`, or a `value` whose intervals may be drawn on a scale."""

    name: str
    kind: str
    number: bool
    scale: Scale | None = None


@dataclass(frozen=True)
class Cell:
    """What stands in a row: a text, with all digits beside it; of a value its interval, or a word in its place."""

    text: str
    exact: str = ""
    interval: str = ""
    word: str = ""
    bar: Bar | None = None


@dataclass(frozen=True)
class AnswerTable:
    """Some rows of an answer, of how many.

    In `silences` of them something says nothing; `silent` are the keys of the first ones.
    """

    heads: tuple[Head, ...]
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
        """Whether any row is hatched."""
        return any(cell.word == SAYS_NOTHING for row in self.rows for cell in row)


@dataclass(frozen=True)
class _Values:
    """The numbers of a measured column in the rows of the answer, as they are shown, and as they were released."""

    values: Floats
    lower: Floats
    upper: Floats
    released: Floats
    silent: NDArray[np.bool_]
    scale: Scale | None = None
    whole: bool = False
    dates: bool = False
    alone: bool = False
    coefficients: bool = False


def build_table(answer: Answer, start: int = 1) -> AnswerTable:
    """A page of rows, from one of them on; the scales are those of all rows."""
    first = start if start <= len(answer) else 1
    places = range(first - 1, min(first - 1 + ROWS_A_PAGE, len(answer)))
    heads: list[Head] = []
    columns: list[list[Cell]] = []
    read = [_read_values(answer, each) if isinstance(each, ValueColumn) else each for each in answer.columns]
    for named, column in zip(answer.columns, read, strict=True):
        if isinstance(column, KeyColumn):
            shown = [column.values[answer.rows[place]] for place in places]
            heads.append(Head(column.name, "fact" if column.fact else "key", _are_numbers(column)))
            columns.append([_show_public(column, value) for value in shown])
        else:
            heads.append(Head(named.name, "value", True, column.scale))
            columns.append([_show_value(column, place) for place in places])
    rows = tuple(zip(*columns, strict=True))
    measured = [column for column in read if isinstance(column, _Values)]
    silent = np.flatnonzero(np.any([each.silent for each in measured], axis=0)) if measured else ()
    unanswered = any(bool(np.isnan(each.released).any()) for each in measured)
    named = _name_rows(answer, silent[:_NAMED])
    return AnswerTable(tuple(heads), rows, first, len(answer), len(silent), named, unanswered)


def _read_values(answer: Answer, column: ValueColumn) -> _Values:
    estimate, rows = column.estimate, answer.rows
    released = np.asarray(estimate.values, dtype=np.float64).ravel()[rows]
    facts = {"whole": estimate.whole, "dates": estimate.dates}
    if estimate.method == VALUE_ALONE:
        return _Values(released, released, released, released, np.zeros(len(rows), dtype=bool), alone=True, **facts)
    lower, upper = (np.asarray(end, dtype=np.float64).ravel()[rows] for end in estimate.interval(answer.confidence, 1))
    silent, from_zero = find_silent(answer, column), (estimate.possible or (-inf, inf))[0] == 0
    # Ends of counts that are shown stop at 0; one that is all below it shows that the noise was unusually large.
    stopped = from_zero & (upper >= 0)
    shown, low = (np.where(stopped, np.maximum(each, 0.0), each) for each in (released, lower))
    drawn = ~silent & ~np.isnan(released) & ~_find_intercepts(answer)
    scale = None
    if _share_a_unit(answer):
        scale = choose_scale(low[drawn], upper[drawn], from_zero=from_zero, dates=estimate.dates)
    coefficients = _are_coefficients(answer, column)
    return _Values(shown, low, upper, released, silent, scale, coefficients=coefficients, **facts)


def _show_value(column: _Values, place: int) -> Cell:
    value, lower, upper = (float(each[place]) for each in (column.values, column.lower, column.upper))
    released = float(column.released[place])
    bar = None if column.scale is None else VOID
    if isnan(released):
        return Cell("", word=NO_REPLY, bar=bar)
    if column.silent[place]:
        return Cell("", _say_exact(column, released, lower, upper), word=SAYS_NOTHING, bar=bar)
    if column.alone:
        return Cell(_show_alone(column, value), show_all(released), word="", interval=NOT_BOUGHT)
    if column.scale is not None:
        bar = draw_bar(column.scale, value, lower, upper, coefficient=column.coefficients)
    exact = _say_exact(column, released, lower, upper)
    if column.dates:
        return Cell(_day(value), exact, _between(_day(lower), _day(upper)), bar=bar)
    places = find_places(lower, upper, column.whole)
    low = show_number(lower, places, -1) if isfinite(lower) else ""
    high = show_number(upper, places, 1) if isfinite(upper) else ""
    return Cell(show_number(value, places), exact, _between(low, high), bar=bar)


def _between(low: str, high: str) -> str:
    if low and high:
        return f"{low} to {high}"
    return f"from {low} on" if low else f"up to {high}"


def _say_exact(column: _Values, released: float, lower: float, upper: float) -> str:
    """All digits, as they were released."""
    if column.dates:
        return f"{_day(released)}, {_day(lower)} to {_day(upper)}"
    ends = " to ".join(show_all(end) if isfinite(end) else "no end" for end in (lower, upper))
    return f"{show_all(released)}, {ends}"


def _show_alone(column: _Values, value: float) -> str:
    return _day(value) if column.dates else f"{value:,.7g}"


def _day(days: float) -> str:
    (found,) = read_dates(np.array([days]))
    return "" if found is None else found.isoformat()


def _show_public(column: KeyColumn, value: object) -> Cell:
    if value is None:
        return Cell("", word=NO_REPLY if column.fact else _MISSING)
    if value == "":
        return Cell("", word=_EMPTY)
    if column.fact:
        return Cell(show_fact(column.name, value), show_all(value) if isinstance(value, float) else "")
    return Cell(show_key(value))


def _are_numbers(column: KeyColumn) -> bool:
    kinds = {type(value) for value in column.values} - {type(None)}
    return bool(kinds) and kinds <= {int, float}


def _are_coefficients(answer: Answer, column: ValueColumn) -> bool:
    return (
        answer.figure.get("kind") == "points"
        and answer.figure.get("x") == _TERM
        and answer.figure.get("y") == column.name
    )


def _share_a_unit(answer: Answer) -> bool:
    """Whether the rows of a column can stand on one axis: not where each row is about a column of its own."""
    own = "own" if answer.figure.get("x") == _COLUMN else "shared"
    return bool(answer.figure.get("scales", own) == "shared")


def _find_intercepts(answer: Answer) -> NDArray[np.bool_]:
    """The rows of constants of models, which have another scale than the others; none, if there is nothing else."""
    terms = next((column for column in answer.columns if column.name == answer.figure.get("x")), None)
    if not isinstance(terms, KeyColumn):
        return np.zeros(len(answer), dtype=bool)
    found = np.array([is_intercept(terms.values[row]) for row in answer.rows], dtype=bool)
    return found if not found.all() else ~found


def _name_rows(answer: Answer, places: Iterable[int]) -> tuple[str, ...]:
    """Rows by their keys; of an answer without keys, nothing."""
    keys = [column for column in answer.columns if isinstance(column, KeyColumn) and not column.fact]
    return tuple(" · ".join(_name(key.values[answer.rows[place]]) for key in keys) for place in places) if keys else ()


def _name(value: object) -> str:
    return _MISSING if value is None else show_key(value) or _EMPTY
