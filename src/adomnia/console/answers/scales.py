"""The axis that all intervals of a column share: it covers nine tenths of them, and the others go beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING

import numpy as np

from adomnia.figures.rows import round_step
from adomnia.session.digits import show_short

if TYPE_CHECKING:
    from adomnia.statistics.contract import Floats

_COVERED = 0.9
_LARGEST = 2.0  # times what nine tenths need: up to there, the axis is as long as all of them need
_PARTS = 4.0  # of an axis, about
_ROOM = 0.03  # at ends that are not zero


@dataclass(frozen=True)
class Tick:
    """A place on the axis, as a share of it, and what stands there."""

    share: float
    label: str
    zero: bool = False
    anchor: str = "middle"


@dataclass(frozen=True)
class IntervalScale:
    """From one number to another."""

    lower: float
    upper: float
    ticks: tuple[Tick, ...]

    def share(self, number: float) -> float:
        """Where a number is, from 0 to 1; what is beyond an end is there."""
        return min(max((number - self.lower) / (self.upper - self.lower), 0.0), 1.0)


def choose_scale(lower: Floats, upper: Floats, *, from_zero: bool, dates: bool = False) -> IntervalScale | None:
    """The axis of intervals; None where there is none with two ends, or no room between any."""
    known = np.isfinite(lower) & np.isfinite(upper)
    if not known.any():
        return None
    lows, highs = np.sort(lower[known])[::-1], np.sort(upper[known])
    starts_at_zero = from_zero and not dates and lows[-1] >= 0
    covered = _COVERED if starts_at_zero else (1 + _COVERED) / 2  # of each end, so that both hold for nine tenths
    last = ceil(covered * len(lows)) - 1
    low, high = (0.0 if starts_at_zero else float(lows[last])), float(highs[last])
    whole = (0.0 if starts_at_zero else float(lows[-1])), float(highs[-1])
    if whole[1] - whole[0] <= _LARGEST * (high - low):
        low, high = whole
    if not dates and 0 < low <= high / 2:
        low = 0.0
    if not isfinite(high - low) or high - low <= 1e-12 * max(abs(low), abs(high), 1e-280):
        low, high = low - (abs(low) / 10 or 1.0) * (not starts_at_zero), high + (abs(high) / 10 or 1.0)
    if not isfinite(high - low):
        return None
    room = _ROOM * (high - low)
    low, high = low - room * (low != 0), high + room
    return IntervalScale(low, high, _date_ticks(low, high) if dates else _ticks(low, high))


def _ticks(low: float, high: float) -> tuple[Tick, ...]:
    step = round_step((high - low) / _PARTS)
    places = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    return tuple(Tick((place * step - low) / (high - low), show_short(place * step), place == 0) for place in places)


def _date_ticks(low: float, high: float) -> tuple[Tick, ...]:
    """The first and the last day."""
    first, last = ceil(low), floor(high)
    return tuple(
        Tick((day - low) / (high - low), (date.min + timedelta(days=day)).isoformat(), anchor=anchor)
        for day, anchor in {last: "end", first: "start"}.items()
        if low <= day <= high
    )
