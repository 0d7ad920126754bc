"""How far noise goes whose variance is known: intervals of sums of it, and of ratios of two such sums."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from adomnia.statistics.ratios import left_open_by

if TYPE_CHECKING:
    from adomnia.statistics.contract import Bounds, Floats
    from adomnia.statistics.products import Tails


def count_deviations(tails: Tails, confidence: float, cells: int) -> float:
    """How many standard deviations hold a sum of noise with that confidence; all of so many sums at once.

    Sums of Gaussian noise are Gaussian, and cover together at least as often as if they were independent (Sidak 1967),
    however they depend on each other. A sum of Laplace noise lies between a Gaussian and a single Laplace noise, so
    whichever of the two goes farther is far enough; there what is left open is divided evenly (Bonferroni).
    """
    if tails == "gaussian":
        return -NormalDist().inv_cdf(left_open_by(confidence, cells) / 2)
    missed = left_open_by(confidence, 1) / cells
    return max(-NormalDist().inv_cdf(missed / 2), -log(missed) / sqrt(2))


@dataclass(frozen=True)
class NoisyPair:
    """Two noisy sums, their standard deviations, and their covariance: None where only its bounds are known."""

    above: Floats
    below: Floats
    above_error: Floats
    below_error: Floats
    covariance: Floats | None = None

    def bound_ratio(self, deviations: float) -> Bounds:
        """All ratios r for which above - r below is within so many standard deviations of zero (Fieller 1954).

        Infinite where the divisor may be zero. Where the covariance is unknown, the deviation of the difference is at
        most the sum of both.
        """
        with np.errstate(all="ignore"):
            if self.covariance is None:
                return self._bound_apart(deviations)
            squares = deviations**2
            a = self.below**2 - squares * self.below_error**2
            b = self.above * self.below - squares * self.covariance
            c = self.above**2 - squares * self.above_error**2
            spread = np.sqrt(np.maximum(b**2 - a * c, 0.0))
            bounded = a > 0
            divisor = np.where(bounded, a, 1.0)
            lower, upper = (b - spread) / divisor, (b + spread) / divisor
        return np.where(bounded, lower, -np.inf), np.where(bounded, upper, np.inf)

    def _bound_apart(self, deviations: float) -> Bounds:
        above = [self.above + sign * deviations * self.above_error for sign in (-1, 1)]
        below = [self.below + sign * deviations * self.below_error for sign in (-1, 1)]
        bounded = np.abs(self.below) > deviations * self.below_error
        corners = np.stack([one / np.where(bounded, other, 1.0) for one in above for other in below])
        lower, upper = corners.min(axis=0), corners.max(axis=0)
        return np.where(bounded, lower, -np.inf), np.where(bounded, upper, np.inf)
