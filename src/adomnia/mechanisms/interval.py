"""Intervals read off a noise law's own tail: exact for integers, with the coverage they really have."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, log, log1p


@dataclass(frozen=True)
class Interval:
    """All the exact values lie within `half_width` of the noisy ones with probability `coverage`."""

    half_width: int
    coverage: float


def narrowest(tail: Callable[[int], float], confidence: float, cells: int) -> Interval:
    """The narrowest interval of at least that confidence, from tail(k) = P[|noise| > k].

    The noise of different cells is independent, so all of them are covered with the product of their coverages.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
    if cells < 1:
        raise ValueError(f"Interval cells must be at least 1, got {cells}.")
    allowed = -expm1(log(confidence) / cells)
    half_width = least(lambda k: tail(k) <= allowed)
    missed = tail(half_width)
    return Interval(half_width, exp(cells * log1p(-missed)) if missed < 1 else 0.0)


def least(holds: Callable[[int], bool]) -> int:
    """The least k >= 0 from which a monotone property holds."""
    above = 0
    while not holds(above):
        above = 2 * above + 1
    below = above // 2 - 1
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above
