"""The mean of a population."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adomnia.privacy.queries import Query
from adomnia.statistics.bernstein import BernsteinSums
from adomnia.statistics.contract import Estimate
from adomnia.statistics.population.contract import PopulationStatistic, scale_mean
from adomnia.statistics.population.sampling import SampledQuotient, Sampling, raise_variance


@dataclass(frozen=True)
class PopulationMean(PopulationStatistic):
    """The mean of a bounded expression in the population that the rows of every cell are a sample of.

    Method      noisy sums of polynomials of the value, of degree 2 or more, measured as one: they give the number of
                values, their mean and how far they scatter; noise and scatter together give the interval.
    Guarantee   one measurement at the whole price: a row moves all sums together by as much as one count.
    Bias        clamping; towards the middle of the bounds where the count is all noise.
    Cite        Fieller 1954 (the interval of a quotient); Student 1908 and Satterthwaite 1946 (few rows); Bhatia &
                Davis 2000 (how far values between bounds scatter); docs/proofs/population.md.
    """

    tag: ClassVar[str] = "PopulationMean"
    name: ClassVar[str] = "population AVG"
    query: Query
    degree: int = 2

    def __post_init__(self) -> None:
        if self.total and self.degree < 2:
            raise ValueError(f"PopulationMean degree must be at least 2, got {self.degree}.")

    def from_sums(self, sums: BernsteinSums) -> Estimate:
        rows, mean, squares = sums.rows(), sums.mean, sums.powers_about_mean(2)
        many = np.maximum(rows.values, 1.0)
        farthest = np.square(np.maximum(mean, 1 - mean))
        scatter = raise_variance(squares, sums.noises, farthest, many * mean * (1 - mean))
        nothing = np.zeros_like(many)
        sampling = Sampling(scatter, nothing, nothing, rows.values)
        quotient = SampledQuotient(sums.scaled_total(), rows, (rows,), sums.limits, sums.noises, sampling=sampling)
        return scale_mean(sums, quotient.bounds, "mean of a sample, from noisy sums of values and squares")
