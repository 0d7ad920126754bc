"""Sums of sampling weights, shares of them, and means and deviations of columns of rows that have weights."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, stack_estimates, with_values
from adomnia.methods.contract import Factor, NumberColumn
from adomnia.methods.parts.describe.column_sums import SPREAD, ColumnSums, column_vector
from adomnia.methods.parts.describe.noisy_ratios import BEYOND_BOUNDS, NoisyRatio, describe_inference
from adomnia.methods.sampling_weights import SamplingWeights
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import call
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation, Where
from adomnia.privacy.vectors import Vector, constant
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured, ResultTable, name_about

_MISSING = Fraction(1, 10)  # of the price of a column, for the weights of rows without a value
_WIDEST = 2**12  # steps of a column: its fourth powers and the weights fit one entry
_NUMBERS = define_note(
    "weights_about_data", "n and missing are noisy sums of weights, and their intervals are about the data."
)
_NO_EXTREMES = define_note("no_weighted_extremes", "Extremes and quartiles are not told of rows with weights.")
_UNTOLD = ("min", "q1", "median", "q3", "max")
WEIGHTED_NOTE = define_note("counts_are_weights", "Counts are sums of weights.")
_FEW = (
    4.0  # rows of the usual weight that a cell is taken to have at least, where sampling is allowed for (Wilson 1927)
)


@dataclass(frozen=True)
class WeightedSums(ColumnSums):
    """The noisy weighted sums of one column, in parts of the largest weight."""

    weights: NumberColumn

    @cached_property
    def weighting(self) -> SamplingWeights:
        return SamplingWeights(self.weights)

    @cached_property
    def grid(self) -> Numbers:
        return _plain_vector(NumberColumn("", self.value, self.domain)).variables[0].domain

    @property
    def _size(self) -> float:
        return self._whole * self.weighting.size(split=self.population)

    @cached_property
    def _entries(self) -> Floats:
        """One row for each polynomial: the sum with squared weights and the rest of it, or both in one."""
        return np.asarray(self.measured.values, dtype=np.float64).reshape(self.degree + 1, -1) / self._size

    @cached_property
    def sums(self) -> Floats:
        return np.asarray(self._entries.sum(axis=1))

    @property
    def cumulants(self) -> tuple[float, float]:
        variance, fourth = self.measured.noise.continuous.cumulants
        many = self._entries.shape[1]
        return many * variance / self._size**2, many * fourth / self._size**4

    def count(self) -> Estimate:
        variance, fourth = ((self.degree + 1) * each for each in self.cumulants)
        upper = self.weighting.upper
        cumulants = (variance * upper**2, fourth * upper**4)
        return WeightedCounts(np.array([self.rows * upper]), np.zeros(1), np.ones(1), cumulants).estimate()

    def _sample(self, squares: Floats) -> float:
        """What sampling adds to the variance of a sum, for one part of the weights: from sums with squared weights."""
        return max(0.0, float(self._entries[:, 0] @ squares)) / max(self.rows, 1.0)

    def mean_ratio(self) -> NoisyRatio:
        return self._ratio(self._power(1), self._sample(self._about_mean(2)), (0.0, float(self.grid.width > 0)))

    def _variance_ratio(self) -> NoisyRatio:
        spread = self.central(2)
        squares = self._about_mean(4) - 2 * spread * self._about_mean(2) + spread**2
        return self._ratio(self._about_mean(2), self._sample(squares), (0.0, 0.25))


@dataclass(frozen=True)
class WeightedSummary(SingleRound):
    """What the weights of rows, their means and standard deviations are, in every group.

    Method      noisy weighted Bernstein sums of degree four; for the population in parts that tell squared weights.
    Guarantee   equal parts of the price for each column, composed.
    Bias        clamping; of a quotient, of second order.
    Cite        Fieller 1954 (quotients); Cochran 1977 (the variance of a weighted mean).
    """

    tag: ClassVar[str] = "WeightedSummary"
    name: ClassVar[str] = "summary"
    relation: Relation
    by: tuple[Factor, ...]
    columns: tuple[NumberColumn, ...]
    weights: NumberColumn
    population: bool

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        parts = ((1 - _MISSING) / len(self.columns), _MISSING / len(self.columns))
        return tuple(pair for column in self.columns for pair in zip(self._queries(column), parts, strict=True))

    def _queries(self, column: NumberColumn) -> tuple[Query, Query]:
        plain, rows = _plain_vector(column), with_values(self.relation, self.weights.value)
        weighting = SamplingWeights(self.weights)
        sums = weighting.vector(plain.variables, plain.entries, split=self.population)
        without = Where(rows, call("is null", column.value))
        counted = weight_vector(self.weights, population=False)
        return Query(rows, keys_of(*self.by), sums), Query(without, keys_of(*self.by), counted)

    def tabulate(self, *measured: Measured) -> ResultTable:
        each_column = zip(self.columns, measured[::2], measured[1::2], strict=True)
        described = [self._describe(*each) for each in each_column]
        return ResultTable(
            {"column": tuple(column.name for column in self.columns)},
            {name: stack_estimates([each[name] for each in described]) for name in described[0]},
            (
                describe_inference(population=self.population),
                _NUMBERS,
                _NO_EXTREMES,
                BEYOND_BOUNDS,
            ),
            {"kind": "points", "x": "column", "y": "mean", "title": "Means"},
            about=dict.fromkeys(("mean", "sd"), name_about(population=self.population)),
        )

    def _describe(self, column: NumberColumn, measured: Measured, missing: Measured) -> dict[str, Estimate]:
        sums = WeightedSums(column.value, column.domain, SPREAD, measured, self.population, self.weights)
        lost = WeightedCounts.of(missing, self.weights, population=False)
        found = {"n": sums.count(), "missing": lost.estimate(), "mean": sums.mean(), "sd": sums.deviation()}
        return found | dict.fromkeys(_UNTOLD, Estimate(np.full(1, np.nan), _bound_nothing, "not measured"))


def _bound_nothing(_confidence: float, _cells: int) -> Bounds:
    return np.full(1, -np.inf), np.full(1, np.inf)


def _plain_vector(column: NumberColumn) -> Vector:
    """The polynomials of a column on a grid that leaves room for weights."""
    domain = column.domain
    while domain.width > _WIDEST:
        domain = Numbers(domain.lower, domain.upper, domain.step * 2)
    return column_vector(column.value, domain, SPREAD, absent=False)


def weight_vector(weights: NumberColumn, *, population: bool) -> Vector:
    """What is measured in a cell: the sum of weights, for the population in two parts that tell the squares, too."""
    return SamplingWeights(weights).vector((), (constant(1, 0),), split=population)


@dataclass(frozen=True)
class WeightedCounts:
    """Noisy sums of weights, each of so many cells; `squares` are the sums of squared weights, where they are told."""

    values: Floats
    squares: Floats
    noises: Floats  # how many independent noises are in each
    cumulants: tuple[float, float]

    @classmethod
    def of(cls, measured: Measured, weights: NumberColumn, *, population: bool) -> "WeightedCounts":
        """The cells of what was measured."""
        weighting = SamplingWeights(weights)
        unit = weighting.upper / weighting.size(split=population)
        entries = np.atleast_2d(np.asarray(measured.values, dtype=np.float64)) * unit
        variance, fourth = measured.noise.continuous.cumulants
        squares = entries[..., 0] * weighting.upper if population else np.zeros(entries.shape[:-1])
        noises = np.full(entries.shape[:-1], float(entries.shape[-1]))
        return cls(entries.sum(axis=-1), squares, noises, (variance * unit**2, fourth * unit**4))

    @property
    def whole(self) -> "WeightedCounts":
        """The sum of all cells, beside each of them."""
        parts = (np.full(each.shape, each.sum()) for each in (self.values, self.squares, self.noises))
        values, squares, noises = parts
        return WeightedCounts(values, squares, noises, self.cumulants)

    def estimate(self) -> Estimate:
        """The sums of weights in the data."""
        variance, fourth = (self.noises * each for each in self.cumulants)

        def interval(confidence: float, cells: int) -> Bounds:
            far = deviations(variance, fourth, find_alpha(confidence, cells)) * np.sqrt(variance)
            return np.maximum(self.values - far, 0.0), np.maximum(self.values + far, 0.0)

        return Estimate(np.maximum(self.values, 0.0), interval, "noisy sum of weights")

    def share_of(self, whole: "WeightedCounts", *, population: bool) -> NoisyRatio:
        """The shares of others, of which these are parts.

        A part less r times the whole is the sum of w (1 - r) in the part and of -w r beside it: with the squares of
        weights Q and R there, sampling makes it vary by Q (1 - r)^2 + R r^2.
        """
        variance, fourth = self.cumulants
        usual = np.maximum(whole.squares, 0.0) / np.maximum(whole.values, 1e-9)
        few = _FEW * usual**2 * population
        beside = whole.noises > self.noises  # else it is the whole itself
        own, rest = np.maximum(self.squares, few), np.maximum(whole.squares - self.squares, few) * beside
        square = (variance * self.noises + own, variance * self.noises + own, variance * whole.noises + own + rest)
        plain = NoisyRatio(self.values, whole.values, square, np.zeros_like(self.values), (0.0, 1.0))
        share = plain.values
        fourths = fourth * (self.noises * (1 - share) ** 4 + (whole.noises - self.noises) * share**4)
        return NoisyRatio(self.values, whole.values, square, fourths, (0.0, 1.0))
