"""Means of a response in bins of a column, smoothed after the noise: what nonparametric regressions are made of.

Every bin has the Bernstein polynomials of the response of degree two, which add up to one in every row: a person moves
all sums of all bins by 1 in L1. They tell the number of rows, the sum of the response and that of its squares.

A smoothed mean is r = sum w s / sum w n, of the noisy sums s and numbers n of bins with weights w. If r is right, then
sum w (s - r n) is an error of mean zero. Its variance is that of the noise and, about a population, that of the rows,
sum w**2 (q - 2 r s + r**2 n), where q are the sums of squares. All r that it allows for are the interval.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.column_bins import ColumnBins
from adomnia.methods.contract import Arguments, BadArgument, NumberColumn, Parameter
from adomnia.methods.parts.describe.noisy_ratios import NoisyRatio
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Total
from adomnia.privacy.vectors import Vector
from adomnia.statistics.bernstein import bernstein_vector
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured

_DEGREE = 2
_SUM, _SQUARE = np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0, 1.0])  # of a share of the way between the bounds
_SEEN = 2.5  # standard deviations of noise that the rows around a point must exceed, and
_FEWEST = 0.5  # rows
_FEWEST_FREEDOM = 1.0
METHOD = "noisy sum / noisy count, smoothed"

UNSEEN = NoteTemplate(
    "gap",
    "Not estimable where too few rows are seen above the noise: a gap in {column}, or too few people for the price. A "
    "higher price, or a wider average, helps.",
)
MOST_POINTS = 200
_OF_POPULATION = NoteTemplate(
    "curve_of_population",
    "Intervals are about {what}, of the population that the people are a sample of. Each holds by itself.",
)
_OF_DATA = NoteTemplate("curve_of_data", "Intervals are about {what}, of the people in the data. Each holds by itself.")
RESPONSE = Parameter("y", "column", "the column whose mean is told", required=True)
VALUE = Parameter("x", "column", "the column that it is told for each value of", required=True)
POINTS = Parameter(
    "points", "integer", "at how many values of x it is told, evenly spread", default=25, lower=2, upper=MOST_POINTS
)


def response_vector(response: NumberColumn) -> Vector:
    """What is measured of the response in every bin."""
    return bernstein_vector((Total(response.value, response.domain),), _DEGREE, False)


def ask_means(relation: Relation, keys: tuple[Key, ...], response: NumberColumn) -> Query:
    """The sums of the response in the cells of some keys."""
    return Query(relation, keys, response_vector(response))


@dataclass(frozen=True)
class BinnedMeans:
    """The noisy sums of all bins: `measured` has an axis of bins and one of polynomials."""

    response: NumberColumn
    measured: Measured
    population: bool

    @cached_property
    def _vector(self) -> Vector:
        return response_vector(self.response)

    @cached_property
    def _whole(self) -> float:
        return float(max(1, self._vector.variables[0].domain.width)) ** _DEGREE

    @cached_property
    def _sums(self) -> Floats:
        return np.asarray(self.measured.values, dtype=np.float64) / self._whole

    @cached_property
    def counts(self) -> Floats:
        """The noisy number of rows in each bin."""
        return np.asarray(self._sums.sum(axis=-1))

    @cached_property
    def sums(self) -> Floats:
        """The noisy sum of the response, in widths of its bounds from the lower one."""
        return np.asarray(self._sums @ _SUM)

    @cached_property
    def squares(self) -> Floats:
        """The noisy sum of its squares."""
        return np.asarray(self._sums @ _SQUARE)

    @cached_property
    def cumulants(self) -> tuple[float, float]:
        """The variance and the fourth cumulant of the noise of each polynomial's sum."""
        variance, fourth = self.measured.noise.continuous.cumulants
        return variance / self._whole**2, fourth / self._whole**4

    @property
    def count_deviation(self) -> float:
        """The standard deviation of the noise in the number of rows of a bin."""
        return sqrt(self.cumulants[0] * len(_SUM))

    def noise_at(self, share: Floats) -> Floats:
        """The variance of the noise in `sum - share * count` of one bin."""
        return np.asarray(self.cumulants[0] * ((_SUM - share[..., None]) ** 2).sum(axis=-1))

    def spread_at(self, share: Floats | float) -> Floats:
        """The noisy sum of squared distances of the response from a share, of each bin."""
        return np.asarray(self.squares - 2 * share * self.sums + share**2 * self.counts)

    def smooth(self, weights: Floats) -> "SmoothedMeans":
        """The means with weights of shape (points, bins), which are at most 1."""
        return SmoothedMeans(self, weights)


@dataclass(frozen=True, eq=False)
class SmoothedMeans:
    """Weighted means of the response at some points."""

    bins: BinnedMeans
    weights: Floats

    @cached_property
    def _ratio(self) -> NoisyRatio:
        """The quotients with their noise alone."""
        (variance, fourth), squares = self.bins.cumulants, (self.weights**2).sum(axis=1)
        parts = (_SUM @ _SUM, _SUM.sum(), float(len(_SUM)))
        a, b, c = (variance * squares * part for part in parts)
        bottom = self.weights @ self.bins.counts
        plain = NoisyRatio(self.weights @ self.bins.sums, bottom, (a, b, c), np.zeros_like(bottom), (0.0, 1.0))
        fourths = ((_SUM - plain.values[:, None]) ** 4).sum(axis=1) * (self.weights**4).sum(axis=1) * fourth
        return replace(plain, fourth=fourths)

    @property
    def shares(self) -> Floats:
        """The means in widths of the bounds from the lower one."""
        return self._ratio.values

    @cached_property
    def clear(self) -> NDArray[np.bool_]:
        """Where there are rows to be seen."""
        noise = np.sqrt(self._ratio.variance[2])
        return np.asarray(self._ratio.bottom > np.maximum(_SEEN * noise, _FEWEST))

    @cached_property
    def _sampling(self) -> Floats:
        """The variance that comes of rows that are a sample."""
        if not self.bins.population:
            return np.zeros(len(self.weights))
        squares = self.weights**2
        found = (squares * self.bins.spread_at(self.shares[:, None])).sum(axis=1)
        return np.asarray(np.clip(found, 0.0, np.maximum(squares @ self.bins.counts, 1.0)))

    @cached_property
    def _freedom(self) -> Floats:
        """About how many rows the spread is known from, less one."""
        rows = self._ratio.bottom**2 / np.maximum((self.weights**2) @ self.bins.counts, _FEWEST)
        return np.asarray(np.maximum(rows - 1, _FEWEST_FREEDOM))

    def bounds(self, confidence: float, cells: int) -> Bounds:
        """The interval of each mean: Student's t for the rows, its own distribution for the noise (Fieller 1954)."""
        from scipy.special import stdtrit

        alpha = find_alpha(confidence, cells)
        normal = deviations(np.ones(1), np.zeros(1), alpha)
        wider = (stdtrit(self._freedom, 1 - alpha / 2) / normal) ** 2
        a, b, c = self._ratio.variance
        return replace(self._ratio, variance=(a + wider * self._sampling, b, c)).bounds(confidence, cells)

    def estimate(self) -> Estimate:
        """The means in the units of the response; not estimable where no rows are seen."""
        domain = self.bins.response.domain
        lower, width = float(domain.grid_lower * domain.step), float(domain.width * domain.step)

        def interval(confidence: float, cells: int) -> Bounds:
            low, high = (lower + width * end for end in self.bounds(confidence, cells))
            return np.where(self.clear, low, -np.inf), np.where(self.clear, high, np.inf)

        return Estimate(np.where(self.clear, lower + width * self.shares, np.nan), interval, METHOD)

    def notes(self, name: str) -> tuple[Note, ...]:
        """That there are gaps, if there are."""
        return () if self.clear.all() else (UNSEEN(column=name),)


def check_columns(arguments: Arguments) -> tuple[NumberColumn, NumberColumn]:
    """Both columns, which must differ and leave something to be found out."""
    response, column = arguments["y"], arguments["x"]
    if response.value == column.value:
        raise BadArgument("x", f"is {column.name}, which is explained by itself", "name another column")
    for place, each in (("y", response), ("x", column)):
        if each.domain.width == 0:
            raise BadArgument(place, f"is {each.name}, whose bounds are equal", "name a column that can differ")
    return response, column


def choose_points(cells: ColumnBins, points: int) -> tuple[Fraction, ...]:
    """So many values from one bound to the other; the middles of the cells, if these are fewer."""
    if len(cells) <= points:
        return tuple((start + end) / 2 for start, end in zip(cells.edges, cells.edges[1:], strict=False))
    lower, upper = cells.column.domain.lower, cells.column.domain.upper
    return tuple(lower + (upper - lower) * Fraction(place, points - 1) for place in range(points))


def describe_about(what: str, *, population: bool) -> Note:
    """What intervals are about."""
    return (_OF_POPULATION if population else _OF_DATA)(what=what)
