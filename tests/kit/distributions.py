"""Reference distributions, from their definitions without the code they judge, and the test that holds draws to one."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, expm1, floor, sqrt
from typing import TYPE_CHECKING

import mpmath
import numpy as np
from scipy.special import chdtrc, ndtr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

CELLS = 200
# Fewer cells for fewer draws: more cells raise the threshold, but not what a wrong scale adds to the statistic.
DRAWS_PER_CELL = 400
LEAST_EXPECTED = 50.0  # the chi-square distribution is a limit; below this a cell is pooled with its neighbour
TAILS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)  # extra cells far out, where a wrong tail hides from near-equal ones


@dataclass(frozen=True)
class Distribution:
    """A distribution on the integers, by its distribution function; beyond +-reach the mass is below 1e-12."""

    cumulative: Callable[[int], float]
    reach: int

    def quantile(self, level: float) -> int:
        """The least k with P[X <= k] >= level."""
        low, high = -self.reach, self.reach
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.cumulative(middle) >= level else (middle + 1, high)
        return low

    def cells(self, draws: int) -> tuple[list[int], NDArray[np.float64]]:
        """Where all cells but the last end, and the mass of each: from the distribution and the number of draws."""
        count = min(CELLS, max(10, draws // DRAWS_PER_CELL))
        levels = [number / count for number in range(1, count)] + [*TAILS, *(1 - tail for tail in TAILS)]
        edges = sorted({self.quantile(level) for level in levels})
        kept, previous = [], 0.0
        for edge in edges:
            reached = self.cumulative(edge)
            if draws * (reached - previous) >= LEAST_EXPECTED and draws * (1 - reached) >= LEAST_EXPECTED:
                kept.append(edge)
                previous = reached
        return kept, np.diff([0.0, *map(self.cumulative, kept), 1.0])


def p_value(draws: NDArray[np.int64] | NDArray[np.object_], distribution: Distribution) -> float:
    """Pearson's chi-square of the draws against the distribution."""
    edges, masses = distribution.cells(draws.size)
    return p_value_of_counts(counts_in_cells(draws, edges), masses)


def p_value_of_counts(counts: NDArray[np.int64], masses: NDArray[np.float64]) -> float:
    """Pearson's chi-square of counts against masses that sum to one."""
    if len(masses) == 1:
        return 1.0  # one cell holds everything, so there is nothing to compare
    expected = masses * counts.sum()
    return float(chdtrc(len(masses) - 1, float(((counts - expected) ** 2 / expected).sum())))


def counts_in_cells(draws: NDArray[np.int64] | NDArray[np.object_], edges: Sequence[int]) -> NDArray[np.int64]:
    """How many draws fall in each cell."""
    if draws.dtype == np.dtype(object):
        cells = np.fromiter((bisect_left(edges, int(draw)) for draw in draws.ravel()), np.int64, draws.size)
    else:
        cells = np.searchsorted(np.asarray(edges, dtype=np.int64), draws.ravel())
    return np.bincount(cells, minlength=len(edges) + 1)


def fits_the_distribution(
    draws: NDArray[np.int64] | NDArray[np.object_], distribution: Distribution, alpha: float = 1e-6
) -> bool:
    """Whether the draws pass for draws of the distribution; draws of it fail with probability alpha."""
    return p_value(draws, distribution) >= alpha


def laplace_distribution(scale: Fraction) -> Distribution:
    """P[k] proportional to exp(-|k| / scale): geometric sums, so the distribution function is closed."""
    ratio = exp(-1 / scale)

    def cumulative(k: int) -> float:
        tail = exp(-float((-k if k < 0 else k + 1) / scale)) / (1 + ratio)
        return tail if k < 0 else 1 - tail

    return Distribution(cumulative, floor(30 * scale) + 2)


def geometric_distribution(scale: Fraction) -> Distribution:
    """P[k] proportional to exp(-k / scale) on k = 0, 1, 2, ..."""
    return Distribution(lambda k: 0.0 if k < 0 else -expm1(-float((k + 1) / scale)), floor(30 * scale) + 2)


def gaussian_distribution(variance: Fraction) -> Distribution:
    """P[k] proportional to exp(-k^2 / (2 variance)): summed, or by Euler and Maclaurin where sums are long.

    The midpoint rule with its first correction is off by less than 2e-3 / variance^2: 2e-15 from 1e6 on.
    """
    if variance >= 10**6:
        deviation = sqrt(variance)

        def by_midpoints(k: int) -> float:
            x = float(Fraction(2 * k + 1, 2)) / deviation
            slope = -x * exp(-x * x / 2) / sqrt(2 * np.pi)
            return float(ndtr(x)) - slope / float(24 * variance)

        return Distribution(by_midpoints, floor(9 * deviation))
    reach = floor(9 * sqrt(variance)) + 3
    return tabulated(np.exp(-(np.arange(-reach, reach + 1, dtype=float) ** 2) / float(2 * variance)), -reach)


def tabulated(weights: NDArray[np.float64], first: int) -> Distribution:
    """The distribution with these weights on first, first + 1, ..."""
    sums = np.cumsum(weights)
    sums /= sums[-1]

    def cumulative(k: int) -> float:
        place = k - first
        return 0.0 if place < 0 else float(sums[min(place, len(sums) - 1)])

    return Distribution(cumulative, max(abs(first), abs(first + len(weights))))


def tabulated_probability(probability: Callable[[int], float], reach: int) -> Distribution:
    """The distribution a mechanism states by its own `probability`; that it sums to one is for another test."""
    return tabulated(np.array([probability(k) for k in range(-reach, reach + 1)]), -reach)


def exponential_distribution(
    scores: Sequence[int], rate: Fraction, multiplicity: Sequence[int] | None = None
) -> NDArray[np.float64]:
    """Probabilities proportional to multiplicity * exp(rate * score), in 60-digit arithmetic."""
    with mpmath.workdps(60):
        top = max(scores)
        sizes = multiplicity or [1] * len(scores)
        weights = [size * mpmath.exp(rational(rate * (score - top))) for score, size in zip(scores, sizes, strict=True)]
        total = mpmath.fsum(weights)
        return np.array([float(weight / total) for weight in weights])


def rational(value: Fraction | int) -> mpmath.mpf:
    """A fraction at the working precision."""
    value = Fraction(value)
    return mpmath.mpf(value.numerator) / value.denominator


def exact_laplace(k: int, scale: Fraction) -> mpmath.mpf:
    """P[k] of the discrete Laplace distribution at the working precision."""
    rate = 1 / rational(scale)
    return mpmath.tanh(rate / 2) * mpmath.exp(-abs(k) * rate)


def exact_gaussian(k: int, variance: Fraction) -> mpmath.mpf:
    """P[k] of the discrete Gaussian distribution at the working precision."""
    return mpmath.exp(-rational(Fraction(k * k) / (2 * variance))) / theta(variance, mpmath.mp.dps)


@lru_cache(maxsize=4096)
def theta(variance: Fraction, digits: int) -> mpmath.mpf:
    """The sum over all k of exp(-k^2 / (2 variance)), by whichever side of Poisson's summation formula is shorter."""
    with mpmath.workdps(digits + 10):
        spread = rational(variance)
        if variance < 1:
            return _theta_series(1 / (2 * spread))
        return mpmath.sqrt(2 * mpmath.pi * spread) * _theta_series(2 * mpmath.pi**2 * spread)


def _theta_series(rate: mpmath.mpf) -> mpmath.mpf:
    last = int(mpmath.ceil(mpmath.sqrt((mpmath.mp.prec + 8) / rate))) + 1
    return 1 + 2 * mpmath.fsum(mpmath.exp(-rate * k * k) for k in range(1, last + 1))


def exp_between(x: Fraction, bits: int = 400) -> tuple[Fraction, Fraction]:
    """Fractions below and above exp(-x), x >= 0, about 2**-bits apart, by nothing but sums and products of integers.

    Two neighbouring partial sums of the alternating series enclose exp(-x / n) where x / n <= 1; the n-th power follows
    by products, each rounded outward.
    """
    power = max(1, ceil(x))
    term, total, before = Fraction(1), Fraction(1), Fraction(1)
    for number in range(1, 90):  # 1 / 89! is below 2**-450
        term = -term * x / (power * number)
        before, total = total, total + term
    below, above = min(before, total) * 2**bits // 1, -(-max(before, total) * 2**bits // 1)
    lower, upper = 1 << bits, 1 << bits
    for digit in f"{power:b}":
        lower, upper = lower * lower >> bits, -(-upper * upper >> bits)
        if digit == "1":
            lower, upper = lower * below >> bits, -(-upper * above >> bits)
    return Fraction(lower, 2**bits), Fraction(upper, 2**bits)


def exact_exponential(scores: list[int], rate: Fraction) -> list[mpmath.mpf]:
    """ln P[candidate] of the exponential mechanism, at mpmath's working precision."""
    exact = mpmath.mpf(rate.numerator) / rate.denominator
    total = mpmath.log(mpmath.fsum(mpmath.exp(exact * score) for score in scores))
    return [exact * score - total for score in scores]


def cauchy_below(z: mpmath.mpf) -> mpmath.mpf:
    """P[Z <= z] of the density 1 / (pi (1 + z^2))."""
    return 0.5 + mpmath.atan(z) / mpmath.pi


def student_below(z: mpmath.mpf) -> mpmath.mpf:
    """P[Z <= z] of Student's t distribution with three degrees of freedom, times 2 / sqrt(3)."""
    return 0.5 + (z / 2 / (1 + z * z / 4) + mpmath.atan(z / 2)) / mpmath.pi


def laplace_below(z: mpmath.mpf) -> mpmath.mpf:
    """P[Z <= z] of the density exp(-|z|) / 2."""
    return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2


def exact_rounded(below: Callable[[mpmath.mpf], mpmath.mpf], k: int, scale: Fraction) -> mpmath.mpf:
    """P[floor(scale * Z + 1/2) = k], from the side where no digits cancel; at the working precision."""
    half, far = Fraction(1, 2), -abs(k)
    return below(rational((far + half) / scale)) - below(rational((far - half) / scale))


def rounded_distribution(below: Callable[[mpmath.mpf], mpmath.mpf], scale: Fraction) -> Distribution:
    """The same as a distribution that draws are held to."""
    cumulative = lru_cache(maxsize=4096)(lambda k: float(below(rational((k + Fraction(1, 2)) / scale))))
    return Distribution(cumulative, ceil(scale * 10**12) + 1)
