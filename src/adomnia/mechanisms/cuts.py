"""Where to cut a grid so that counting between the cuts tells where quantiles are: from noisy and public numbers only.

Nothing here has to be right for an interval to hold: cuts that lie badly make it wide. docs/proofs/brackets.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import exp, log, sqrt

ROWS = Fraction(4, 100)  # of the price: the number of rows. A plan divides what is left of it
_HUNDREDTHS = 100  # parts of a price are whole numbers of these
_LEAST_PART = 0.08
_ALONE = 30.0  # scales of a choice: of so many rows, a choice at the whole price is all that there is to buy
_HARDLY_ANY = 0.9  # of the price for the value itself: the rest would count nothing
_EXACT = 2.0  # rows: a value that is off by no more is worth its part of the price, however many rows there are
_HALVINGS = 60
_SURE = 1.7  # standard deviations of a noisy rank: about the 95% point of its noise
_NEAR = 2.3  # the inner cuts of one quantile are so many times that far from it
_MISSED = 0.005  # so often at most may both ranks that are asked for lie too near
_SAFE = 8.0  # scales of a choice between a rank that is asked for and the last row, beyond which lies the emptiness
_NEAREST = Fraction(1, 5)  # of the rows beyond a quantile lie between it and the rank that is asked for, at least
_PAIR_EDGES = 9
_CENTRAL = Fraction(7, 10)  # shares nearer to an end have one cut more on each side
_RUNGS = 4  # of a ladder of distances from a value to the end of the grid
_OUTER = 3  # times the distance between both values from them to the next cuts
_ASIDE = 2.2  # standard deviations between one of several quantiles and the cuts beside it
_SCALES = 2.5  # of a choice, beside that
_FARTHEST = Fraction(3, 5)  # of the rows beyond a quantile may lie between it and a cut
_BESIDE = Fraction(2, 5)  # of the rows between two quantiles
_LEAST = 0.5  # rows between a quantile and a cut, however exact all else is: ranks are whole
_FARTHER = (3, 12)  # times the distance to the cuts beside one of several quantiles
_FITS = 0.35  # so much of the rows between quantiles may be needed for cuts beside them
_EVEN = 1.2  # standard deviations between cuts that lie evenly
_COARSE = 2**12  # values of a grid
_MOST_EVEN = 60
_FEWEST = 3
_FINE = 2**40
_CHOOSE_SEVERAL = Fraction(50, 100)


@dataclass(frozen=True)
class Sharpness:
    """How exact a choice by rank (its scale) and a count (its deviation) are at the whole price, in rows."""

    choice: float
    count: float
    power: float  # at a part p of the price, errors are p ** -power times as large

    def choice_at(self, part: Fraction | float) -> float:
        """The scale of a choice that has a part of the price."""
        return self.choice * self._times(part)

    def count_at(self, part: Fraction | float) -> float:
        """The deviation of counts that have a part of the price."""
        return self.count * self._times(part)

    def _times(self, part: Fraction | float) -> float:
        """How many times as large errors are."""
        return exp(-self.power * log(part))


@dataclass(frozen=True)
class Pair:
    """Two ranks to choose values at, around one quantile; the inner cuts lie at a part of the way to them.

    The value of the quantile itself is chosen before them where it has a part of the price.
    """

    below: Fraction
    above: Fraction
    near: Fraction
    farthest: bool  # whether more cuts lie beyond the outer ones
    own: Fraction
    choosing: tuple[Fraction, ...]  # parts of the price: for the two values
    counting: Fraction


@lru_cache(maxsize=1024)  # who reads an answer plans as who measured it
def plan_pair(share: Fraction, rows: int, sharp: Sharpness) -> Pair | None:
    """The ranks around one quantile of about so many rows; None where a choice of the value takes all of the price.

    The part for the value itself falls as fast as the number of rows rises, so that it is chosen as well of more rows
    or for a higher price, and the rest goes into its interval.
    """
    larger = max(share, 1 - share)
    own = min((_ALONE * sharp.choice / rows) ** (1 / sharp.power), 1.0)
    if own > _HARDLY_ANY:
        return None
    if own < _LEAST_PART:
        own = _LEAST_PART if float(larger) * sharp.choice_at(_LEAST_PART) <= _EXACT else 0.0
    part = Fraction(round(own * _HUNDREDTHS), _HUNDREDTHS)
    left = 1 - ROWS - part
    # The nearer to an end, the fewer rows keep a choice from the emptiness beyond it: it has to be sharper.
    wanted = float(left) * (0.45 - 0.4 * float(1 - larger))
    choosing = max(Fraction(round(wanted * _HUNDREDTHS), _HUNDREDTHS), Fraction(1, _HUNDREDTHS))
    counting = left - choosing
    scale = float(larger) * sharp.choice_at(choosing)
    moved = float(larger) ** 2 + 2 * float(share**2 + (1 - share) ** 2)
    sure = _SURE * sharp.count_at(counting) * sqrt(moved) + _LEAST / 2
    far = sure + _LEAST + scale * find_aside(2, min(_MISSED, scale / rows))
    below, above = (
        min(_exact(far), max(_NEAREST * end * rows, _exact(float(end * rows) - _SAFE * scale)))
        for end in (share, 1 - share)
    )
    near, farthest = min(_exact(_NEAR * sure / far), Fraction(1)), larger > _CENTRAL
    return Pair(below, above, near, farthest, part, (choosing,), counting)


def cut_pair(three: Sequence[int], pair: Pair, values: int) -> list[int]:
    """Rising edges inside the grid: both values, the quantile's own, inner cuts and outer ones.

    Outer cuts are needed where the values lie too near: some times their distance from them, and halfway (of its
    logarithm) from there to the end of the grid, in case that both were chosen in one gap between tied values. Near an
    end of the data one of both may lie far off in the emptiness, so that their distance tells nothing: there outer cuts
    stay within the grid.
    """
    low, value, high = three
    if low == high:
        return _clean(_around(value, values), values)
    wide = high - low
    inner = (value - int((value - low) * pair.near), value + int((high - value) * pair.near) + 1)
    below, above = (_outer(pair, wide, room, values) for room in (low, values - high - 1))
    edges = {low, *inner, value, high + 1} | {low - each for each in below} | {high + 1 + each for each in above}
    return _clean(edges | {value + 1} if pair.own else edges, values)


def _outer(pair: Pair, wide: int, room: int, values: int) -> set[int]:
    """How far beyond the values to cut, on a side where the grid has so much room."""
    if not pair.farthest:
        return {_OUTER * wide}
    least = max(wide, values >> 10, 1)
    return {min(_OUTER * wide, room // _OUTER), min(int((least * room) ** 0.5), room - room // _OUTER)}


def _clean(edges: set[int], values: int) -> list[int]:
    return sorted(edge for edge in edges if 0 < edge < values)


def _around(value: int, values: int) -> set[int]:
    """Edges at a value that was chosen for all ranks, and farther ones: it may be one of many, and round."""
    return {value, value + 1} | {
        edge
        for rung in range(1, _RUNGS)
        for aside in [max(1, round(values ** (rung / _RUNGS)))]
        for edge in (value - aside, value + 1 + aside)
    }


@dataclass(frozen=True)
class Several:
    """Shares to choose values at: three for each quantile (one below, its own, one above), or evenly spaced ones."""

    shares: tuple[Fraction, ...]
    threes: bool
    choosing: tuple[Fraction, ...]  # parts of the price: for each level of halving
    counting: Fraction


@lru_cache(maxsize=1024)
def plan_several(shares: tuple[Fraction, ...], rows: int, sharp: Sharpness) -> Several | None:
    """The shares for several quantiles of about so many rows; None where counts could not tell any apart."""
    counting = 1 - ROWS - _CHOOSE_SEVERAL
    count, levels = sharp.count_at(counting), (3 * len(shares)).bit_length()
    choice = sharp.choice_at(_CHOOSE_SEVERAL / levels)
    aside = _ASIDE * count * sqrt((4 * len(shares) + 3) / 4) + _SCALES * choice + _LEAST
    gaps = sorted(float(above - below) for below, above in pairwise(shares))
    if aside <= _FITS * gaps[len(gaps) // 2] * rows:
        return Several(_threes(shares, _exact(aside / rows)), True, _levels(3 * len(shares)), counting)
    cuts = min(3 * len(shares), _MOST_EVEN)
    while cuts >= _FEWEST and rows / (cuts + 1) < _EVEN * count * sqrt((cuts + 2) / 4):
        cuts -= 1
    if cuts < _FEWEST:
        return None
    step = (shares[-1] - shares[0]) / (cuts - 1)
    even = (shares[0] + place * step for place in range(cuts))
    found = (shares[0] * _BESIDE, *even, 1 - (1 - shares[-1]) * _BESIDE)
    return Several(found, False, _levels(len(found)), counting)


def _levels(chosen: int) -> tuple[Fraction, ...]:
    """The parts of the price for choosing so many values by halving."""
    levels = chosen.bit_length()
    return (_CHOOSE_SEVERAL / levels,) * levels


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
            if few and values <= _COARSE:  # ties are likely: the values beside it are told from it
                edges |= {value - 1, value + 2}
            if few:  # nearer ones, and farther ones in case that those miss: none past the cuts of its neighbours
                edges |= {(low + value) // 2, (value + high) // 2 + 1}
                aside = _around(value, values)
                if low < high:
                    times = _FARTHER[: 1 if values <= _COARSE else 2]
                    aside = {value - each * (value - low) for each in times}
                    aside |= {value + 1 + each * (high - value) for each in times}
                edges |= {value + 1} | {edge for edge in aside if highs[place] < edge <= lows[place]}
    return _clean(edges, values)


def most_edges(shares: int) -> int:
    """How many edges there can be."""
    return _PAIR_EDGES + 1 if shares == 1 else max(10 * shares, 2 * min(3 * shares, _MOST_EVEN) + 4)


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
def find_aside(count: int, alpha: float) -> float:
    """How far from its own a rank must be asked for, so that what is chosen passes it with that probability at most.

    Of `count` ranks the farthest one is off by less than a gamma variable k of shape count + 1, each of them evenly up
    to k to both sides where rows lie evenly: P[off by more than t] = E[max(0, 1 - t / k)] / 2.
    """
    below, above = 0.0, 1.0
    while _passed(count, above) > alpha:
        below, above = above, 2 * above
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        below, above = (middle, above) if _passed(count, middle) > alpha else (below, middle)
    return above


def _passed(count: int, t: float) -> float:
    return (_tail(count + 1, t) - t / count * _tail(count, t)) / 2


def _tail(shape: int, t: float) -> float:
    """P[K > t] for a gamma variable K."""
    return sum(accumulate(range(1, shape), lambda term, k: term * t / k, initial=exp(-t)))
