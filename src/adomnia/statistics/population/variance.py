"""How far the values of a population lie apart."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adomnia.distributions.quotients import Noisy, combine
from adomnia.privacy.queries import Query
from adomnia.statistics.bernstein import BernsteinSums
from adomnia.statistics.contract import Bounds, Estimate, Floats
from adomnia.statistics.moments import rounding_of
from adomnia.statistics.population.contract import PopulationStatistic, size_of
from adomnia.statistics.population.sampling import SampledQuotient, Sampling, raise_variance
from adomnia.statistics.variance import VARIANCES

_DEGREE = 4


@dataclass(frozen=True)
class PopulationVariance(PopulationStatistic):
    """The variance or standard deviation of a bounded expression in the population, in every cell.

    Method      noisy sums of polynomials of degree 4, measured as one: squares about the mean give the variance, their
                own scatter gives its interval. That scatter is measured and not supposed to be that of normal values;
                it is raised by half of what noise and bounds allow it to be off by, so that heavy tails are covered.
    Guarantee   one measurement at the whole price: a row moves all sums together by as much as one count.
    Bias        clamping; a variance below zero is zero.
    Cite        Fieller 1954 (the interval of a quotient); Bhatia & Davis 2000; docs/proofs/population.md.
    """

    tag: ClassVar[str] = "PopulationVariance"
    query: Query
    function: str
    degree: int = _DEGREE

    def __post_init__(self) -> None:
        if self.function not in VARIANCES or self.degree < _DEGREE or not self.total:
            raise ValueError(f"PopulationVariance function must be one of {', '.join(VARIANCES)}, got {self.function}.")

    @property
    def name(self) -> str:
        return f"population {self.function}"

    def from_sums(self, sums: BernsteinSums) -> Estimate:
        rows, squares = sums.rows(less=1), _with_rounding(sums)
        many, mean = np.maximum(rows.values, 1.0), sums.mean
        highest = mean * (1 - mean)
        variance = np.clip(squares.values / many, 0.0, highest)
        fourth = sums.powers_about_mean(4)
        about = combine((fourth, np.ones_like(many)), (squares, -2 * variance), (sums.rows(), np.square(variance)))
        farthest = np.square(np.maximum(mean, 1 - mean))
        most = many * variance * np.maximum(farthest - variance, 0.0)
        scatter = raise_variance(about, sums.noises, np.square(farthest), most)
        nothing = np.zeros_like(many)
        sampling = Sampling(scatter, nothing, nothing, rows.values + 1)
        quotient = SampledQuotient(squares, rows, (rows,), (0.0, 0.25), sums.noises, sampling=sampling)
        return self._scale(quotient, size_of(sums))

    def _scale(self, quotient: SampledQuotient, size: float) -> Estimate:
        rooted = self.function.startswith("STDDEV")

        def number(squares: Floats) -> Floats:
            return np.sqrt(squares) * size if rooted else squares * size**2

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = quotient.bounds(confidence, cells)
            return number(lower), number(upper)

        method = "variance of a sample, from noisy sums of powers"
        told = f"root of the {method}" if rooted else method
        least, most = map(float, number(np.array(quotient.limits)))
        return Estimate(number(quotient.values), interval, told, limits=(least, most), about="population")


def _with_rounding(sums: BernsteinSums) -> Noisy:
    """Squares about the mean in widths, and how far rounding to the grid may have moved their sum."""
    found, off = sums.powers_about_mean(2), rounding_of(sums.totals[0], sums.vector.variables[0].domain) / size_of(sums)
    spread = np.sqrt(sums.mean * (1 - sums.mean))
    return Noisy(found.values, found.weights, off * (2 * spread + off) * np.maximum(sums.rows().values, 1.0))
