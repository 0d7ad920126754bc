"""Noise of whole numbers, spread evenly over the unit around each: what makes tests of counts most powerful.

To a count that was released with discrete noise a public uniform draw from -1/2 to 1/2 is added, after the noise and
free. Of Laplace noise that is Awan and Slavkovic's Tulap distribution.
"""

from math import expm1

import numpy as np

from adomnia.distributions.simulations import list_probabilities
from adomnia.mechanisms.contract import Floats, Noise
from adomnia.mechanisms.laplace import DiscreteLaplace

_LISTED_DEVIATION = 100.0  # above it, a normal distribution is the same to 1e-6, and others are told one by one


def smooth_cdf(noise: Noise, at: Floats) -> Floats:
    """How probable it is that noise plus a uniform draw is at most `at`.

    Cite        Awan & Slavkovic 2018, definition 4.1.

    >>> import numpy as np
    >>> smooth_cdf(DiscreteLaplace(1), np.array([-1.2, 0.0, 0.3])).round(6).tolist()
    [0.149939, 0.5, 0.638635]
    """
    if isinstance(noise, DiscreteLaplace):
        return _tulap(float(1 / noise.scale), at)
    if noise.continuous.deviation >= _LISTED_DEVIATION:
        return _spread_evenly(noise, at)
    places, chances = list_probabilities(noise)
    return np.asarray(np.interp(at, np.append(places, places[-1] + 1) - 0.5, np.append(0.0, np.cumsum(chances))))


def _tulap(epsilon: float, at: Floats) -> Floats:
    """The lower tail at -|t|, with r = round(t): b**|r| (b + (t - r + 1/2) (1 - b)) / (1 + b), b = exp(-epsilon)."""
    below = -np.abs(at)
    nearest = np.rint(below)
    ratio, rest = np.exp(-epsilon), -expm1(-epsilon)
    tail = np.exp(epsilon * nearest) * (ratio + (below - nearest + 0.5) * rest) / (1 + ratio)
    found: Floats = np.where(at <= 0, tail, 1 - tail)
    return found


def _spread_evenly(noise: Noise, at: Floats) -> Floats:
    from scipy.special import ndtr

    if noise.continuous.tails == "gaussian":
        return np.asarray(ndtr(at / np.sqrt(noise.continuous.deviation**2 + 1 / 12)))
    below = -np.abs(at)
    nearest = np.rint(below)
    tails = np.array([noise.tail(int(-each)) for each in nearest.flat]).reshape(at.shape)
    found: Floats = tails / 2 + (below - nearest + 0.5) * np.exp(noise.log_probability(nearest))
    return np.where(at <= 0, found, 1 - found)


def upper_tail(observed: float, counts: Floats, chances: Floats | float, noise: Noise, weight: float = 1.0) -> float:
    """How probable it is that a count plus `weight` times spread noise is at least what was observed.

    `counts` occur with these chances, or all alike. With the chances of a binomial distribution and one noise
    this is the p-value of the most powerful test of a proportion where the number of rows is public.

    Cite        Awan & Slavkovic 2018, theorem 5.2.
    """
    return float(np.sum(chances * smooth_cdf(noise, (counts - observed) / weight)))
