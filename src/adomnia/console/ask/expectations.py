"""How wrong an answer may be, in words: per column, and by the size of a group where it depends on that."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.pricing.bills import Expected

_USUAL_SCALE = 1.25  # of the axis, to the widest interval that is drawn


@dataclass(frozen=True)
class ErrorLine:
    """A column, how wrong it may be, and in which groups; `again`: the name stands above, and is not shown twice."""

    name: str
    error: str
    where: str
    again: bool = False

    @property
    def says(self) -> str:
        """All of it."""
        return f"{self.name} {self.error} {self.where}"


@dataclass(frozen=True)
class SizeLine:
    """A size of group, the error in it, and how far its interval reaches over the axis."""

    rows: int
    error: str
    left: float
    right: float


@dataclass(frozen=True)
class SizeTable:
    """How the error of a column shrinks as groups grow; the axis goes from -mark to mark between its two lines."""

    name: str
    lines: tuple[SizeLine, ...]
    mark: str
    first: float
    last: float


def list_errors(quoted: Sequence[Expected], small: Sequence[Expected] = ()) -> tuple[ErrorLine, ...]:
    """A line for each column; one more for the error in a small group, where it depends on the size."""
    lines = []
    for line, other in zip(quoted, small or quoted, strict=True):
        lines.append(ErrorLine(line.name, show_error(line), _where(line)))
        if other.rows is not None and other.rows != line.rows:
            lines.append(ErrorLine(line.name, show_error(other), _where(other), again=True))
    return tuple(lines)


def show_error(line: Expected) -> str:
    """Three digits of it, and what they are.

    >>> from adomnia.pricing.quotes import Expected
    >>> show_error(Expected("salary", "AVG(salary)", 5991.7, 1000))
    '± 5,990'
    """
    if line.error is None:
        return "not known before"
    return f"± {show_digits(line.error)}{' days' if line.days else ''}"


def show_digits(number: float, digits: int = 3) -> str:
    """The first digits of a number, without an exponent where that is readable."""
    rounded = float(f"{number:.{digits}g}")
    return f"{rounded:,.12g}" if abs(rounded) < 1e15 else f"{rounded:.{digits}g}"


def find_roughest(outputs: Sequence[Expected]) -> Expected | None:
    """The column that is roughest where groups are small: of those that depend on it, the largest part of its value."""
    known = [line for line in outputs if line.error is not None and isfinite(line.error) and line.error > 0]
    return max(known, key=lambda line: (line.rows is not None, line.relative or 0.0), default=None)


def tabulate_sizes(name: str, by_size: Sequence[tuple[int, Expected]]) -> SizeTable | None:
    """The table of a column's errors by the size of groups; None where no error is known."""
    known = [(rows, line) for rows, line in by_size if line.error is not None and line.error > 0]
    if len(known) < 2:
        return None
    widest = max(line.error for _, line in known if line.error is not None)
    mark = _round_mark(widest)
    reach = max(widest, mark) * _USUAL_SCALE
    lines = tuple(
        SizeLine(rows, show_error(line), 0.5 - line.error / reach / 2, 0.5 + line.error / reach / 2)
        for rows, line in known
        if line.error is not None
    )
    return SizeTable(name, lines, _shorten(mark), 0.5 - mark / reach / 2, 0.5 + mark / reach / 2)


def _where(line: Expected) -> str:
    return "in any group" if line.rows is None else f"in a group of {line.rows:,}"


def _round_mark(widest: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is not much less than this."""
    power = float(f"1e{f'{widest:e}'.split('e')[1]}")
    return min(step * power for step in (1, 2, 5, 10) if step * power >= 0.75 * widest)


def _shorten(number: float) -> str:
    """1,000 as 1k, and so on: axes have little room."""
    for size, letter in ((1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"
