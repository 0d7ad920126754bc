"""Numbers of rows and shares of them, from noisy counts of cells: of single cells, and of sums of several."""

from dataclasses import dataclass

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.interval import find_alpha
from adomnia.methods.parts.describe.noisy_ratios import NoisyRatio
from adomnia.statistics.contract import Bounds, Estimate, Floats


@dataclass(frozen=True)
class NoisyCounts:
    """Noisy numbers of rows, each the sum of so many cells whose noise is independent."""

    values: Floats
    cells: Floats
    cumulants: tuple[float, float]

    def estimate(self) -> Estimate:
        """The numbers of rows in the data."""
        variance, fourth = (self.cells * each for each in self.cumulants)

        def interval(confidence: float, cells: int) -> Bounds:
            far = deviations(variance, fourth, find_alpha(confidence, cells)) * np.sqrt(variance)
            # A number of rows is whole, and never below zero.
            ends = np.floor(self.values - far), np.ceil(self.values + far)
            return np.maximum(ends[0], 0.0), np.maximum(ends[1], 0.0)

        return Estimate(np.maximum(np.rint(self.values), 0.0), interval, "noisy count", whole=True)

    def share_of(self, all_rows: "NoisyCounts", *, population: bool) -> NoisyRatio:
        """The shares of others, of which these are parts; sampled ones vary as those of a binomial law."""
        variance, fourth = self.cumulants
        sampled = np.maximum(all_rows.values, 0.0) * population
        square = (
            variance * self.cells,
            variance * self.cells - sampled / 2,
            variance * all_rows.cells - sampled,
        )
        plain = NoisyRatio(self.values, all_rows.values, square, np.zeros_like(self.values), (0.0, 1.0))
        share, rest = plain.values, all_rows.cells - self.cells
        law = fourth * (self.cells * (1 - share) ** 4 + rest * share**4)
        return NoisyRatio(self.values, all_rows.values, square, law, (0.0, 1.0))
