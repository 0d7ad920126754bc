"""Noisy sums of a column's values and squares in each group, and what they would be of simulated people.

Values are scaled to z between -1 and 1. What is measured are three Bernstein sums, which a row moves by 1 in L1 and in
L2; the number of rows and the sums of z and z**2 are combinations of them with coefficients of -1, 0 and 1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adomnia.methods.contract import NumberColumn
from adomnia.methods.testing.fresh_noise import Generator, draw_again, variance_of
from adomnia.privacy.aggregates import Total
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.bernstein import bernstein_vector
from adomnia.statistics.contract import Bounds, Floats, Measured

# Of the sums of (1 - u)**2, 2 u (1 - u) and u**2, where z = 2 u - 1: the number of rows, the sums of z and of z**2.
COMBINED = np.array([[1.0, -1.0, 1.0], [1.0, 0.0, -1.0], [1.0, 1.0, 1.0]])


def moment_query(relation: Relation, keys: tuple[Key, ...], column: NumberColumn) -> Query:
    """The sums of a column in every cell of the keys."""
    return Query(relation, keys, bernstein_vector((Total(column.value, column.domain),), 2, absent=False))


@dataclass(frozen=True)
class Scale:
    """How z between -1 and 1 stands for the values of a column."""

    middle: float
    half: float

    @classmethod
    def of(cls, column: NumberColumn) -> "Scale":
        """That of a column, between the ends of its grid."""
        domain = column.domain
        return cls(
            float((domain.grid_lower + domain.grid_upper) * domain.step / 2), float(domain.width * domain.step / 2)
        )

    def to_values(self, z: Floats) -> Floats:
        """Numbers z as values."""
        return self.middle + self.half * z

    def to_z(self, value: float) -> float:
        """A value as z."""
        return (value - self.middle) / self.half


@dataclass(frozen=True)
class GroupMoments:
    """Noisy (rows, sum of z, sum of z**2) on the last axis, of groups on the one before; leading axes are draws.

    `noise` is the variance of each of the sums that were measured. Nothing here divides by less than one row.
    """

    sums: Floats
    noise: float

    @cached_property
    def rows(self) -> Floats:
        """Rows of each group, at least 1."""
        found: Floats = np.maximum(self.sums[..., 0], 1.0)
        return found

    @cached_property
    def means(self) -> Floats:
        """The mean of z; noise may put it beyond its bounds, where tests leave it: cut, it would seem less noisy."""
        found: Floats = self.sums[..., 1] / self.rows
        return found

    @cached_property
    def variances(self) -> Floats:
        """The sample variance of z: not below 0, and not above that of two clusters at the ends."""
        count, total, squares = np.moveaxis(self.sums, -1, 0)
        about = squares - 2 * self.means * total + self.means**2 * count
        spare = np.maximum(self.rows - 1, 1.0)
        found: Floats = np.clip(about / spare, 0.0, self.rows / spare)
        return found

    @cached_property
    def errors(self) -> Floats:
        """The squared standard errors of the means: sampling and noise together."""
        return self.variances / self.rows + self._noise_about(self.means) / self.rows**2

    def studentize(self, means: Floats | float) -> Floats:
        """How many standard errors the sum of z is above that of other means. Linear in the noise: no ratio."""
        off = self.sums[..., 1] - means * self.sums[..., 0]
        return off / np.sqrt(np.maximum(self.rows * self.variances + self._noise_about(means), 1e-300))

    def mean_intervals(self, distances: Floats | float) -> Bounds:
        """The means that are at most so many standard errors off: Fieller's sets, all of [-1, 1] where unbounded.

        Cite        Fieller 1954.
        """
        reach = np.asarray(distances) ** 2
        square = self.sums[..., 0] ** 2 - 3 * reach * self.noise
        linear = self.sums[..., 0] * self.sums[..., 1]
        level = self.sums[..., 1] ** 2 - reach * (self.rows * self.variances + 2 * self.noise)
        bounded = (square > 0) & (self.sums[..., 0] > 0)
        inner = np.where(bounded, square, 1.0)
        root = np.sqrt(np.maximum(linear**2 - inner * level, 0.0))
        lower, upper = (np.clip((linear + sign * root) / inner, -1.0, 1.0) for sign in (-1, 1))
        return np.where(bounded, lower, -1.0), np.where(bounded, upper, 1.0)

    @property
    def noise_of_squares(self) -> float:
        """The variance of the noise in the sum of (z - mean)**2."""
        mean = float(self.means)
        return self.noise * ((1 + mean) ** 4 + (1 - mean**2) ** 2 + (1 - mean) ** 4)

    def _noise_about(self, means: Floats | float) -> Floats:
        """The variance of the noise in the sum of z - mean: the squares of 1 + mean, mean and 1 - mean."""
        return self.noise * (2 + 3 * np.square(means))


def read_moments(query: Query, measured: Measured) -> GroupMoments:
    """The noisy sums that were measured, in rows."""
    whole = _whole(query)
    return GroupMoments(
        np.asarray(measured.values, dtype=np.float64) @ COMBINED / whole, variance_of(measured.noise) / whole**2
    )


@dataclass(frozen=True)
class SimulatedPeople:
    """Simulated groups: so many rows each, of normal numbers with these means and variances of z."""

    rows: Floats
    means: Floats
    variances: Floats

    def measure(self, query: Query, measured: Measured, generator: Generator, draws: int) -> GroupMoments:
        """What would be measured of them, so many times."""
        shape = (draws, *self.rows.shape)
        rows = np.broadcast_to(self.rows, shape)
        total = rows * self.means + np.sqrt(rows * self.variances) * generator.standard_normal(shape)
        about = self.variances * 2 * generator.standard_gamma(np.broadcast_to(np.maximum(rows - 1, 0) / 2, shape))
        exact = np.stack([rows, total, about + total**2 / np.maximum(rows, 1.0)], axis=-1)
        whole = _whole(query)
        noise = draw_again(measured.noise, generator, (*shape, 3)) @ COMBINED / whole
        return GroupMoments(exact + noise, variance_of(measured.noise) / whole**2)


def _whole(query: Query) -> float:
    """What the three sums of a row add up to."""
    width: int = max(1, query.aggregate.variables[0].domain.width)  # type: ignore[union-attr]  # it is a vector
    return float(width**2)
