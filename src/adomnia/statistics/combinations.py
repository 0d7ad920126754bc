"""How far a sum of independent noises, each times a coefficient of its cell, can be from zero.

For Laplace noise by the exact law of the sum, for Gaussian noise by its variance (docs/proofs/moments.md). The noise is
taken as continuous and half of the coarsest unit is added.
"""

from collections.abc import Callable, Sequence
from math import log, sqrt
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Floats
from adomnia.statistics.saddlepoints import saddlepoint_reach

_Law: TypeAlias = Callable[[Floats, float], Floats]

_APART = 1.01  # the ratio of two scales from which on their exact law is computed without loss of digits
_RAREST = 1e-6  # of an exact law: what is rarer would drown in the rounding of doubles
_NEGLIGIBLE = 1e-6  # beside the largest scale, which is 1
_ROOT_OF_TWO = sqrt(2)
_ONE_DEVIATION = 0.68  # how often Gaussian noise is within one of them
_STEPS = 5  # of Newton
_MOST_EXACT = 6  # Laplace noises whose exact law doubles can hold
_SLOPES = (0.5, 0.72, 0.9)  # where Chernoff's bound is tried


def farthest(noises: Sequence[Noise], coefficients: Sequence[Floats], left_open: float) -> Floats:
    """What |sum of coefficients * noises| exceeds in each cell with a probability of about `left_open` at most."""
    law, each = _law(noises, left_open)
    sizes = np.stack(np.broadcast_arrays(*map(np.abs, coefficients)))
    spreads = sizes * np.reshape(each, (-1,) + (1,) * (sizes.ndim - 1))
    largest = spreads.max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)  # so that no square leaves the range of doubles
    return np.asarray(unit * law(spreads / unit, left_open) * (largest > 0) + sizes.max(axis=0) / 2)


def deviation_of(noise: Noise) -> float:
    """How far noise is from zero, as the root of the mean square; roughly so if its law is not known."""
    match noise:
        case DiscreteLaplace(scale=scale):
            return float(scale) * _ROOT_OF_TWO
        case DiscreteGaussian(variance=variance):
            return sqrt(variance)
    return float(noise.interval(_ONE_DEVIATION).half_width)


def _law(noises: Sequence[Noise], left_open: float) -> tuple[_Law, list[float]]:
    """The law of a sum, and the spread of each noise that it is made of."""
    if all(isinstance(noise, DiscreteLaplace) for noise in noises):
        law = _laplace if len(noises) <= _MOST_EXACT else saddlepoint_reach
        return law, [float(noise.scale) for noise in noises]  # type: ignore[attr-defined]
    if all(isinstance(noise, DiscreteGaussian) for noise in noises):
        return _gaussian, [float(noise.variance) ** 0.5 for noise in noises]  # type: ignore[attr-defined]
    return _boxed, [float(noise.interval(1 - left_open, cells=len(noises)).half_width) for noise in noises]


def _boxed(reaches: Floats, _: float) -> Floats:
    return np.asarray(reaches.sum(axis=0))


def _gaussian(deviations: Floats, left_open: float) -> Floats:
    return np.asarray(-NormalDist().inv_cdf(left_open / 2) * np.sqrt(np.square(deviations).sum(axis=0)))


def _laplace(scales: Floats, left_open: float) -> Floats:
    """By the exact law: scales in rows, the largest of each cell is 1."""
    apart = _set_apart(scales)
    squares = np.square(apart)
    weights = np.ones_like(apart)
    for place in range(len(apart)):
        others = np.delete(np.arange(len(apart)), place)
        weights[place] = np.prod(squares[place] / (squares[place] - squares[others]), axis=0)
    often = max(left_open, _RAREST)
    reach = _chernoff(apart, often)
    for _ in range(_STEPS):
        # P[|sum| > t] = sum of weight * exp(-t / scale). Its logarithm is concave, so that steps of Newton which begin
        # above the root stay there, and so does one along the tangent to what is rarer.
        terms = weights * np.exp(-reach / apart)
        tail, slope = terms.sum(axis=0), (terms / apart).sum(axis=0)
        reach = reach + np.log(tail / often) * tail / slope
    return np.asarray(reach + log(often / left_open) * tail / slope)


def _set_apart(scales: Floats) -> Floats:
    """Scales at least as large, in rising order, no two of them too near to each other."""
    found = np.sort(scales, axis=0)
    found[0] = np.maximum(found[0], _NEGLIGIBLE)
    for place in range(1, len(found)):
        found[place] = np.maximum(found[place], found[place - 1] * _APART)
    return found


def _chernoff(scales: Floats, left_open: float) -> Floats:
    """2 E[exp(s * sum)] exp(-s t) <= left_open, with the best of some slopes s."""
    largest = scales[-1]
    shares = np.square(scales / largest)
    reach = np.full(largest.shape, np.inf)
    for slope in _SLOPES:
        cumulant = -np.log1p(-(slope**2) * shares).sum(axis=0)
        reach = np.minimum(reach, (log(2 / left_open) + cumulant) * largest / slope)
    return reach
