"""Covariances and correlations of two columns, from one vector of noisy sums.

The vector holds the products of one Bernstein polynomial of each value (docs/decisions/0020): of degree two, so that
the sampling of a covariance is there too; of degree four for that of a correlation.
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from adomnia.methods.contract import NumberColumn
from adomnia.methods.describe.error_laws import noise_cumulants
from adomnia.methods.describe.noisy_ratios import NoisyRatio
from adomnia.privacy.aggregates import Total
from adomnia.privacy.vectors import Vector
from adomnia.statistics.bernstein import bernstein_vector
from adomnia.statistics.contract import Estimate, Floats, Measured

COVARIANCE, CORRELATION = 2, 4  # the degrees that they are measured with
_TINY = 1e-12


def pair_vector(one: NumberColumn, two: NumberColumn, degree: int) -> Vector:
    """What is measured of a pair."""
    return bernstein_vector((Total(one.value, one.domain), Total(two.value, two.domain)), degree, False)


@dataclass(frozen=True)
class PairSums:
    """The noisy sums of one pair of columns: what follows from them about the population, or about the data alone."""

    one: NumberColumn
    two: NumberColumn
    degree: int
    measured: Measured  # with no axes but that of the vector
    population: bool

    @cached_property
    def _widths(self) -> tuple[float, float]:
        grids = (each.domain for each in pair_vector(self.one, self.two, self.degree).variables)
        first, second = (float(grid.width * grid.step) for grid in grids)
        return first, second

    @cached_property
    def _whole(self) -> float:
        grids = (each.domain for each in pair_vector(self.one, self.two, self.degree).variables)
        return float(np.prod([float(max(1, grid.width)) ** self.degree for grid in grids]))

    @cached_property
    def sums(self) -> Floats:
        """The noisy sums of products that add up to one, with an axis for each column."""
        side = self.degree + 1
        return np.asarray(self.measured.values, dtype=np.float64).reshape(side, side) / self._whole

    @property
    def rows(self) -> float:
        """How many rows have both values, with noise."""
        return float(self.sums.sum())

    def _power(self, power: int) -> Floats:
        return np.array([comb(k, power) / comb(self.degree, power) for k in range(self.degree + 1)])

    def _about(self, mean: float, power: int) -> Floats:
        """The coefficients of (u - mean)**power over the polynomials of one value."""
        return np.asarray(sum(comb(power, j) * (-mean) ** (power - j) * self._power(j) for j in range(power + 1)))

    @cached_property
    def _means(self) -> tuple[float, float]:
        """The mean of each value between the ends of its grid, near the middle where the rows are all noise."""
        rows, off = max(self.rows, 1.0), self._power(1) - 0.5
        first, second = self.sums.sum(axis=1) @ off, self.sums.sum(axis=0) @ off
        return float(np.clip(0.5 + first / rows, 0.0, 1.0)), float(np.clip(0.5 + second / rows, 0.0, 1.0))

    def product(self, first: int, second: int) -> Floats:
        """The coefficients of the product of powers of both distances from the means."""
        return np.outer(self._about(self._means[0], first), self._about(self._means[1], second))

    def moment(self, first: int, second: int) -> float:
        """The mean of such a product."""
        return float((self.sums * self.product(first, second)).sum() / max(self.rows, 1.0))

    def _ratio(
        self, top: Floats, bottom: Floats, sampling: tuple[float, float, float], limits: tuple[float, float]
    ) -> NoisyRatio:
        """The quotient of two combinations of the sums; `sampling` is the variance of one row's part in the error."""
        variance, fourth = noise_cumulants(self.measured)
        variance, fourth = variance / self._whole**2, fourth / self._whole**4
        sampled = max(self.rows, 1.0) * self.population
        noises = ((top * top).sum(), (top * bottom).sum(), (bottom * bottom).sum())
        a, b, c = (np.array([variance * noise + sampled * each]) for noise, each in zip(noises, sampling, strict=True))
        over, under = np.array([(self.sums * top).sum()]), np.array([(self.sums * bottom).sum()])
        plain = NoisyRatio(over, under, (a, b, c), np.zeros(1), limits)
        law = fourth * ((top - plain.values * bottom) ** 4).sum(keepdims=True).ravel()
        return NoisyRatio(over, under, (a, b, c), law, limits)

    def covariance(self) -> Estimate:
        """The covariance, within what is possible between the bounds."""
        sampling = max(self.moment(2, 2) - self.moment(1, 1) ** 2, 0.0)
        ratio = self._ratio(self.product(1, 1), np.ones_like(self.sums), (sampling, 0.0, 0.0), (-0.25, 0.25))
        return ratio.estimate("noisy sums of products / noisy count", self._widths[0] * self._widths[1])

    def correlation(self) -> Estimate:
        """The correlation: the covariance over the mean of both variances, once their units make them equal.

        Where a variance is lost in noise, so is the correlation, and nothing is said of it.
        """
        spreads = self.moment(2, 0), self.moment(0, 2)
        unit = float(np.sqrt(max(spreads[1], _TINY) / max(spreads[0], _TINY)))
        bottom = (unit * self.product(2, 0) + self.product(0, 2) / unit) / 2
        straight = max(self.moment(2, 2), 0.0)
        cross = (unit * self.moment(3, 1) + self.moment(1, 3) / unit) / 2
        square = (unit**2 * self.moment(4, 0) + 2 * straight + self.moment(0, 4) / unit**2) / 4
        found = self._ratio(self.product(1, 1), bottom, (straight, cross, max(square, 0.0)), (-1.0, 1.0))
        if min(spreads) <= 0:
            found = NoisyRatio(found.top, np.zeros(1), found.variance, found.fourth, found.limits)
        return found.estimate("noisy covariance / root of the noisy variances")
