"""Noisy sums of a column's values and squares in each group, and what they would be of simulated people.

Values are scaled to z between -1 and 1. What is measured are three Bernstein sums, which a row moves by 1 in L1 and in
L2; the number of rows and the sums of z and z**2 are combinations of them with coefficients of -1, 0 and 1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adomnia.distributions.fieller import fieller
from adomnia.distributions.simulations import Generator, draw_again
from adomnia.methods.contract import NumberColumn
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Total
from adomnia.statistics.bernstein import bernstein_vector
from adomnia.statistics.contract import Bounds, Floats, Measured

_CLEAR = 2.0  # standard deviations of its noise that a sum of squares must exceed
_TINY = 1e-300
_LEAST_FREEDOM = 0.5  # of the variance of a row or less
_FEW = 0.02  # of the draws

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
        spare = np.maximum(self.rows - 1, 1.0)
        found: Floats = np.clip(self._about_means(self.sums) / spare, 0.0, self.rows / spare)
        return found

    def _about_means(self, sums: Floats) -> Floats:
        """The sums of (z - mean)**2 about the means here; of noise, what it adds to them."""
        count, total, squares = np.moveaxis(sums, -1, 0)
        found: Floats = squares - 2 * self.means * total + self.means**2 * count
        return found

    @cached_property
    def errors(self) -> Floats:
        """The squared standard errors of the means: sampling and noise together."""
        return self.variances / self.rows + self._noise_about(self.means) / self.rows**2

    def studentize(self, means: Floats | float) -> Floats:
        """How many standard errors the sum of z is above that of other means. Linear in the noise: no ratio."""
        off = self.sums[..., 1] - means * self.sums[..., 0]
        return off / self.standard_errors(means)

    def standard_errors(self, means: Floats | float) -> Floats:
        """Those of the sums of z."""
        return np.sqrt(np.maximum(self.rows * self.variances + self._noise_about(means), _TINY))

    def allow(self, noise: Floats, generator: Generator) -> tuple[Floats, Floats]:
        """The sums of squares about the means that so much noise allows for, and the noise that goes with each.

        What was measured, less the noise: drawn again where that is below zero. A variance that is lost in noise is
        then taken for any that is possible, and not for none.
        """
        left = self._about_means(self.sums) - self._about_means(noise)
        places = np.stack([_draw_possible(each, generator) for each in left.T], axis=-1)
        kept: Floats = np.take_along_axis(noise, places[..., None], axis=0)
        return np.clip(np.take_along_axis(left, places, axis=0), 0.0, self.rows), kept

    def deviate(self, noise: Floats, means: Floats, generator: Generator) -> Floats:
        """How far the sum of z would be from that of these means, in standard errors: by sampling and noise.

        Of groups on the last axis. Without noise it is Student's t: variances follow from the one that was measured.
        """
        squares, kept = self.allow(noise, generator)
        freedom = np.maximum(self.rows - 1, _LEAST_FREEDOM)
        variances = squares / (2 * generator.standard_gamma(np.broadcast_to(freedom / 2, squares.shape)) + _TINY)
        chance = np.sqrt(self.rows * np.minimum(variances, 1.0)) * generator.standard_normal(squares.shape)
        off: Floats = chance + kept[..., 1] - means * kept[..., 0]
        return off / self.standard_errors(means)

    def mean_intervals(self, distances: Floats | float) -> Bounds:
        """The means that are at most so many standard errors off: Fieller's sets, all of [-1, 1] where unbounded.

        Cite        Fieller 1954.
        """
        variance = self.rows * self.variances + 2 * self.noise, 0.0, 3 * self.noise
        lower, upper = fieller(self.sums[..., 1], self.sums[..., 0], variance, distances)
        return np.clip(lower, -1.0, 1.0), np.clip(upper, -1.0, 1.0)

    @property
    def noise_of_squares(self) -> Floats:
        """The variance of the noise in the sum of (z - mean)**2."""
        mean = self.means
        found: Floats = self.noise * ((1 + mean) ** 4 + (1 - mean**2) ** 2 + (1 - mean) ** 4)
        return found

    @property
    def lost(self) -> bool:
        """Whether a variance is not clearly more than its noise."""
        return bool((self.rows * self.variances < _CLEAR * np.sqrt(self.noise_of_squares)).any())

    def _noise_about(self, means: Floats | float) -> Floats:
        """The variance of the noise in the sum of z - mean: the squares of 1 + mean, mean and 1 - mean."""
        return self.noise * (2 + 3 * np.square(means))


def _draw_possible(values: Floats, generator: Generator) -> NDArray[np.intp]:
    """Places of values, each its own, or drawn from those that are not below zero; from the highest if few are."""
    possible = np.flatnonzero(values >= 0)
    least = max(1, int(_FEW * len(values)))
    if len(possible) < least:
        possible = np.argsort(values)[-least:]
    places = np.arange(len(values))
    drawn = possible[generator.integers(0, len(possible), len(values))]
    return np.asarray(np.where(values >= 0, places, drawn), dtype=np.intp)


def read_moments(query: Query, measured: Measured) -> GroupMoments:
    """The noisy sums that were measured, in rows."""
    whole = _whole(query)
    return GroupMoments(
        np.asarray(measured.values, dtype=np.float64) @ COMBINED / whole, measured.noise.cumulants.variance / whole**2
    )


@dataclass(frozen=True)
class SimulatedPeople:
    """Simulated groups: so many rows each, of normal numbers with these means and variances of z, or of each draw."""

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
        return GroupMoments(
            exact + draw_noise(query, measured, generator, shape),
            measured.noise.cumulants.variance / _whole(query) ** 2,
        )


def draw_noise(query: Query, measured: Measured, generator: Generator, shape: tuple[int, ...]) -> Floats:
    """Fresh noise of rows, of the sums of z and of z**2."""
    found: Floats = draw_again(measured.noise, generator, (*shape, 3)) @ COMBINED / _whole(query)
    return found


def _whole(query: Query) -> float:
    """What the three sums of a row add up to."""
    width: int = max(1, query.aggregate.variables[0].domain.width)  # type: ignore[union-attr]  # it is a vector
    return float(width**2)
