"""Intervals for the ratio of two noisy integers, by Fieller's argument and the exact distribution of the noise.

S and N are exact, s = S + X and n = N + Y are seen. If S / N = r then s - r n = X - r Y, whatever S and N are, so the
ratios r with |s - r n| <= q(r), where P[|X - r Y| >= q(r)] is at most alpha, hold the true
one with that confidence, for every count. N = 0 makes S = 0 and every r true, and each of them is then covered.

A box holds all ratios that fit in a cell. q rises with |r| (docs/proofs/ratios.md), so its value at one end of the box
tells how far the ratios that fit can go towards that end; the box shrinks to about their hull, which is the answer.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, expm1, log, log1p
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adomnia.distributions.combinations import farthest
from adomnia.mechanisms.contract import Bounds, Floats, Noise, find_alpha
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import Integers

_ROUNDS = 4  # of the search for each end, from outside
_HALVINGS = 36
_SLACK = 1 + 1e-9  # for rounding in the tails
_SMOOTH = 1e-8  # how far the distribution of a difference may be from a Gaussian's, where it is taken for one
_FINENESS = 0.01  # how far apart two ratios of a table are, as a part of themselves
_NEAR = 0.01  # below this part of the ratio of both reaches, the divisor's noise hardly matters
_DOUBLINGS = 8  # the far end of a table is one of the powers of so many doublings: few tables, often used again


class NoisyIntegers(Protocol):
    """What was measured of integers, and by which noise."""

    @property
    def values(self) -> Integers: ...
    @property
    def noise(self) -> Noise: ...


def ratio_bounds(
    numerator: NoisyIntegers, denominator: NoisyIntegers, reach: tuple[int, int], confidence: float, cells: int
) -> Bounds:
    """Bounds of the ratio in each cell, within `reach` (which holds zero); lower > upper where no ratio fits."""
    seen = _Turned(numerator, denominator, find_alpha(confidence, cells))
    first, last = (np.where(seen.negative, -float(turned), float(end)) for turned, end in (reach[::-1], reach))
    start = np.where(seen.bounded, np.maximum(seen.start, first), first)
    end = np.where(seen.bounded, np.minimum(seen.end, last), last)
    return seen.hull(start, end)


def quotient_bounds(numerator: NoisyIntegers, denominator: NoisyIntegers, confidence: float, cells: int) -> Bounds:
    """Bounds of a ratio of which nothing is known before; infinite where the divisor may be zero."""
    seen = _Turned(numerator, denominator, find_alpha(confidence, cells))
    lower, upper = seen.hull(seen.start, seen.end)
    return np.where(seen.bounded, lower, -np.inf), np.where(seen.bounded, upper, np.inf)


def measure_width(
    numerator: NoisyIntegers, denominator: NoisyIntegers, ratios: Floats, confidence: float, cells: int
) -> Floats:
    """About how wide the interval around each ratio is, as if the denominator were what was seen of it."""
    above, below = _reaches(numerator.noise, denominator.noise, find_alpha(confidence, cells))  # type: ignore[arg-type]
    return 2 * (above + np.abs(ratios) * below) / np.maximum(np.asarray(denominator.values, dtype=np.float64), 1.0)


def hold_within(lower: Floats, upper: Floats, values: Floats, limits: tuple[float, float], width: Floats) -> Bounds:
    """Ends that hold the values too, cut at the limits, with a tenth of the usual width on this side of both.

    An interval lies beyond the limits less often than it may be wrong, so whatever is shown then is right. The limit
    alone would look as if the exact value were known. The tenth grows with the confidence, as the ends do; it is at
    most a fiftieth of what is possible, or few rows would tell less than they do.

    >>> [float(end) for end in hold_within(np.array(-9.0), np.array(-5.0), np.array(0.0), (0.0, 100.0), np.array(4.0))]
    [0.0, 0.4]
    """
    least, most = limits
    room = np.minimum(width / 10, (most - least) / 50)
    low, high = np.minimum(lower, most - room), np.maximum(upper, least + room)
    return np.maximum(np.minimum(low, values), least), np.minimum(np.maximum(high, values), most)


def share_bounds(part: NoisyIntegers, rest: NoisyIntegers, confidence: float, cells: int) -> Bounds:
    """Bounds of part / (part + rest) in each cell, between 0 and 1, with a tenth of their width on this side.

    Up to one half it is r / (1 + r) with r = part / rest between 0 and 1, and from there on 1 / (1 + r) with r =
    rest / part: docs/proofs/ratios.md, claim 11.
    """
    if part.noise is rest.noise:  # of one vector: both ratios have the same noise, and are solved as one array
        above, below = _stack(part, rest), _stack(rest, part)
        bounds, fits = _ratio_within(above, below, confidence, cells)
        (small, large), (small_fits, large_fits) = zip(*bounds, strict=True), fits
    else:
        small, small_fits = _ratio_within(part, rest, confidence, cells)
        large, large_fits = _ratio_within(rest, part, confidence, cells)
    lower = np.where(small_fits, small[0] / (1 + small[0]), np.where(large_fits, 1 / (1 + large[1]), np.inf))
    upper = np.where(large_fits, 1 / (1 + large[0]), np.where(small_fits, small[1] / (1 + small[1]), -np.inf))
    less = np.asarray(part.values < rest.values)
    width = np.where(
        less, *(measure_width(*pair, np.zeros(()), confidence, cells) for pair in ((part, rest), (rest, part)))
    )
    nearest = np.where(lower <= upper, lower, np.where(less, 0.0, 1.0))
    return hold_within(lower, upper, nearest, (0.0, 1.0), width)


def _stack(first: NoisyIntegers, second: NoisyIntegers) -> NoisyIntegers:
    return _Stacked(np.stack([first.values, second.values]), first.noise)  # type: ignore[arg-type]  # of one type


def _ratio_within(
    above: NoisyIntegers, below: NoisyIntegers, confidence: float, cells: int
) -> tuple[Bounds, NDArray[np.bool_]]:
    """The ratios between 0 and 1 that fit, and whether there are any."""
    lower, upper = ratio_bounds(above, below, (0, 1), confidence, cells)
    return (np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)), lower <= upper


@dataclass(frozen=True)
class _Stacked:
    """Two arrays of noisy integers that hold one kind of noise, as one."""

    values: Integers
    noise: Noise


class _Turned:
    """What was seen, both turned to be positive; where the divisor is clear of zero, a box of all ratios that fit."""

    def __init__(self, numerator: NoisyIntegers, denominator: NoisyIntegers, alpha: float) -> None:
        self._noises, self._alpha = (numerator.noise, denominator.noise), alpha
        s, n = (np.asarray(measured.values, dtype=np.float64) for measured in (numerator, denominator))
        self.negative, self.top, self.bottom = (s < 0) != (n < 0), np.abs(s), np.abs(n)
        x_reach, y_reach = _reaches(*self._noises, alpha)  # type: ignore[arg-type]
        self.bounded = self.bottom > y_reach
        narrow, wide = (np.where(self.bounded, self.bottom + reach, 1.0) for reach in (-y_reach, y_reach))
        rest = self.top - x_reach - 1
        self.start = np.where(self.bounded, rest / np.where(rest > 0, wide, narrow), 0.0)
        self.end = np.where(self.bounded, (self.top + x_reach + 1) / narrow, 0.0)

    def hull(self, start: Floats, end: Floats) -> Bounds:
        """The least and the greatest ratio that fit of those between start and end: ever nearer to them, from outside.

        A ratio that fits, up to `high`, is at most what the limit of `high` makes it, as limits rise. One that fits is
        also at least what the limit of any larger one makes it; `above` is such a one, and comes down to the least.
        """
        low, high, divisor = start, end, np.where(self.bottom > 0, self.bottom, 1.0)
        limits = _Table(*self._noises, self._alpha, float(np.max(np.maximum(-start, end), initial=1.0)))
        for _ in range(_ROUNDS):
            high = np.minimum(high, (self.top + limits.up_to(np.maximum(high, 0.0))) / divisor)
        above = high
        for _ in range(_ROUNDS):
            least = (self.top - limits.up_to(np.where(low < 0, -low, np.maximum(above, 0.0)))) / divisor
            low = np.maximum(low, np.where(low < 0, np.minimum(least, 0.0), least))
            above = np.minimum(above, (self.top - limits.up_to(np.maximum(low, 0.0))) / divisor)
        # Nothing divided by: every ratio fits, or none.
        every, empty = self.bottom == 0, self.top > limits.up_to(np.maximum(-start, end))
        low = np.where(every, np.where(empty, np.inf, start), low)
        high = np.where(every, np.where(empty, -np.inf, end), high)
        return np.where(self.negative, -high, low) + 0.0, np.where(self.negative, -low, high) + 0.0


@lru_cache(maxsize=256)
def critical_value(x: Noise, y: Noise, ratio: float, alpha: float) -> float:
    """A number q with P[|X + r Y| >= q] <= alpha at one ratio."""
    ratios = np.array([abs(ratio)], dtype=np.float64)
    return float(_limits(x, y, ratios, ratios, alpha)[0])


class _Table:
    """Critical values at ratios that are close enough together for all that lie between."""

    def __init__(self, x: Noise, y: Noise, alpha: float, farthest: float) -> None:
        x_reach, y_reach = _reaches(x, y, alpha)  # type: ignore[arg-type]
        nearest = _NEAR * (x_reach + 1) / (y_reach + 1)
        doublings = _DOUBLINGS * ceil(max(1.0, np.log2(farthest / nearest)) / _DOUBLINGS)
        self._ratios, self._limits = _tabulated(x, y, alpha, nearest, doublings)  # type: ignore[arg-type]

    def up_to(self, ratio: Floats) -> Floats:
        """A critical value that serves every ratio up to this one."""
        place = self._ratios.searchsorted(ratio * (1 - 1e-12))
        return self._limits[np.minimum(place, len(self._limits) - 1)]


@lru_cache(maxsize=64)
def _tabulated(x: Noise, y: Noise, alpha: float, nearest: float, doublings: int) -> tuple[Floats, Floats]:
    steps = ceil(doublings * log(2) / log1p(_FINENESS)) + 1
    ratios = nearest * np.exp(np.arange(steps + 1) * log1p(_FINENESS))
    limits = _limits(x, y, np.concatenate(([0.0], ratios[:-1])), ratios, alpha)
    return ratios, np.maximum.accumulate(limits)  # so that each serves all ratios below its own


def _limits(x: Noise, y: Noise, nearest: Floats, ratios: Floats, alpha: float) -> Floats:
    """Critical values for all ratios between `nearest` and `ratios`, whichever way gives the smallest."""
    boxed = _boxed(x, y, ratios, alpha)
    match x, y:
        case DiscreteLaplace(), DiscreteLaplace():
            return np.minimum(boxed, _solved(float(x.scale), float(y.scale), ratios, alpha))
        case DiscreteGaussian(), DiscreteGaussian():
            quantile = -NormalDist().inv_cdf((alpha - _SMOOTH) / 2) if alpha > 2 * _SMOOTH else np.inf
            v, w = float(x.variance), float(y.variance)
            spread = quantile * np.sqrt(v + ratios**2 * w)
            # |X - r Y| = r |Y - X / r|: either may be the one that is smooth enough; near 0 only X can be.
            turned = (w >= 4) & (1 / v + 1 / (np.maximum(nearest, 1e-150) ** 2 * w) <= 1)
            smooth = (v >= 4) & (1 / w + ratios**2 / v <= 1)
            by_x, by_y = np.where(smooth, 0.5 + spread, np.inf), np.where(turned, 0.5 * ratios + spread, np.inf)
            return np.minimum(boxed, np.minimum(by_x, by_y))
    return np.asarray(np.minimum(boxed, np.floor(farthest((x, y), (np.ones_like(ratios), ratios), alpha)) + 1))


def _boxed(x: Noise, y: Noise, ratios: Floats, alpha: float) -> Floats:
    """For any noise: both stay within their own intervals at once."""
    x_reach, y_reach = _reaches(x, y, alpha)  # type: ignore[arg-type]
    return np.floor(x_reach + ratios * y_reach) + 1


@lru_cache(maxsize=256)
def _reaches(x: Noise, y: Noise, alpha: float) -> tuple[int, int]:
    """How far both go at once."""
    # Two cells of one noise are covered at once with the product of their coverages; so are one of each.
    return x.interval(1 - alpha, cells=2).half_width, y.interval(1 - alpha, cells=2).half_width


def _solved(x_scale: float, y_scale: float, ratios: Floats, alpha: float) -> Floats:
    """The least q at each ratio, by bisection: the tail falls as q rises."""
    below = np.full(ratios.shape, 0.5)
    above = 0.5 + (x_scale + ratios * y_scale) * (2 - log(alpha))  # far enough: docs/proofs/ratios.md
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        too_low = _tail(x_scale, y_scale, ratios, middle) > alpha
        below, above = np.where(too_low, middle, below), np.where(too_low, above, middle)
    return above


def _tail(x_scale: float, y_scale: float, ratios: Floats, q: Floats) -> Floats:
    """P[|X - r Y| >= q] for discrete Laplace X and Y and q >= 1/2, from above.

    Summed over Y = y exactly. P[X >= u] is at most a^u / (1 + a) for u >= 0 and 1 - a^(1 - u) / (1 + a) below, with
    equality at integers u >= 0; so the sum falls into geometric series, cut where u = q + r y changes its sign.
    """
    # A tail at a larger ratio is no smaller, and nothing divides by zero.
    r = np.maximum(ratios, 1e-9 * x_scale / y_scale)
    log_a, log_p = -1 / x_scale, -1 / y_scale
    share = 1 / (1 + np.exp(log_a))
    none = -expm1(log_p) / (1 + np.exp(log_p))  # P[Y = 0]
    cut = np.floor(q / r)
    growth, decay = log_p - r * log_a, log_p + r * log_a  # logarithms, of the terms left and right of y = 0
    # A sum of growing terms as a difference, whose exponents are both at most 0; one of level or falling ones by expm1.
    grown = np.exp(q * log_a + cut * growth) - np.exp(q * log_a)
    level = np.exp(q * log_a) * np.expm1(np.minimum(cut * growth, 1.0))
    left = np.where(cut * growth > 1, grown, level) / -np.expm1(-np.where(growth == 0, 1.0, growth))
    left = np.where(growth == 0, np.exp(q * log_a) * cut, left)
    right = np.exp(q * log_a) / -np.expm1(decay)
    beyond = np.exp((cut + 1) * log_p) / -expm1(log_p)
    beyond = beyond - share * np.exp(log_a - q * log_a + (cut + 1) * decay) / -np.expm1(decay)
    return np.asarray(2 * none * (share * (left + right) + beyond) * _SLACK)
