"""How far a sum of independent noises, each times a coefficient of its cell, can be from zero.

Of Gaussian noises by their variance. Of Laplace noises, and of normal ones beside them, by the exact distribution of
the sum where they are few, else by its saddlepoint. The exact one loses digits wherever scales are nearly equal. The
saddlepoint loses none: its tails are from 2% too small to 6% too large, whatever the scales, and the two percent are
added (docs/proofs/moments.md). The noise is taken as continuous and half of the coarsest unit is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from statistics import NormalDist

import numpy as np

from adomnia.mechanisms.contract import Continuous, Cumulants, Floats, Interval, Noise, find_alpha
from adomnia.mechanisms.gaussian import DiscreteGaussian

_APART = 1.01  # the ratio of two scales from which on their exact distribution is computed without loss of digits
_RAREST = 1e-6  # of an exact distribution: what is rarer would drown in the rounding of doubles
_NEGLIGIBLE = 1e-6  # beside the largest scale, which is 1
_STEPS = 5  # of Newton: of what is rarer than 10% no saddlepoint is more than 1e-5 too large after them
_MOST_EXACT = 6  # Laplace noises whose exact distribution doubles can hold
_SLOPES = (0.5, 0.72, 0.9)  # where Chernoff's bound is tried
_SLACK = 1.025  # by which a tail may be larger than its saddlepoint says
_BEYOND = 1 + 1e-6  # how far beyond what is wanted is aimed at, so that steps which end below it reach it too
_NARROWEST = 1e-7  # the least slope, where alpha is 1
_SMOOTH = 4  # from this variance on, a sum of discrete Gaussians is one, as far as doubles can tell


def farthest(noises: Sequence[Noise], coefficients: Sequence[Floats], alpha: float) -> Floats:
    """What |sum of coefficients * noises| exceeds in each cell with a probability of about `alpha` at most."""
    sizes = np.stack(np.broadcast_arrays(*map(np.abs, coefficients)))
    spreads = sizes * _along([noise.continuous.scale for noise in noises], sizes)
    largest = spreads.max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)  # so that no square leaves the range of doubles
    return np.asarray(
        unit * _add_up(noises, spreads / unit, sizes / unit, alpha) * (largest > 0) + sizes.max(axis=0) / 2
    )


def _add_up(noises: Sequence[Noise], spreads: Floats, sizes: Floats, alpha: float) -> Floats:
    """The same of what is continuous, in units of the largest spread of a cell."""
    parts = [noise.continuous for noise in noises]
    tails, times = {part.tails for part in parts}, tuple(part.times for part in parts)
    if tails == {"laplace"}:
        return margin_of_laplace(times, spreads, alpha)
    if tails == {"gaussian"}:
        return np.asarray(_normal(alpha) * np.sqrt((_along(times, spreads) * np.square(spreads)).sum(axis=0)))
    widths = [noise.interval(1 - alpha, cells=len(noises)).half_width for noise in noises]
    return np.asarray((sizes * _along(widths, sizes)).sum(axis=0))


def farthest_in_sample(
    noises: Sequence[Noise], coefficients: Sequence[Floats], sampled: Floats, alpha: float
) -> Floats:
    """The same where what sampling adds, normal and of that variance, is in the sum beside the noises."""
    sizes = np.stack(np.broadcast_arrays(*map(np.abs, coefficients)))
    parts = [noise.continuous for noise in noises]
    if not all(part.tails == "laplace" for part in parts):
        deviations = sizes * _along([part.deviation for part in parts], sizes)
        reach = _normal(alpha) * np.sqrt(np.square(deviations).sum(axis=0) + sampled)
        return np.asarray(reach + sizes.max(axis=0) / 2)
    scales = sizes * _along([part.scale for part in parts], sizes)
    largest = scales.max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    reach = unit * saddlepoint_margin(scales / unit, alpha, [part.times for part in parts], sampled / np.square(unit))
    return np.asarray(np.where(largest > 0, reach, _normal(alpha) * np.sqrt(sampled)) + sizes.max(axis=0) / 2)


def _normal(alpha: float) -> float:
    return -NormalDist().inv_cdf(alpha / 2)


def _along(numbers: Sequence[float], sizes: Floats) -> Floats:
    """One number for each noise, in the shape of all cells."""
    return np.array(numbers, dtype=np.float64).reshape((-1,) + (1,) * (sizes.ndim - 1))


def margin_of_laplace(times: tuple[int, ...], scales: Floats, alpha: float) -> Floats:
    """What |sum| exceeds with a probability of about `alpha` at most: scales in rows, the largest of a cell is 1.

    Each scale is that of so many noises as `times` says.
    """
    if sum(times) > _MOST_EXACT:
        return saddlepoint_margin(scales, alpha, times)
    return _laplace(np.repeat(scales, times, axis=0), alpha)


def _laplace(scales: Floats, alpha: float) -> Floats:
    """By the exact distribution: scales in rows, the largest of each cell is 1."""
    apart = _set_apart(scales)
    squares = np.square(apart)
    weights = np.ones_like(apart)
    for place in range(len(apart)):
        others = np.delete(np.arange(len(apart)), place)
        weights[place] = np.prod(squares[place] / (squares[place] - squares[others]), axis=0)
    often = max(alpha, _RAREST)
    reach = _chernoff(apart, often)
    for _ in range(_STEPS):
        # P[|sum| > t] = sum of weight * exp(-t / scale). Its logarithm is concave, so that steps of Newton which begin
        # above the root stay there, and so does one along the tangent to what is rarer.
        terms = weights * np.exp(-reach / apart)
        tail, slope = terms.sum(axis=0), (terms / apart).sum(axis=0)
        reach = reach + np.log(tail / often) * tail / slope
    return np.asarray(reach + log(often / alpha) * tail / slope)


def _set_apart(scales: Floats) -> Floats:
    """Scales at least as large, in rising order, no two of them too near to each other."""
    found = np.sort(scales, axis=0)
    found[0] = np.maximum(found[0], _NEGLIGIBLE)
    for place in range(1, len(found)):
        found[place] = np.maximum(found[place], found[place - 1] * _APART)
    return found


def _chernoff(scales: Floats, alpha: float) -> Floats:
    """2 E[exp(s * sum)] exp(-s t) <= alpha, with the best of some slopes s."""
    largest = scales[-1]
    shares = np.square(scales / largest)
    reach = np.full(largest.shape, np.inf)
    for slope in _SLOPES:
        cumulant = -np.log1p(-(slope**2) * shares).sum(axis=0)
        reach = np.minimum(reach, (log(2 / alpha) + cumulant) * largest / slope)
    return reach


def saddlepoint_margin(scales: Floats, alpha: float, times: Sequence[int], normal: Floats | float = 0.0) -> Floats:
    """What |sum| exceeds with a probability of at most `alpha`: scales in rows, the largest of each cell is 1.

    Each scale is that of so many noises as `times` says; `normal` is the variance of what is normal beside them.

    With K(s) = -sum of log(1 - (b s)^2) + normal s^2 / 2, the tail beyond t = K'(s) is about a Gaussian's beyond
    w + log(u / w) / w with w = sqrt(2 (s t - K)) and u = s sqrt(K''): Barndorff-Nielsen's form of Lugannani and Rice.
    It falls in s.
    """
    wanted = -NormalDist().inv_cdf(alpha / _SLACK / 2)
    squares = np.square(scales)
    total = squares.sum(axis=0)
    squares = np.where(total > 0, squares, 1.0)
    often = np.reshape(np.asarray(times, dtype=np.float64), (-1,) + (1,) * (squares.ndim - 1))
    # By v = s / sqrt(1 - s^2), in which w is nearly a straight line: its slope by s is s K'' / w.
    steep = np.maximum(wanted / np.sqrt(2 * (often * squares).sum(axis=0) + normal), _NARROWEST)
    reach = np.full(total.shape, np.inf)
    for _ in range(_STEPS):
        slope = steep / np.sqrt(1 + np.square(steep))
        found, move, reached = _compare((squares, often, normal), slope, wanted)
        reach = np.where(found >= wanted, np.minimum(reach, reached), reach)
        steep = np.maximum(steep + move * (1 + np.square(steep)) ** 1.5, _NARROWEST)
    return np.where(total > 0, reach, 0.0)


def _compare(
    parts: tuple[Floats, Floats, Floats | float],
    slope: Floats,
    wanted: float,
) -> tuple[Floats, Floats, Floats]:
    """The Gaussian's quantile at a slope, by how much the slope has to change for the wanted one, and t."""
    squares, often, normal = parts
    shares = squares * np.square(slope)
    left = 1 - shares
    beside = normal * np.square(slope)
    cumulant = -(often * np.log1p(-shares)).sum(axis=0) + beside / 2
    tilt = (often * 2 * shares / left).sum(axis=0) + beside  # the slope times t
    curve = (often * 2 * shares * (1 + shares) / np.square(left)).sum(axis=0) + beside  # its square times K''
    root = np.sqrt(np.maximum(2 * (tilt - cumulant), _NARROWEST**2))
    found = root + np.log(np.sqrt(curve) / root) / root
    return found, (wanted * _BEYOND - found) * root * slope / curve, tilt / slope


@dataclass(frozen=True)
class SummedNoise:
    """So many independent noises of one distribution, added up. Nothing is released by it."""

    noise: Noise
    times: int

    @property
    def cumulants(self) -> Cumulants:
        """Those of each, so many times."""
        variance, fourth = self.noise.cumulants
        return Cumulants(self.times * variance, self.times * fourth)

    @property
    def continuous(self) -> Continuous:
        """That of each, so many times."""
        each = self.noise.continuous
        return each._replace(times=self.times * each.times)

    def interval(self, confidence: float, cells: int = 1) -> Interval:
        """The interval around a noisy sum that holds the exact one; around all of `cells` at once."""
        reach = farthest([self], [np.ones(())], find_alpha(confidence, cells))  # type: ignore[list-item]  # it has all that is asked for
        return Interval(ceil(float(reach)), confidence)


def sum_noise(noise: Noise, times: int) -> Noise:
    """The distribution of the sum of so many independent noises of one distribution."""
    if times == 1:
        return noise
    if isinstance(noise, DiscreteGaussian):
        # Of smaller variance it is nearer to zero than of this one, and so is the sum: docs/proofs/results.md.
        return DiscreteGaussian(times * max(noise.variance, Fraction(_SMOOTH)))
    if isinstance(noise, SummedNoise):
        return sum_noise(noise.noise, times * noise.times)
    return SummedNoise(noise, times)  # type: ignore[return-value]  # it has the distribution, and releases nothing


def round_noise(noise: Noise, parts: int) -> DiscreteGaussian:
    """The distribution of Gaussian noise on so many parts of a unit, once it is rounded to whole units.

    The quarter that is added to the variance is more than what rounding adds to the noise.
    """
    if not isinstance(noise, DiscreteGaussian):
        raise TypeError(f"round_noise noise must be Gaussian, got {type(noise).__name__}.")
    return DiscreteGaussian(noise.variance / parts**2 + Fraction(1, 4))
