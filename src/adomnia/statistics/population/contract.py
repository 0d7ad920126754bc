"""What the statistics of a population that follow from sums of one value have in common."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.noise import Integers
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Total
from adomnia.statistics.bernstein import BernsteinSums, bernstein_vector
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measure, Measured
from adomnia.statistics.moments import rounding_of
from adomnia.statistics.one_round import OneRound
from adomnia.statistics.sum import plain_total


class PopulationStatistic(OneRound):
    """A statistic of the population that the rows are a sample of, from noisy sums of polynomials of one value.

    All sums are one vector, in either currency. There is no derivation: formulas take its interval as it is, because
    what they know of noise alone would leave out the sampling.
    """

    of_population: ClassVar[bool] = True
    query: Query
    degree: int

    @property
    def total(self) -> Total:
        """The value whose distribution it is about."""
        return plain_total(self.query, type(self).__name__)

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        return (replace(self.query, aggregate=bernstein_vector((self.total,), self.degree, absent=False)),)

    def estimate(self, *measured: Measured) -> Estimate:
        vector = bernstein_vector((self.total,), self.degree, absent=False)
        return self.from_sums(BernsteinSums((self.total,), self.degree, vector, *measured))

    @abstractmethod
    def from_sums(self, sums: BernsteinSums) -> Estimate:
        """What follows from the noisy sums."""

    def simulate(self, _measure: Measure, rows: int) -> Integers:
        """The sums of so many rows whose values lie evenly between their bounds: there all polynomials are equal."""
        whole = max(1, self.queries[0].aggregate.variables[0].domain.width) ** self.degree  # type: ignore[union-attr]
        return np.array([rows * whole // (self.degree + 1)] * (self.degree + 1), dtype=object)


def size_of(sums: BernsteinSums) -> float:
    """The width of the bounds, in which distances are told."""
    return float(sums.widths[0] * sums.vector.variables[0].domain.step)


def scale_mean(sums: BernsteinSums, bounds: Callable[[float, int], Bounds], method: str) -> Estimate:
    """The estimate of a mean whose bounds are told in widths from the lower end."""
    total, grid = sums.totals[0], sums.vector.variables[0].domain
    rounding, limits = rounding_of(total, grid), (float(total.domain.lower), float(total.domain.upper))

    def number(share: Floats, beside: float = 0.0) -> Floats:
        return np.clip(share * size_of(sums) + float(grid.grid_lower * grid.step) + beside, *limits)

    shares = sums.mean

    def interval(confidence: float, cells: int) -> Bounds:
        lower, upper = bounds(confidence, cells)
        return number(np.minimum(lower, shares), -rounding), number(np.maximum(upper, shares), rounding)

    return Estimate(number(shares), interval, method, limits=limits, about="population")
