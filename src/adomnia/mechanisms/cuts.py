"""Where to cut a grid so that counting between the cuts tells where quantiles are: from noisy and public numbers only.

Nothing here has to be right for an interval to hold: cuts that lie badly make it wide. docs/proofs/brackets.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import exp, log, sqrt

_HALVINGS = 60
_SURE = 1.7  # standard deviations of a noisy rank: about the 95% point of its noise
_NEAR = 2.3  # the inner cuts of one quantile are so many times that far from it
_MISSED = 0.005  # so often at most may both ranks that are asked for lie too near
_ASIDE = 2.2  # standard deviations between one of several quantiles and the cuts beside it
_FARTHEST = Fraction(3, 5)  # of the rows beyond a quantile may lie between it and a cut
_BESIDE = Fraction(2, 5)  # of the rows between two quantiles
_LEAST = 2  # rows between a quantile and a cut, however exact all else is: ranks are whole
_FARTHER = 3  # times the distance to the cuts beside one of several quantiles
_FITS = 0.35  # so much of the rows between quantiles may be needed for cuts beside them
_EVEN = 1.2  # standard deviations between cuts that lie evenly
_MOST_EVEN = 60
_FEWEST = 3
_FINE = 2**40


@dataclass(frozen=True)
class Sharpness:
    """How exact the stages of one release are, in rows: a choice by rank (its scale), and a count (its deviation)."""

    values: int
    choice: float
    count: float


@dataclass(frozen=True)
class Pair:
    """Two ranks to choose values at, around one quantile; the inner cuts lie at a part of the way to them."""

    below: Fraction
    above: Fraction
    near: Fraction


def plan_pair(share: Fraction, rows: int, sharp: Sharpness) -> Pair | None:
    """The ranks around one quantile of about so many rows; None where a choice could not tell them from the ends."""
    beyond = min(share, 1 - share)
    scale = float(max(share, 1 - share)) * sharp.choice
    if rows * beyond < scale * (1.2 * log(sharp.values) + 4):
        return None
    moved = float(max(share, 1 - share)) ** 2 + 2 * float(share**2 + (1 - share) ** 2)
    sure = _SURE * sharp.count * sqrt(moved) + _LEAST / 2
    far = sure + _LEAST + scale * find_aside(2, min(_MISSED, scale / rows))
    below, above = min(_exact(far), _FARTHEST * share * rows), min(_exact(far), _FARTHEST * (1 - share) * rows)
    return Pair(below, above, min(_exact(_NEAR * sure / far), Fraction(1)))


def cut_pair(low: int, high: int, near: Fraction) -> list[int]:
    """Five edges that never fall, rows below each of which are told apart: the values, inner cuts and the middle."""
    middle, inner = (low + high + 1) // 2, int((high - low) * near / 2)
    return [low, max(low, middle - inner), middle, min(middle + inner, high) + 1, high + 1]


@dataclass(frozen=True)
class Several:
    """Shares to choose values at: three for each quantile (one below, its own, one above), or evenly spaced ones."""

    shares: tuple[Fraction, ...]
    threes: bool


def plan_several(shares: Sequence[Fraction], rows: int, sharp: Sharpness) -> Several | None:
    """The shares for several quantiles of about so many rows; None where counts could not tell any apart."""
    levels = (3 * len(shares)).bit_length()
    aside = _ASIDE * sharp.count * sqrt((4 * len(shares) + 3) / 4) + levels * sharp.choice + _LEAST
    gaps = sorted(float(above - below) for below, above in pairwise(shares))
    if aside <= _FITS * gaps[len(gaps) // 2] * rows:
        return Several(_threes(shares, _exact(aside / rows)), threes=True)
    cuts = min(3 * len(shares), _MOST_EVEN)
    while cuts >= _FEWEST and rows / (cuts + 1) < _EVEN * sharp.count * sqrt((cuts + 2) / 4):
        cuts -= 1
    if cuts < _FEWEST:
        return None
    step = (shares[-1] - shares[0]) / (cuts - 1)
    even = (shares[0] + place * step for place in range(cuts))
    return Several((shares[0] * _BESIDE, *even, 1 - (1 - shares[-1]) * _BESIDE), threes=False)


def cut_several(chosen: Sequence[int], values: int, *, threes: bool) -> list[int]:
    """Increasing edges inside the grid. A value that was chosen twice holds many rows: it is counted by itself."""
    repeated = {low for low, high in pairwise(chosen) if low == high}
    edges = set(chosen) | {value + 1 for value in repeated}
    if threes:
        edges = {value + 1 for value in repeated}
        few = len(chosen) <= 3 * _MOST_EVEN // _FEWEST
        lows, highs = [*chosen[3::3], values], [-1, *chosen[2:-1:3]]
        for place, (low, value, high) in enumerate(zip(chosen[::3], chosen[1::3], chosen[2::3], strict=True)):
            edges |= {low, value, high + 1}
            if few:  # farther ones, in case that those are too near; none past the cuts of its neighbours
                under, over = value - _FARTHER * (value - low), value + _FARTHER * (high - value)
                edges |= {value + 1} | {edge for edge in (under, over + 1) if highs[place] < edge <= lows[place]}
    return sorted(edge for edge in edges if 0 < edge < values)


def most_edges(shares: int) -> int:
    """How many edges there can be."""
    return 5 if shares == 1 else max(6 * shares, 2 * min(3 * shares, _MOST_EVEN) + 4)


def _threes(shares: Sequence[Fraction], aside: Fraction) -> tuple[Fraction, ...]:
    found: list[Fraction] = []
    ends = [Fraction(0), *shares, Fraction(1)]
    for place, share in enumerate(shares):
        below, above = share - ends[place], ends[place + 2] - share
        outer = place == 0, place == len(shares) - 1
        less, more = (
            min(2 * aside, gap * _FARTHEST) if last else min(aside, gap * _BESIDE)
            for last, gap in zip(outer, (below, above), strict=True)
        )
        found += [share - less, share, share + more]
    return tuple(found)


def _exact(number: float) -> Fraction:
    """A public number, short enough for exact arithmetic."""
    return Fraction(round(number * _FINE), _FINE)


@lru_cache(maxsize=256)
def find_aside(count: int, left_open: float) -> float:
    """How far from its own a rank must be asked for, so that what is chosen passes it with that probability at most.

    Of `count` ranks the farthest one is off by less than a gamma variable k of shape count + 1, each of them evenly up
    to k to both sides where rows lie evenly: P[off by more than t] = E[max(0, 1 - t / k)] / 2.
    """
    below, above = 0.0, 1.0
    while _passed(count, above) > left_open:
        below, above = above, 2 * above
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        below, above = (middle, above) if _passed(count, middle) > left_open else (below, middle)
    return above


def _passed(count: int, t: float) -> float:
    return (_tail(count + 1, t) - t / count * _tail(count, t)) / 2


def _tail(shape: int, t: float) -> float:
    """P[K > t] for a gamma variable K."""
    return sum(accumulate(range(1, shape), lambda term, k: term * t / k, initial=exp(-t)))
