"""Where axes begin and end. They are computed here, so that an interval without an end can be drawn to the edge."""

from __future__ import annotations

from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_STEPS = (1, 2, 2.5, 5, 10)
_TICKS = 8
_SMALLEST = 1e-290  # distances below it have no digits left


def span(numbers: Iterable[float | None], *, include: Iterable[float] = ()) -> tuple[float, float]:
    """Round numbers around all that are there.

    >>> span([3, 47, None], include=(0,))
    (0.0, 50.0)
    """
    known = [number for number in numbers if number is not None and isfinite(number)] + list(include)
    if not known:
        return 0.0, 1.0
    lower, upper = min(known), max(known)
    if upper - lower <= max(1e-9 * max(abs(lower), abs(upper)), _SMALLEST):  # also of one number: nothing to part
        room = _room_around(upper)
        lower, upper = lower - room, upper + room
    step = _round_step((upper - lower) / _TICKS)
    return floor(lower / step) * step, ceil(upper / step) * step


def span_exactly(numbers: Iterable[float | None]) -> tuple[float, float]:
    """From the first to the last; with room at both ends if that is one place."""
    known = [number for number in numbers if number is not None]
    if not known:
        return 0.0, 1.0
    lower, upper = min(known), max(known)
    room = _room_around(upper)
    return (lower, upper) if upper - lower > _SMALLEST else (lower - room, upper + room)


def span_loosely(numbers: Iterable[float | None]) -> tuple[float, float]:
    """From the first to the last, with some room at both ends."""
    lower, upper = span_exactly(numbers)
    room = (upper - lower) / 40
    return lower - room, upper + room


def _room_around(number: float) -> float:
    return abs(number) * 0.1 if abs(number) > _SMALLEST else 1.0


def _round_step(step: float) -> float:
    power = 10.0 ** floor(log10(step))
    return next(factor * power for factor in _STEPS if factor * power >= step * (1 - 1e-9))
