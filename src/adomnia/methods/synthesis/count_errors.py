"""Intervals of counts that are sums of many noises whose variance is known."""

import numpy as np

from adomnia.distributions.margins import margin
from adomnia.mechanisms.contract import Tails
from adomnia.mechanisms.interval import find_alpha
from adomnia.statistics.contract import Bounds, Estimate, Floats


def estimate_counts(values: Floats, variances: Floats, tails: Tails, method: str) -> Estimate:
    """Counts that are right on average, so that they may be below zero, with intervals of their noise."""
    deviations = np.sqrt(variances)

    def interval(confidence: float, cells: int) -> Bounds:
        far = margin(tails, find_alpha(confidence, cells)) * deviations
        return values - far, values + far

    return Estimate(values, interval, method)
