"""Number of rows, mean and standard deviation of a column, from one vector of noisy sums.

The vector holds the Bernstein polynomials of the value, which add up to one in every row (docs/decisions/0020): of
degree four, so that the fourth moment is there too, which tells how exact a sample's standard deviation is; of degree
two where only the mean is asked for.
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from adomnia.methods.parts.describe.noisy_ratios import NoisyCounts, NoisyRatio, less_one
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.scans import Total
from adomnia.privacy.vectors import Vector
from adomnia.statistics.bernstein import bernstein_vector
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured
from adomnia.statistics.moments import rounding_of

SPREAD = 4  # the degree that a standard deviation is measured with
MEAN = 2  # and a mean


def column_vector(value: Expression, domain: Numbers, degree: int, *, absent: bool) -> Vector:
    """What is measured of a column; `absent`: and the number of rows without the value."""
    return bernstein_vector((Total(value, domain),), degree, absent)


@dataclass(frozen=True)
class ColumnSums:
    """The noisy sums of one column: what follows from them about the population, or about the data alone."""

    value: Expression
    domain: Numbers
    degree: int
    measured: Measured  # with no axes but that of the vector
    population: bool

    @cached_property
    def grid(self) -> Numbers:
        """The grid that values were rounded to."""
        return column_vector(self.value, self.domain, self.degree, absent=False).variables[0].domain

    @property
    def _whole(self) -> float:
        return float(max(1, self.grid.width) ** self.degree)

    @cached_property
    def sums(self) -> Floats:
        """The noisy sums of polynomials that add up to one."""
        return np.asarray(self.measured.values[: self.degree + 1], dtype=np.float64) / self._whole

    @property
    def cumulants(self) -> tuple[float, float]:
        """Of the noise on each of these sums."""
        variance, fourth = self.measured.noise.continuous.cumulants
        return variance / self._whole**2, fourth / self._whole**4

    @property
    def rows(self) -> float:
        """How many rows have a value, with noise."""
        return float(self.sums.sum())

    def count(self) -> Estimate:
        """The same as an estimate."""
        return self._number(self.rows, self.degree + 1)

    def missing(self) -> Estimate:
        """How many rows have none."""
        return self._number(float(self.measured.values[self.degree + 1]) / self._whole, 1)

    def _number(self, found: float, noises: int) -> Estimate:
        return NoisyCounts(np.array([found]), np.array([float(noises)]), self.cumulants).estimate()

    def _power(self, power: int) -> Floats:
        """The coefficients of u**power over the polynomials."""
        return np.array([comb(k, power) / comb(self.degree, power) for k in range(self.degree + 1)])

    def _about_mean(self, power: int) -> Floats:
        """The coefficients of (u - mean)**power."""
        signs = (comb(power, j) * (-self.mean_share) ** (power - j) * self._power(j) for j in range(power + 1))
        return np.asarray(sum(signs))

    @cached_property
    def mean_share(self) -> float:
        """The mean, as a part of the way between the ends of the grid."""
        return float(np.clip(0.5 + self.sums @ (self._power(1) - 0.5) / max(self.rows, 1.0), 0.0, 1.0))

    def central(self, power: int) -> float:
        """A central moment, within what is possible between 0 and 1."""
        return float(np.clip(self.sums @ self._about_mean(power) / max(self.rows, 1.0), 0.0, 0.5**power))

    def _ratio(self, top: Floats, sampling: float, limits: tuple[float, float]) -> NoisyRatio:
        """The quotient of a combination of the sums and the number of rows; `sampling` is the variance of one row."""
        variance, fourth = self.cumulants
        sampled = max(self.rows, 1.0) * sampling if self.population else 0.0
        over, under = np.array([self.sums @ top]), np.array([self.rows])
        a, b, c = (
            np.array([each]) for each in (variance * top @ top + sampled, variance * top.sum(), variance * len(top))
        )
        plain = NoisyRatio(over, under, (a, b, c), np.zeros(1), limits)
        fourths = fourth * ((top - plain.values) ** 4).sum(keepdims=True)
        return NoisyRatio(over, under, (a, b, c), fourths, limits)

    def mean_ratio(self) -> NoisyRatio:
        """The mean between the ends of the grid, from 0 to 1."""
        return self._ratio(self._power(1), self.central(2), (0.0, float(self.grid.width > 0)))

    def mean(self) -> Estimate:
        """The mean."""
        return self.mean_ratio().estimate("noisy sum / noisy count", self.scale, self.offset, self.rounding)

    def _variance_ratio(self) -> NoisyRatio:
        sampling = max(self.central(4) - self.central(2) ** 2, 0.0)
        return self._ratio(self._about_mean(2), sampling, (0.0, 0.25))

    def variance(self) -> Estimate:
        """The variance of a sample."""
        found, scale = self._variance_ratio(), self.scale**2 * less_one(self.rows)
        off = self.rounding / self.scale if self.scale else 0.0
        rounding = off * (2 * float(np.sqrt(found.values[0])) + off)
        return found.estimate("noisy sum of squares / noisy count", scale, rounding=scale * rounding)

    def deviation(self) -> Estimate:
        """The standard deviation."""
        found = self._variance_ratio()

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = found.bounds(confidence, cells)
            ends = self.scale * np.sqrt(lower) - self.rounding, self.scale * np.sqrt(upper) + self.rounding
            return np.maximum(ends[0], 0.0), np.minimum(ends[1], self.scale / 2)

        return Estimate(
            self.scale * np.sqrt(found.values), interval, "root of the noisy variance", limits=(0.0, self.scale / 2)
        )

    @property
    def scale(self) -> float:
        """The width of the grid."""
        return float(self.grid.width * self.grid.step)

    @property
    def offset(self) -> float:
        """Its lower end."""
        return float(self.grid.grid_lower * self.grid.step)

    @property
    def rounding(self) -> float:
        """How far a value may be from its place on the grid."""
        return rounding_of(Total(self.value, self.domain), self.grid)
