"""The share of a population: the mean of a value that is one of two."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Total
from adomnia.statistics.bernstein import BernsteinSums
from adomnia.statistics.contract import Estimate
from adomnia.statistics.population.contract import PopulationStatistic, scale_mean
from adomnia.statistics.population.sampling import SampledQuotient, Sampling


@dataclass(frozen=True)
class PopulationShare(PopulationStatistic):
    """The mean of a value that is 0 or 1, or another of two whole numbers, in the population, in every cell.

    Method      noisy numbers of rows with either value, measured as one. How far such values scatter follows from the
                share itself, so that every share is tested by its own scatter.
    Guarantee   one measurement at the whole price: a row is in one of both counts.
    Bias        towards one half where the count is all noise.
    Cite        Wilson 1927 (the test of each share); Fieller 1954; docs/proofs/population.md.
    """

    tag: ClassVar[str] = "PopulationShare"
    name: ClassVar[str] = "population AVG"
    query: Query
    degree: int = 1

    def __post_init__(self) -> None:
        if not is_one_of_two(self.total):
            raise ValueError(f"PopulationShare value must be one of two whole numbers, got {self.total.domain}.")

    def from_sums(self, sums: BernsteinSums) -> Estimate:
        rows = sums.rows()
        many = np.maximum(rows.values, 1.0)
        sampling = Sampling(np.zeros_like(many), -many / 2, -many)  # of a share r: many r (1 - r)
        quotient = SampledQuotient(sums.scaled_total(), rows, (rows,), sums.limits, sums.noises, sampling=sampling)
        return scale_mean(sums, quotient.bounds, "share of a sample, from two noisy counts")


def is_one_of_two(total: Total) -> bool:
    """Whether a value is always one of two neighbouring whole numbers."""
    kind, domain = total.value.kind, total.domain
    return isinstance(kind, Quantity) and kind.whole and domain.step == 1 and domain.width == 1
