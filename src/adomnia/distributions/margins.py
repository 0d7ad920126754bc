"""How many standard deviations an error stays within: of noises alone, or of noises and of sampling beside them."""

from functools import lru_cache
from math import log, sqrt
from statistics import NormalDist

import numpy as np

from adomnia.mechanisms.contract import Floats, Tails, find_alpha

_LEAST_ALPHA = 1e-12  # smaller tails are not computed
_SUREST = 1 - 2.0**-53  # the largest double below 1
_LEAST_SURE = 2.0**-53  # what is less sure leaves 1 open, as a double
_LAPLACE = 3.0  # the excess kurtosis of one Laplace noise: no sum of independent ones has more
_KURTOSES = np.linspace(0.0, _LAPLACE, 13)
_HALVINGS = 60
_FARTHEST = 40.0  # standard deviations


def margin(tails: Tails, alpha: float) -> float:
    """So many standard deviations any sum of independent noises stays within, but for that probability.

    Sums of Laplace noises lie between one of them and a normal variable: of the two the farther is taken.

    >>> round(margin("gaussian", 0.05), 3), round(margin("laplace", 0.05), 3)
    (1.96, 2.118)
    """
    normal = -NormalDist().inv_cdf(alpha / 2)
    return max(normal, -log(alpha) / sqrt(2)) if tails == "laplace" else normal


def divide_confidence(confidence: float, intervals: int) -> float:
    """How sure each of so many intervals has to be, if all are to hold at once, whatever noise they share.

    >>> divide_confidence(0.95, 5)
    0.99
    """
    return min(max(1 - find_alpha(min(confidence, _SUREST), intervals, "any"), _LEAST_SURE), _SUREST)


def deviations(variance: Floats, fourth: Floats, alpha: float) -> Floats:
    """So many standard deviations an error stays within, but for that probability.

    It is taken for the sum of one Laplace and one normal variable that has the same kurtosis: sums of several Laplace
    noises differ from that by little.
    """
    with np.errstate(over="ignore"):  # of a variance next to zero: no distribution has more than the last of the table
        kurtosis = fourth / np.maximum(np.square(variance), np.finfo(np.float64).tiny)
    return np.interp(kurtosis, _KURTOSES, _tabulate(max(alpha, _LEAST_ALPHA)))


@lru_cache(maxsize=128)
def _tabulate(alpha: float) -> Floats:
    below, above = np.zeros_like(_KURTOSES), np.full_like(_KURTOSES, _FARTHEST)
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        low = _tail(_KURTOSES, middle) > alpha / 2
        below, above = np.where(low, middle, below), np.where(low, above, middle)
    return above


def _tail(kurtosis: Floats, x: Floats) -> Floats:
    """P[error > x] of unit variance: a Laplace part of the variance that makes this kurtosis, the rest normal."""
    from scipy.special import log_ndtr, ndtr  # slow to import

    part = np.clip(np.sqrt(kurtosis / _LAPLACE), 1e-9, 1 - 1e-9)
    scale, spread = np.sqrt(part / 2), np.sqrt(1 - part)
    tilt = spread / scale
    near, far = (np.exp(tilt**2 / 2 - side * x / scale + log_ndtr(side * x / spread - tilt)) for side in (1, -1))
    return np.asarray(ndtr(-x / spread) + (near - far) / 2)
