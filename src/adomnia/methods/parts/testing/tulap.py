"""Noise of whole numbers, spread evenly over the unit around each: what makes tests of counts most powerful.

To a count that was released with discrete noise a public uniform draw from -1/2 to 1/2 is added, after the noise and
free. Of Laplace noise that is Awan and Slavkovic's Tulap law.
"""

from math import expm1, sqrt

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Floats

_LISTED_DEVIATION = 100.0  # of Gaussian noise; above it, a normal law is the same to 1e-6


def smooth_cdf(noise: Noise, at: Floats) -> Floats:
    """How probable it is that noise plus a uniform draw is at most `at`.

    Cite        Awan & Slavkovic 2018, definition 4.1.

    >>> import numpy as np
    >>> smooth_cdf(DiscreteLaplace(1), np.array([-1.2, 0.0, 0.3])).round(6).tolist()
    [0.149939, 0.5, 0.638635]
    """
    if isinstance(noise, DiscreteLaplace):
        return _tulap(float(1 / noise.scale), at)
    if isinstance(noise, DiscreteGaussian):
        return _spread_gaussian(noise, at)
    raise TypeError(f"smooth_cdf noise must be Laplace or Gaussian, got {type(noise).__name__}.")


def _tulap(epsilon: float, at: Floats) -> Floats:
    """The lower tail at -|t|, with r = round(t): b**|r| (b + (t - r + 1/2) (1 - b)) / (1 + b), b = exp(-epsilon)."""
    below = -np.abs(at)
    nearest = np.rint(below)
    ratio, rest = np.exp(-epsilon), -expm1(-epsilon)
    tail = np.exp(epsilon * nearest) * (ratio + (below - nearest + 0.5) * rest) / (1 + ratio)
    found: Floats = np.where(at <= 0, tail, 1 - tail)
    return found


def _spread_gaussian(noise: DiscreteGaussian, at: Floats) -> Floats:
    from scipy.special import ndtr

    deviation = sqrt(noise.variance)
    if deviation >= _LISTED_DEVIATION:
        found: Floats = ndtr(at / sqrt(float(noise.variance) + 1 / 12))
        return found
    reach = 2 + int(10 * deviation)
    places = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(places**2) / (2 * float(noise.variance)))
    ends = np.concatenate([[-reach - 0.5], places + 0.5])
    listed: Floats = np.interp(at, ends, np.concatenate([[0.0], np.cumsum(weights / weights.sum())]))
    return listed


def upper_tail(observed: float, counts: Floats, chances: Floats | float, noise: Noise, weight: float = 1.0) -> float:
    """How probable it is that a count plus `weight` times spread noise is at least what was observed.

    `counts` occur with these chances, or all alike. With the chances of a binomial law and one noise this is the p-
    value of the most powerful test of a proportion where the number of rows is public.

    Cite        Awan & Slavkovic 2018, theorem 5.2.
    """
    return float(np.sum(chances * smooth_cdf(noise, (counts - observed) / weight)))
