"""How far a sum of independent noises, each times a coefficient of its cell, can be from zero.

For Laplace noise by the exact law of the sum, for Gaussian noise by its variance (docs/proofs/moments.md). The noise is
taken as continuous and half of the coarsest unit is added.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import sqrt
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Floats
from adomnia.statistics.laplace_sums import reach_of_laplace
from adomnia.statistics.saddlepoints import saddlepoint_reach
from adomnia.statistics.summed import SummedLaplace

_Law: TypeAlias = Callable[[Floats, float], Floats]

_ROOT_OF_TWO = sqrt(2)
_ONE_DEVIATION = 0.68  # how often Gaussian noise is within one of them


def farthest(noises: Sequence[Noise], coefficients: Sequence[Floats], left_open: float) -> Floats:
    """What |sum of coefficients * noises| exceeds in each cell with a probability of about `left_open` at most."""
    law, each = _law(noises, left_open)
    sizes = np.stack(np.broadcast_arrays(*map(np.abs, coefficients)))
    spreads = sizes * np.reshape(each, (-1,) + (1,) * (sizes.ndim - 1))
    largest = spreads.max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)  # so that no square leaves the range of doubles
    return np.asarray(unit * law(spreads / unit, left_open) * (largest > 0) + sizes.max(axis=0) / 2)


def farthest_in_sample(
    noises: Sequence[Noise], coefficients: Sequence[Floats], sampled: Floats, left_open: float
) -> Floats:
    """The same where what sampling adds, normal and of that variance, is in the sum beside the noises."""
    sizes = np.stack(np.broadcast_arrays(*map(np.abs, coefficients)))
    each = np.array([deviation_of(noise) for noise in noises])
    deviations = sizes * np.reshape(each, (-1,) + (1,) * (sizes.ndim - 1))
    return np.asarray(_reach_in_sample(noises, deviations, sampled, left_open) + sizes.max(axis=0) / 2)


def _reach_in_sample(noises: Sequence[Noise], deviations: Floats, sampled: Floats, left_open: float) -> Floats:
    normal = -NormalDist().inv_cdf(left_open / 2)
    largest = deviations.max(axis=0)
    if not all(isinstance(noise, DiscreteLaplace | SummedLaplace) for noise in noises):
        return np.asarray(normal * np.sqrt(np.square(deviations).sum(axis=0) + sampled))
    times = tuple(noise.times if isinstance(noise, SummedLaplace) else 1 for noise in noises)
    roots = np.reshape(np.sqrt([2.0 * each for each in times]), (-1,) + (1,) * (deviations.ndim - 1))
    scales = deviations / roots
    unit = np.where(largest > 0, scales.max(axis=0), 1.0)
    reach = unit * saddlepoint_reach(scales / unit, left_open, times, sampled / np.square(unit))
    return np.where(largest > 0, reach, normal * np.sqrt(sampled))


def deviation_of(noise: Noise) -> float:
    """How far noise is from zero, as the root of the mean square; roughly so if its law is not known."""
    match noise:
        case DiscreteLaplace(scale=scale):
            return float(scale) * _ROOT_OF_TWO
        case SummedLaplace(scale=scale, times=times):
            return float(scale) * sqrt(2 * times)
        case DiscreteGaussian(variance=variance):
            return sqrt(variance)
    return float(noise.interval(_ONE_DEVIATION).half_width)


def _law(noises: Sequence[Noise], left_open: float) -> tuple[_Law, list[float]]:
    """The law of a sum, and the spread of each noise that it is made of."""
    if all(isinstance(noise, DiscreteLaplace | SummedLaplace) for noise in noises):
        times = tuple(noise.times if isinstance(noise, SummedLaplace) else 1 for noise in noises)
        return partial(reach_of_laplace, times), [float(noise.scale) for noise in noises]  # type: ignore[attr-defined]
    if all(isinstance(noise, DiscreteGaussian) for noise in noises):
        return _gaussian, [float(noise.variance) ** 0.5 for noise in noises]  # type: ignore[attr-defined]
    return _boxed, [float(noise.interval(1 - left_open, cells=len(noises)).half_width) for noise in noises]


def _boxed(reaches: Floats, _: float) -> Floats:
    return np.asarray(reaches.sum(axis=0))


def _gaussian(deviations: Floats, left_open: float) -> Floats:
    return np.asarray(-NormalDist().inv_cdf(left_open / 2) * np.sqrt(np.square(deviations).sum(axis=0)))
