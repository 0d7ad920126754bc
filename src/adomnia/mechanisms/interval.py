"""Intervals read off a noise's own tail: exact for integers, with the coverage they really have."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, log, log1p
from typing import Literal, TypeAlias

Dependence: TypeAlias = Literal["independent", "any"]


@dataclass(frozen=True)
class Interval:
    """All the exact values lie within `half_width` of the noisy ones with probability `coverage`."""

    half_width: int
    coverage: float


def find_alpha(confidence: float, cells: int = 1, dependence: Dependence = "independent") -> float:
    """How often each of so many intervals may miss, if all are to hold at once with that confidence.

    Sidak's where they are independent, or where Sidak 1967 shows that they hold together at least as often: linear
    functions of normal noises, and of Laplace ones, which are normal given their scales. Bonferroni's otherwise.

    >>> [round(find_alpha(0.95, 10, dependence), 6) for dependence in ("independent", "any")]
    [0.005116, 0.005]
    """
    if not 0 < confidence < 1:
        raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
    if cells < 1:
        raise ValueError(f"Interval cells must be at least 1, got {cells}.")
    return (1 - confidence) / cells if dependence == "any" else -expm1(log(confidence) / cells)


def narrowest(tail: Callable[[int], float], confidence: float, cells: int) -> Interval:
    """The narrowest interval of at least that confidence, from tail(k) = P[|noise| > k].

    The noise of different cells is independent, so all of them are covered with the product of their coverages.
    """
    alpha = find_alpha(confidence, cells)
    half_width = least(lambda k: tail(k) <= alpha)
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
