"""Intervals for quotients of noisy sums: noise and sampling together, by Fieller's argument."""

from dataclasses import dataclass

import numpy as np

from adomnia.distributions.fieller import fieller
from adomnia.distributions.margins import deviations
from adomnia.mechanisms.interval import find_alpha
from adomnia.statistics.contract import Bounds, Estimate, Floats


@dataclass(frozen=True)
class NoisyRatio:
    """The quotient of two noisy numbers, in every row.

    If r is the true quotient, `top - r * bottom` is an error of mean zero, whose variance `a - 2 b r + c r**2` is made
    of noise and of sampling. All r that it allows for are the interval (Fieller 1954). Where the divisor may be zero,
    or below, the limits are.
    """

    top: Floats
    bottom: Floats
    variance: tuple[Floats, Floats, Floats]
    fourth: Floats  # the fourth cumulant of the error
    limits: tuple[float, float]

    @property
    def values(self) -> Floats:
        """The quotients, within their limits; in their middle where the divisor is not above zero."""
        seen = self.bottom > 0
        found = np.where(seen, self.top, sum(self.limits) / 2) / np.where(seen, self.bottom, 1.0)
        return np.clip(found, *self.limits)

    def bounds(self, confidence: float, cells: int) -> Bounds:
        """The interval of every row."""
        values, (a, b, c) = self.values, self.variance
        spread = np.maximum(a - 2 * b * values + c * values**2, 0.0)
        far = deviations(spread, self.fourth, find_alpha(confidence, cells))
        lower, upper = fieller(self.top, self.bottom, self.variance, far)
        return np.clip(np.minimum(lower, values), *self.limits), np.clip(np.maximum(upper, values), *self.limits)

    def estimate(self, method: str, scale: float = 1.0, offset: float = 0.0, rounding: float = 0.0) -> Estimate:
        """The same as an estimate in other units; `rounding` is how far values on their grid may be off."""
        low, high = (offset + scale * limit for limit in self.limits)

        def number(share: Floats, beside: float = 0.0) -> Floats:
            return np.clip(offset + scale * share + beside, low, high)

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = self.bounds(confidence, cells)
            return number(lower, -rounding), number(upper, rounding)

        return Estimate(np.atleast_1d(number(self.values)), interval, method)


def less_one(rows: float) -> float:
    """What the mean of squares is multiplied by, so that it is divided by one row less, as the variance of a sample."""
    return max(rows, 2.0) / (max(rows, 2.0) - 1)
