"""Covariances and correlations of two columns, from one vector of noisy sums.

The vector holds the products of one Bernstein polynomial of each value (docs/decisions/0020): of degree two, so that
the sampling of a covariance is there too; of degree four for that of a correlation, whose grids are coarse. What
rounding to such a grid adds to a variance is taken off (Sheppard 1898), and the interval allows for twice and for none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb

import numpy as np

from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, stack_estimates, with_values
from adomnia.methods.contract import Arguments, BadArgument, Factor, Frame, NumberColumn, Parameter
from adomnia.methods.parts.describe.noisy_ratios import NoisyRatio, describe_inference, less_one, read_inference
from adomnia.privacy.domains import Numbers
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Total
from adomnia.privacy.vectors import Vector
from adomnia.statistics.bernstein import bernstein_vector
from adomnia.statistics.contract import Estimate, Floats, Measured, ResultTable, name_about
from adomnia.statistics.moments import rounding_of

COVARIANCE, CORRELATION = 2, 4  # the degrees that they are measured with; a correlation of the data alone by the first
_TINY = 1e-12
COLUMNS = Parameter(
    "columns", "columns", "the numbers; all that the rows have, unless some are named", all_columns=True
)
_MOST_COLUMNS = 12
_COMPLETE = define_note("complete_rows_counted", "Only rows that have a value in every column are counted.")


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
    def _grids(self) -> tuple[Numbers, Numbers]:
        """What values were rounded to."""
        one, two = (each.domain for each in pair_vector(self.one, self.two, self.degree).variables)
        return one, two

    @cached_property
    def _widths(self) -> tuple[float, float]:
        first, second = (float(grid.width * grid.step) for grid in self._grids)
        return first, second

    @cached_property
    def _whole(self) -> float:
        return float(np.prod([float(max(1, grid.width)) ** self.degree for grid in self._grids]))

    @property
    def _off(self) -> Floats:
        """How far values may be from their places on the grids, in widths."""
        columns = zip((self.one, self.two), self._grids, self._widths, strict=True)
        return np.array([rounding_of(Total(c.value, c.domain), grid) / (width or 1.0) for c, grid, width in columns])

    @property
    def _added(self) -> tuple[float, float]:
        """What rounding adds to each variance, in squares of widths, if values lie evenly between places."""
        columns = zip((self.one, self.two), self._grids, strict=True)
        first, second = (
            float(grid.step**2 - column.domain.step**2) / 12 / max(float(grid.width * grid.step), _TINY) ** 2
            for column, grid in columns
        )
        return first, second

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
        return self._mean(self.product(first, second))

    def _mean(self, combination: Floats) -> float:
        return float((self.sums * combination).sum() / max(self.rows, 1.0))

    @cached_property
    def _noise(self) -> tuple[float, float]:
        """The variance and the fourth cumulant of the noise of each sum."""
        variance, fourth = self.measured.noise.continuous.cumulants
        return variance / self._whole**2, fourth / self._whole**4

    def _ratio(
        self, top: Floats, bottom: Floats, sampling: tuple[float, float, float], limits: tuple[float, float]
    ) -> NoisyRatio:
        """The quotient of two combinations of the sums; `sampling` is the variance of one row's part in the error."""
        variance, fourth = self._noise
        sampled = max(self.rows, 1.0) * self.population
        noises = ((top * top).sum(), (top * bottom).sum(), (bottom * bottom).sum())
        a, b, c = (np.array([variance * noise + sampled * each]) for noise, each in zip(noises, sampling, strict=True))
        over, under = np.array([(self.sums * top).sum()]), np.array([(self.sums * bottom).sum()])
        plain = NoisyRatio(over, under, (a, b, c), np.zeros(1), limits)
        fourths = fourth * ((top - plain.values * bottom) ** 4).sum(keepdims=True).ravel()
        return NoisyRatio(over, under, (a, b, c), fourths, limits)

    def covariance(self) -> Estimate:
        """The covariance of a sample, within what is possible between the bounds."""
        sampling = max(self.moment(2, 2) - self.moment(1, 1) ** 2, 0.0)
        ratio = self._ratio(self.product(1, 1), np.ones_like(self.sums), (sampling, 0.0, 0.0), (-0.25, 0.25))
        scale = self._widths[0] * self._widths[1] * less_one(self.rows)
        (one, two), (first, second) = np.sqrt(np.maximum((self.moment(2, 0), self.moment(0, 2)), 0.0)), self._off
        rounding = float(first * (two + second) + second * one)
        return ratio.estimate("noisy sums of products / noisy count", scale, rounding=scale * rounding)

    def correlation(self) -> Estimate:
        """The correlation: the covariance over the mean of both variances, once their units make them equal.

        Where a variance is lost in noise, so is the correlation, and nothing is said of it.
        """
        added = self._added if self.population else (0.0, 0.0)
        squares = self.product(2, 0) - added[0], self.product(0, 2) - added[1]
        spreads = self.moment(2, 0) - added[0], self.moment(0, 2) - added[1]
        unit = float(np.sqrt(max(spreads[1], _TINY) / max(spreads[0], _TINY)))
        bottom = (unit * squares[0] + squares[1] / unit) / 2
        top, limits, sampling = self.product(1, 1), (-1.0, 1.0), (0.0, 0.0, 0.0)
        found = self._ratio(top, bottom, sampling, limits)
        if self.population and found.bottom[0] > 0:
            sampling = self._correlation_sampling(unit, added, found)
            found = self._ratio(top, bottom, sampling, limits)
        if min(spreads) <= 0:
            found = NoisyRatio(found.top, np.zeros(1), found.variance, found.fourth, found.limits)
        inner = np.maximum(spreads, _TINY)
        # The angle between two columns turns by no more than what rounding does to the direction of each.
        turned = np.arcsin(np.minimum(self._off / np.sqrt(inner), 1.0)).sum()
        rounding = np.abs(found.values[0]) * (added / inner).sum() / 2 if self.population else turned
        return found.estimate("noisy covariance / root of the noisy variances", rounding=min(float(rounding), 2.0))

    def _correlation_sampling(
        self, unit: float, added: tuple[float, float], plain: NoisyRatio
    ) -> tuple[float, float, float]:
        """The second moments of one row's parts in the numerator and in the divisor of a correlation.

        Noise hides fourth moments long before it hides second ones, and may leave less than nothing of them. Then they
        are drawn towards those of normal values, which differ from them by their own size or so: with the weights of
        least squared error (James & Stein 1961), by the variance of the noise. What they say of heavy tails stands.
        """
        parts, value = self._correlation_parts(unit, added), float(plain.values[0])
        spread = max((self.moment(2, 0) - added[0]) * (self.moment(0, 2) - added[1]), 0.0)
        found = np.array([self._mean(part) for part in parts])
        (noise, _), rows = self._noise, max(self.rows, 1.0)
        a, b, c = (float(each[0]) for each in plain.variance)
        # What noise adds to the square of a correlation is no part of it.
        beside = (a - 2 * b * value + c * value**2) / float(plain.bottom[0]) ** 2
        r = np.sign(value) * np.sqrt(max(value**2 - beside, 0.0))
        normal = spread * np.array([1 + 2 * r**2, 3 * r, 2 + r**2])
        powers = np.array([1.0, -2 * value, value**2])
        expected = rows * float(powers @ normal)
        hidden = noise * float((np.tensordot(powers, parts, 1) ** 2).sum())
        weight = expected**2 / max(expected**2 + hidden, _TINY) if rows * float(powers @ found) < expected else 1.0
        straight, inclined, square = (weight * found + (1 - weight) * normal).tolist()
        return straight, inclined, square

    def _correlation_parts(self, unit: float, added: tuple[float, float]) -> Floats:
        """The combinations of the sums that these moments are the means of."""
        (one, two), crossed = added, self.product(1, 1)
        straight = self.product(2, 2)
        inclined = self.product(3, 1) - one * crossed, self.product(1, 3) - two * crossed
        first = self.product(4, 0) - 2 * one * self.product(2, 0) + one**2
        second = self.product(0, 4) - 2 * two * self.product(0, 2) + two**2
        both = straight - one * self.product(0, 2) - two * self.product(2, 0) + one * two
        square = (unit**2 * first + 2 * both + second / unit**2) / 4
        return np.stack([straight, (unit * inclined[0] + inclined[1] / unit) / 2, square])


@dataclass(frozen=True)
class PairMatrix(SingleRound):
    """A number for each pair of columns, each pair with an equal part of the price."""

    relation: Relation
    by: tuple[Factor, ...]
    columns: tuple[NumberColumn, ...]
    population: bool

    def pair_queries(self, degree: int) -> tuple[Query, ...]:
        """The sums of each pair, in the order of `combinations`."""
        keys = keys_of(*self.by)
        pairs = combinations(self.columns, 2)
        return tuple(Query(self.relation, keys, pair_vector(one, two, degree)) for one, two in pairs)

    def fill(self, diagonal: Sequence[Estimate], pairs: Sequence[Estimate]) -> ResultTable:
        """The whole matrix, row by row."""
        places = range(len(self.columns))
        found = dict(zip(combinations(places, 2), pairs, strict=True))
        found |= {(place, place): each for place, each in enumerate(diagonal)}
        cells = list(product(places, repeat=2))
        names = [column.name for column in self.columns]
        return ResultTable(
            {"column": tuple(names[one] for one, _ in cells), "other": tuple(names[two] for _, two in cells)},
            {"estimate": stack_estimates([found[min(cell), max(cell)] for cell in cells])},
            (describe_inference(population=self.population), _COMPLETE),
            {"kind": "heat", "x": "column", "y": "other", "value": "estimate"},
            about=name_about(population=self.population),
        )


def read_matrix(
    frame: Frame, arguments: Arguments, name: str
) -> tuple[Relation, tuple[Factor, ...], tuple[NumberColumn, ...], bool]:
    """The fields that both have."""
    columns = arguments["columns"] or tuple(frame.numbers.values())
    if not 2 <= len(columns) <= _MOST_COLUMNS:
        raise BadArgument("columns", f"are {len(columns)}", f"name 2 to {_MOST_COLUMNS} columns of numbers with bounds")
    relation = with_values(frame.relation, *(column.value for column in columns))
    return relation, arguments["by"], columns, read_inference(frame, arguments, name)


def equal_parts(queries: Sequence[Query]) -> tuple[tuple[Query, Fraction], ...]:
    """Queries with equal parts of the price."""
    return tuple((query, Fraction(1, len(queries))) for query in queries)
