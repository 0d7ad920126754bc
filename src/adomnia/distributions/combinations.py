"""How far a sum of independent noises, each times a coefficient of its cell, can be from zero.

Of Laplace tails by the exact distribution of the sum, of Gaussian ones by its variance (docs/proofs/moments.md). The
noise is taken as continuous and half of the coarsest unit is added.
"""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from adomnia.distributions.laplace_sums import reach_of_laplace, saddlepoint_reach
from adomnia.mechanisms.contract import Floats, Noise


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
        return reach_of_laplace(times, spreads, alpha)
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
    reach = unit * saddlepoint_reach(scales / unit, alpha, [part.times for part in parts], sampled / np.square(unit))
    return np.asarray(np.where(largest > 0, reach, _normal(alpha) * np.sqrt(sampled)) + sizes.max(axis=0) / 2)


def _normal(alpha: float) -> float:
    return -NormalDist().inv_cdf(alpha / 2)


def _along(numbers: Sequence[float], sizes: Floats) -> Floats:
    """One number for each noise, in the shape of all cells."""
    return np.array(numbers, dtype=np.float64).reshape((-1,) + (1,) * (sizes.ndim - 1))
