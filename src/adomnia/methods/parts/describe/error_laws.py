"""How far an error goes that is made of several noises and of sampling: Laplace noises, and a normal part."""

from functools import lru_cache
from math import expm1, log

import numpy as np

from adomnia.mechanisms.contract import Noise
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Floats, Measured

_LEAST_ALPHA = 1e-12  # smaller tails are not computed
_LAPLACE = 3.0  # the excess kurtosis of one Laplace noise: no sum of independent ones has more
_KURTOSES = np.linspace(0.0, _LAPLACE, 13)
_HALVINGS = 60
_FARTHEST = 40.0  # standard deviations


def noise_cumulants(measured: Measured) -> tuple[float, float]:
    """The variance and the fourth cumulant of the noise on each number that was measured."""
    return cumulants(measured.noise)


def cumulants(noise: Noise) -> tuple[float, float]:
    """The same of a law of noise."""
    if isinstance(noise, DiscreteLaplace):
        scale = float(noise.scale)
        return 2 * scale**2, 12 * scale**4
    return float(noise.variance), 0.0  # type: ignore[attr-defined]  # the other noise that there is


def left_open(confidence: float, cells: int) -> float:
    """The probability that each of so many intervals may miss, if all are to hold at once with that confidence."""
    if not 0 < confidence < 1:
        raise ValueError(f"Interval confidence must be above 0 and below 1, got {confidence}.")
    return -expm1(log(confidence) / cells)


def deviations(variance: Floats, fourth: Floats, alpha: float) -> Floats:
    """So many standard deviations an error stays within, but for that probability.

    Its law is taken to be the sum of one Laplace and one normal variable that has the same kurtosis: sums of several
    Laplace noises differ from that by little.
    """
    with np.errstate(over="ignore"):  # of a variance next to zero: no law has more than the last of the table
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
