"""Intervals of counts that are sums of many noises whose variance is known."""

from math import log, sqrt

import numpy as np

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.parts.describe.error_laws import cumulants, left_open
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured
from adomnia.statistics.products import Tails


def tails_of(measured: Measured) -> Tails:
    """Of which noise all that follows is made."""
    return "laplace" if isinstance(measured.noise, DiscreteLaplace) else "gaussian"


def variance_of(measured: Measured) -> float:
    """The variance of the noise in every number that was measured."""
    return cumulants(measured.noise)[0]


def reach(tails: Tails, confidence: float, cells: int = 1) -> float:
    """How many standard deviations a sum of noises stays within, for so many of them at once.

    Sums of Laplace noises lie between one of them and a normal variable: of the two the farther is taken.

    >>> round(reach("gaussian", 0.95), 3), round(reach("laplace", 0.95), 3)
    (1.96, 2.118)
    """
    from scipy.special import ndtri  # slow to import

    alpha = left_open(confidence, cells)
    normal = -float(ndtri(alpha / 2))
    return max(normal, -log(alpha) / sqrt(2)) if tails == "laplace" else normal


def estimate_counts(values: Floats, variances: Floats, tails: Tails, method: str) -> Estimate:
    """Counts that are right on average, so that they may be below zero, with intervals of their noise."""
    deviations = np.sqrt(variances)

    def interval(confidence: float, cells: int) -> Bounds:
        far = reach(tails, confidence, cells) * deviations
        return values - far, values + far

    return Estimate(values, interval, method)
