"""Intervals for the ratio of two noisy integers, by Fieller's argument and the exact law of the noise.

S and N are exact, s = S + X and n = N + Y are seen. If S / N = r then s - r n = X - r Y, whatever S and N are, so the
ratios r with |s - r n| <= q(r), where P[|X - r Y| >= q(r)] is at most what the confidence leaves open, hold the true
one with that confidence, for every count. N = 0 makes S = 0 and every r true, and each of them is then covered.

q is taken at a few ratios. It rises with |r| (docs/proofs/ratios.md), so its value at the far end of a stretch serves
the whole stretch, on which the ratios that satisfy the inequality are an interval. The answer is the hull of those.
"""

from functools import lru_cache
from itertools import pairwise
from math import ceil, expm1, log, log1p
from statistics import NormalDist

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Bounds, Floats, Measured

_STRETCHES = 32  # on each side of zero; they widen an interval by about one percent
_HALVINGS = 36
_SLACK = 1 + 1e-9  # for rounding in the tails
_SMOOTH = 1e-8  # how far the law of a difference may be from a Gaussian's, where it is taken for one
_FINENESS = 0.01  # how far apart two ratios of a table are, as a part of themselves
_NEAR = 0.01  # below this part of the ratio of both reaches, the divisor's noise hardly matters
_DOUBLINGS = 8  # the far end of a table is one of the powers of so many doublings: few tables, often used again


def ratio_bounds(
    numerator: Measured, denominator: Measured, reach: tuple[int, int], confidence: float, cells: int
) -> Bounds:
    """Bounds of the ratio in each cell, within `reach` (which holds zero); lower > upper where no ratio fits."""
    left_open = left_open_by(confidence, cells)
    farthest = max(1, -reach[0], reach[1])
    ratios = np.linspace(0.0, float(farthest), _STRETCHES + 1)
    limits = critical_values(numerator.noise, denominator.noise, farthest, left_open)  # type: ignore[arg-type]
    s, n = (np.asarray(measured.values, dtype=np.float64) for measured in (numerator, denominator))
    lower, upper = np.full(s.shape, np.inf), np.full(s.shape, -np.inf)
    for (near, far), limit in zip(pairwise(ratios), limits[1:], strict=True):
        satisfying = _satisfying(s, n, limit)
        for start, end in ((near, min(far, reach[1])), (max(-far, reach[0]), -near)):
            if start <= end:
                first, last = np.maximum(satisfying[0], start), np.minimum(satisfying[1], end)
                fits = first <= last
                lower = np.where(fits, np.minimum(lower, first), lower)
                upper = np.where(fits, np.maximum(upper, last), upper)
    return lower, upper


def quotient_bounds(numerator: Measured, denominator: Measured, confidence: float, cells: int) -> Bounds:
    """Bounds of a ratio of which nothing is known before; infinite where the divisor may be zero.

    A box holds all ratios that fit. It is cut into stretches in each cell, and each gets its own critical value.
    """
    left_open = left_open_by(confidence, cells)
    x_reach, y_reach = _reaches(numerator.noise, denominator.noise, left_open)  # type: ignore[arg-type]
    s, n = (np.asarray(measured.values, dtype=np.float64) for measured in (numerator, denominator))
    # Signs are put back at the end: from here on both are positive.
    sign, top, bottom = np.where((s < 0) != (n < 0), -1.0, 1.0), np.abs(s), np.abs(n)
    bounded = bottom > y_reach
    narrow, wide = (np.where(bounded, bottom + reach, 1.0) for reach in (-y_reach, y_reach))
    rest = top - x_reach - 1
    start = np.where(bounded, rest / np.where(rest > 0, wide, narrow), 0.0)
    end = np.where(bounded, (top + x_reach + 1) / narrow, 0.0)
    limits = _Table(numerator.noise, denominator.noise, left_open, float(np.max(end, initial=1.0)))
    lower, upper = np.full(s.shape, np.inf), np.full(s.shape, -np.inf)
    for part in range(_STRETCHES):
        near, far = (start + (end - start) * (place / _STRETCHES) for place in (part, part + 1))
        first, last = _satisfying(top, bottom, limits.up_to(np.maximum(np.abs(near), np.abs(far))))
        first, last = np.maximum(first, near), np.minimum(last, far)
        lower = np.where(first <= last, np.minimum(lower, first), lower)
        upper = np.where(first <= last, np.maximum(upper, last), upper)
    lower, upper = np.where(bounded, lower, -np.inf), np.where(bounded, upper, np.inf)
    return np.where(sign < 0, -upper, lower) + 0.0, np.where(sign < 0, -lower, upper) + 0.0


def left_open_by(confidence: float, cells: int) -> float:
    """The probability that each of so many cells may miss, if all are to be covered at once with that confidence."""
    if not 0 < confidence < 1:
        raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
    # The noise of different cells is independent, so all of them are covered with the product of their coverages.
    return -expm1(log(confidence) / cells)


@lru_cache(maxsize=256)
def critical_value(x: Noise, y: Noise, ratio: float, left_open: float) -> float:
    """A number q with P[|X + r Y| >= q] <= left_open at one ratio."""
    ratios = np.array([abs(ratio)])
    return float(_limits(x, y, ratios, ratios, left_open)[0])


def _satisfying(s: Floats, n: Floats, limit: float | Floats) -> Bounds:
    """The interval of all r with |s - r n| <= limit; empty (first > last) where n is 0 and s beyond the limit."""
    divisor = np.where(n == 0, 1.0, np.abs(n))
    towards = np.where(n < 0, -s, s)
    everywhere = np.where(np.abs(s) <= limit, np.inf, -np.inf)
    first = np.where(n == 0, -everywhere, (towards - limit) / divisor)
    last = np.where(n == 0, everywhere, (towards + limit) / divisor)
    return first, last


@lru_cache(maxsize=256)
def critical_values(x: Noise, y: Noise, farthest: int, left_open: float) -> tuple[float, ...]:
    """Numbers q_i with P[|X - r Y| >= q_i] <= left_open at each of the evenly spaced ratios r from 0 to `farthest`."""
    ratios = np.linspace(0.0, float(farthest), _STRETCHES + 1)
    match x, y:
        case DiscreteLaplace(), DiscreteLaplace():
            limits = _solved(float(x.scale), float(y.scale), ratios, left_open)
        case DiscreteGaussian(), DiscreteGaussian() if _is_smooth(x, y, farthest):
            quantile = -NormalDist().inv_cdf(left_open / 2)
            # Half a unit more: what a value of X at a real threshold may gain by X being an integer.
            limits = 0.5 + quantile * np.sqrt(float(x.variance) + ratios**2 * float(y.variance))
        case _:
            limits = _boxed(x, y, ratios, left_open)
    return tuple(limits.tolist())


class _Table:
    """Critical values at ratios that are close enough together for all that lie between."""

    def __init__(self, x: Noise, y: Noise, left_open: float, farthest: float) -> None:
        x_reach, y_reach = _reaches(x, y, left_open)  # type: ignore[arg-type]
        nearest = _NEAR * (x_reach + 1) / (y_reach + 1)
        doublings = _DOUBLINGS * ceil(max(1.0, np.log2(farthest / nearest)) / _DOUBLINGS)
        self._ratios, self._limits = _tabulated(x, y, left_open, nearest, doublings)  # type: ignore[arg-type]

    def up_to(self, ratio: Floats) -> Floats:
        """A critical value that serves every ratio up to this one."""
        place = np.searchsorted(self._ratios, ratio * (1 - 1e-12))
        return self._limits[np.minimum(place, len(self._limits) - 1)]


@lru_cache(maxsize=64)
def _tabulated(x: Noise, y: Noise, left_open: float, nearest: float, doublings: int) -> tuple[Floats, Floats]:
    steps = ceil(doublings * log(2) / log1p(_FINENESS)) + 1
    ratios = nearest * np.exp(np.arange(steps + 1) * log1p(_FINENESS))
    limits = _limits(x, y, np.concatenate(([0.0], ratios[:-1])), ratios, left_open)
    return ratios, np.maximum.accumulate(limits)  # so that each serves all ratios below its own


def _limits(x: Noise, y: Noise, nearest: Floats, ratios: Floats, left_open: float) -> Floats:
    """Critical values for all ratios between `nearest` and `ratios`, whichever way gives the smallest."""
    boxed = _boxed(x, y, ratios, left_open)
    match x, y:
        case DiscreteLaplace(), DiscreteLaplace():
            return np.minimum(boxed, _solved(float(x.scale), float(y.scale), ratios, left_open))
        case DiscreteGaussian(), DiscreteGaussian():
            quantile = -NormalDist().inv_cdf((left_open - _SMOOTH) / 2) if left_open > 2 * _SMOOTH else np.inf
            v, w = float(x.variance), float(y.variance)
            spread = quantile * np.sqrt(v + ratios**2 * w)
            # |X - r Y| = r |Y - X / r|: either may be the one that is smooth enough; near 0 only X can be.
            turned = (w >= 4) & (1 / v + 1 / (np.maximum(nearest, 1e-150) ** 2 * w) <= 1)
            smooth = (v >= 4) & (1 / w + ratios**2 / v <= 1)
            by_x, by_y = np.where(smooth, 0.5 + spread, np.inf), np.where(turned, 0.5 * ratios + spread, np.inf)
            return np.minimum(boxed, np.minimum(by_x, by_y))
    return boxed


def _is_smooth(x: DiscreteGaussian, y: DiscreteGaussian, farthest: int) -> bool:
    """Whether X - r Y may be taken for a Gaussian: by Poisson's formula it is one up to 5e-9 from here on."""
    return x.variance >= 4 and 1 / y.variance + farthest**2 / x.variance <= 1


def _boxed(x: Noise, y: Noise, ratios: Floats, left_open: float) -> Floats:
    """For noise of any law: both stay within their own intervals at once."""
    x_reach, y_reach = _reaches(x, y, left_open)  # type: ignore[arg-type]
    return np.floor(x_reach + ratios * y_reach) + 1


@lru_cache(maxsize=256)
def _reaches(x: Noise, y: Noise, left_open: float) -> tuple[int, int]:
    """How far both go at once."""
    # Two cells of one noise are covered at once with the product of their coverages; so are one of each.
    return x.interval(1 - left_open, cells=2).half_width, y.interval(1 - left_open, cells=2).half_width


def _solved(x_scale: float, y_scale: float, ratios: Floats, left_open: float) -> Floats:
    """The least q at each ratio, by bisection: the tail falls as q rises."""
    below = np.full(ratios.shape, 0.5)
    above = 0.5 + (x_scale + ratios * y_scale) * (2 - log(left_open))  # far enough: docs/proofs/ratios.md
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        too_low = _tail(x_scale, y_scale, ratios, middle) > left_open
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
