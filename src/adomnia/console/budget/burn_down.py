"""The picture of how a budget was used up: a line with a step for each debit, and marks on both axes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import floor, log10
from typing import TYPE_CHECKING

from adomnia.console.budget.gauges import EPSILON
from adomnia.privacy.amounts import EPSILON_UNIT, show_down

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.console.budget.debits import CountedDebit
    from adomnia.console.budget.gauges import Currency
    from adomnia.privacy.filters import Filter

_SIDE = 1000  # units of the picture, both ways; the page stretches it
_FINEST = 2  # units between two steps; nobody sees finer ones
_MARKS = 5  # on each axis, about


@dataclass(frozen=True)
class AxisMark:
    """A place on an axis, from 0 to 1, and what stands there."""

    place: float
    label: str


@dataclass(frozen=True)
class BurnDown:
    """The line and the area below it, as paths of SVG, and the marks of both axes.

    `end` is where the line ends, from 0 to 1 from the top, and `left` what that stands for.
    """

    line: str
    area: str
    end: float
    left: str
    amounts: tuple[AxisMark, ...]
    times: tuple[AxisMark, ...]


def draw_burn_down(debits: Sequence[CountedDebit], account: Filter, currency: Currency, now: datetime) -> BurnDown:
    """The picture of debits, newest first, of which there is at least one."""
    amount = account.budget.epsilon if currency is EPSILON else account.budget.rho
    whole = float(amount / EPSILON_UNIT)
    moments = [_read_time(each.debit.at) for each in reversed(debits)]
    start, end = _frame(moments[0], max(now, moments[-1]))
    levels = [_height(each.total, whole) for each in reversed(debits)]
    steps = _thin([(_SIDE * (moment - start) / (end - start)) for moment in moments], levels)
    line = f"M0 {_height(debits[-1].before, whole):.1f}" + "".join(
        f"H{place:.1f}V{level:.1f}" for place, level in steps
    )
    line += f"H{_SIDE}"
    marks = _mark_amounts(float(amount)), _mark_times(start, end)
    return BurnDown(line, f"{line}V{_SIDE}H0Z", levels[-1] / _SIDE, _show_left(account, currency), *marks)


def _thin(places: list[float], levels: list[float]) -> list[tuple[float, float]]:
    """The steps, of which those that would stand in one place are one."""
    steps: dict[int, tuple[float, float]] = {}
    for place, level in zip(places, levels, strict=True):
        first = steps.get(int(place / _FINEST), (place, level))
        steps[int(place / _FINEST)] = (first[0], level)
    return list(steps.values())


def _frame(first: datetime, last: datetime) -> tuple[datetime, datetime]:
    """Some time before the first debit, so that the whole budget is seen."""
    return first - max((last - first) / 20, timedelta(minutes=1)), last


def _height(spent: float, whole: float) -> float:
    """How far below the top what is left stands."""
    return _SIDE * min(max(spent / whole, 0.0), 1.0)


def _show_left(account: Filter, currency: Currency) -> str:
    left = account.left()
    return show_down(left.epsilon if currency is EPSILON else left.rho)


def _mark_amounts(whole: float) -> tuple[AxisMark, ...]:
    """Round amounts from 0 to the whole."""
    power = 10.0 ** floor(log10(whole / _MARKS))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor * _MARKS >= whole * (1 - 1e-9))
    return tuple(AxisMark(1 - k * step / whole, f"{k * step:.6g}") for k in range(int(whole / step * (1 + 1e-9)) + 1))


def _mark_times(start: datetime, end: datetime) -> tuple[AxisMark, ...]:
    span = end - start
    form = "%-d %b" if span > timedelta(days=_MARKS) else "%-d %b, %H:%M" if span > timedelta(days=1) else "%H:%M"
    places = [k / (_MARKS - 1) for k in range(_MARKS)]
    return tuple(AxisMark(place, f"{start + place * span:{form}}") for place in places)


def _read_time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
