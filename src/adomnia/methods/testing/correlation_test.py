"""The test of Pearson's correlation of two columns."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from adomnia.distributions.simulations import Generator, draw_again
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import (
    BY,
    Arguments,
    BadArgument,
    Factor,
    Frame,
    Method,
    NumberColumn,
    Parameter,
    demand_few_tables,
)
from adomnia.methods.parts.testing.moments import COMBINED, GroupMoments
from adomnia.methods.parts.testing.null_distribution import NullDistribution, as_alternative, count_draws
from adomnia.methods.parts.testing.report import (
    ADJUST,
    ALTERNATIVE,
    demand_one_row_a_person,
    demand_spread,
    returns,
    tabulate_test,
)
from adomnia.noise.afterwards import follow
from adomnia.privacy.domains import Numbers
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Total
from adomnia.statistics.bernstein import bernstein_vector
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable

_MOST_STEPS = 2**11  # of each column: products of four of them stay within 64 bits for a million rows
_SIX = (0, 3, 1, 6, 2, 4)  # of all products of powers of x and y up to 2: 1, x, y, x**2, y**2, x y
_BEYOND = 0.001  # of simulated correlations may be
_LARGEST = 1 - 1e-12  # a correlation, where it is to have a Fisher transform
_MOST_SKEWED = 1.0  # that a squared coskewness adds: beyond it tails are heavy, and tell by themselves
_FEWEST_ROWS = 10.0  # that rows are taken for
_TINY = 1e-300
_NOT_ESTIMABLE = define_note(
    "correlation_lost",
    "The spread of a column is lost in the noise, so that there is no estimate of the correlation; the test stands.",
)


@dataclass(frozen=True)
class CorrelationTest(SingleRound):
    """Whether two columns are correlated.

    Method      nine Bernstein sums, of which rows, sums, squares and products are combinations; the sum of products
                about the means over the root of its variance by sampling and noise. Null: independent normal values of
                the noisy means and variances, and fresh noise. Interval: fewer normal pairs, as the mean products of
                squares say, because large values that occur together tell less of a correlation.
    Guarantee   one measurement at the whole price.
    Bias        clamping, and a grid of at most 2,048 steps between the bounds.
    Cite        Ferrando, Wang & Sheldon 2022 (the simulation); Fisher 1921 (the scale of the interval); Muirhead 1982,
                section 5.1 (elliptical distributions).
    """

    tag: ClassVar[str] = "CorrelationTest"
    name: ClassVar[str] = "correlation_test"
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    other: NumberColumn
    alternative: str

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        totals = tuple(Total(each.value, _coarsen(each.domain)) for each in (self.column, self.other))
        return ((Query(self.relation, keys_of(*self.by), bernstein_vector(totals, 2, absent=False)), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        whole = _whole(self.query)
        noise = measured[0].noise.cumulants.variance / whole**2
        sums = np.asarray(measured[0].values, dtype=np.float64) / whole
        found = Products(_combine(sums), noise)
        observed = float(found.statistic)

        def simulate(correlation: float, inflation: float = 1.0) -> Products:
            generator = follow([measured[0].values], "correlation_test")
            draws = count_draws(15, self.by)
            fresh = _combine(draw_again(measured[0].noise, generator, (draws, 9))) / whole
            return Products(found.draw_people(correlation, generator, draws, inflation) + fresh, noise)

        @lru_cache(maxsize=1)
        def null_distribution() -> NullDistribution:
            return NullDistribution(simulate(0.0).statistic)

        @lru_cache(maxsize=1)
        def again() -> Floats:
            return simulate(float(np.clip(found.correlation, -1.0, 1.0)), found.inflate(sums)).correlation

        def interval(confidence: float, cells: int) -> Bounds:
            if found.lost:
                return np.array([-np.inf]), np.array([np.inf])
            return _bound(float(found.correlation), again(), confidence, cells)

        return tabulate_test(
            [f"correlation of {self.column.name} and {self.other.name}"],
            np.array([np.nan if found.lost else np.clip(found.correlation, -1.0, 1.0)]),
            interval,
            lambda: observed,
            lambda: null_distribution().p_value(observed, as_alternative(self.alternative)),
            notes=(_NOT_ESTIMABLE,) if found.lost else (),
        )


@dataclass(frozen=True)
class Products:
    """Noisy sums of 1, x, y, x**2, y**2 and x y on the last axis, both scaled to between -1 and 1."""

    sums: Floats
    noise: float

    @cached_property
    def _x(self) -> GroupMoments:
        return GroupMoments(self.sums[..., (0, 1, 3)], self.noise)

    @cached_property
    def _y(self) -> GroupMoments:
        return GroupMoments(self.sums[..., (0, 2, 4)], self.noise)

    @cached_property
    def _about_means(self) -> Floats:
        rows, x, y = (self.sums[..., place] for place in range(3))
        means = self._x.means, self._y.means
        found: Floats = self.sums[..., 5] - means[0] * y - means[1] * x + means[0] * means[1] * rows
        return found

    @cached_property
    def statistic(self) -> Floats:
        """The sum of products about the means, in standard errors of independent columns."""
        sampling = self._x.rows * self._x.variances * self._y.variances
        noise = self.noise * (2 + 3 * self._x.means**2) * (2 + 3 * self._y.means**2)
        found: Floats = self._about_means / np.sqrt(np.maximum(sampling + noise, 1e-300))
        return found

    @cached_property
    def correlation(self) -> Floats:
        """Pearson's; noise may put it beyond -1 and 1. 0 where a variance is zero."""
        spread = np.sqrt(self._x.variances * self._y.variances) * np.maximum(self._x.rows - 1, 1.0)
        there = spread > 0
        found: Floats = np.where(there, self._about_means / np.where(there, spread, 1.0), 0.0)
        return found

    @property
    def lost(self) -> bool:
        """Whether the spread of a column may be noise alone."""
        return self._x.lost or self._y.lost

    def inflate(self, sums: Floats) -> float:
        """By how much sampling varies a correlation more than that of normal values, by all nine sums.

        By the mean product of squares, which is 1 + 2 r**2 of normal values, as if the distribution were elliptical.
        Skewed values within narrow bounds have light tails, and yet vary more: then by their mean squared coskewness.
        """
        rows, table = float(self._x.rows), sums.reshape(3, 3)
        (x, x_squared), (y, y_squared) = (_standardise(each) for each in (self._x, self._y))

        def square_of_mean(one: Floats, two: Floats) -> float:
            return float((one @ table @ two) ** 2 - self.noise * (one @ one) * (two @ two)) / rows**2

        skewed = (square_of_mean(x, y_squared) + square_of_mean(x_squared, y)) / 2
        tails = float(x_squared @ table @ y_squared) / rows / (1 + 2 * min(float(self.correlation) ** 2, 1.0))
        return min(max(1.0, tails, 1 + min(skewed, _MOST_SKEWED)), max(1.0, rows / _FEWEST_ROWS))

    def draw_people(self, correlation: float, generator: Generator, draws: int, inflation: float) -> Floats:
        """The exact sums of normal pairs of that correlation, with these means and variances.

        Fewer pairs are drawn, each of which counts `inflation` times.
        """
        rows = float(max(self.sums[0], 0.0)) / inflation
        spreads = np.sqrt([self._x.variances, self._y.variances])
        centres = np.stack([self._x.means, self._y.means]) * np.sqrt(rows)
        first, second, third = generator.standard_normal((3, draws))
        rest = np.sqrt(1 - correlation**2)
        x = centres[0] + spreads[0] * first
        y = centres[1] + spreads[1] * (correlation * first + rest * second)
        about_x = 2 * generator.standard_gamma(max(rows - 1, 0.0) / 2, draws)
        off = rest * third * (rows > 1)
        about_y = rest**2 * 2 * generator.standard_gamma(max(rows - 2, 0.0) / 2, draws)
        along = correlation * np.sqrt(about_x) + off
        root = np.sqrt(rows)
        return inflation * np.stack(
            [
                np.full(draws, rows),
                root * x,
                root * y,
                x**2 * (rows > 0) + spreads[0] ** 2 * about_x,
                y**2 * (rows > 0) + spreads[1] ** 2 * (along**2 + about_y),
                x * y * (rows > 0) + spreads[0] * spreads[1] * np.sqrt(about_x) * along,
            ],
            axis=-1,
        )


def _combine(sums: Floats) -> Floats:
    """The six sums from the nine that were measured, or from their noise."""
    return sums @ np.kron(COMBINED, COMBINED)[:, _SIX]


def _standardise(moments: GroupMoments) -> tuple[Floats, Floats]:
    """A value less its mean, in standard deviations, and the square of that, over the three sums of one column."""
    mean, variance = float(moments.means), max(float(moments.variances), _TINY)
    one, value, square = COMBINED.T
    return (value - mean * one) / np.sqrt(variance), (square - 2 * mean * value + mean**2 * one) / variance


def _bound(found: float, again: Floats, confidence: float, cells: int) -> Bounds:
    """The interval: on Fisher's scale, but where noise makes correlations of 1 and more, which have no place there."""
    if max(abs(found), float(np.quantile(np.abs(again), 1 - _BEYOND))) < 1:
        inside = np.clip(again, -_LARGEST, _LARGEST)
        reach = NullDistribution(np.arctanh(inside) - np.arctanh(found)).distance(confidence, cells)
        return np.tanh(np.arctanh([found]) - reach), np.tanh(np.arctanh([found]) + reach)
    reach = NullDistribution(again - np.clip(found, -1.0, 1.0)).distance(confidence, cells)
    return np.clip([found - reach], -1.0, 1.0), np.clip([found + reach], -1.0, 1.0)


def _coarsen(domain: Numbers) -> Numbers:
    while domain.width > _MOST_STEPS:
        domain = Numbers(domain.lower, domain.upper, domain.step * 2)
    return domain


def _whole(query: Query) -> float:
    """What the nine sums of a row add up to."""
    return float(np.prod([max(1, each.width) ** 2 for each in query.aggregate.grids]))


def build(frame: Frame, arguments: Arguments) -> CorrelationTest:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "correlation_test")
    demand_few_tables(arguments["by"], 9)
    column, other = arguments["column"], arguments["other"]
    demand_spread(column)
    demand_spread(other, "other")
    if column.value == other.value:
        raise BadArgument("other", "is the same as column", "choose another column")
    relation = with_values(frame.relation, column.value, other.value)
    return CorrelationTest(relation, arguments["by"], column, other, arguments["alternative"])


METHOD = Method(
    name="correlation_test",
    chapter="testing",
    summary="Tests whether two columns are correlated (Pearson).",
    parameters=(
        Parameter("column", "column", "one column", required=True),
        Parameter("other", "column", "the other column", required=True),
        ALTERNATIVE,
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns("Pearson's correlation"),
    example="SELECT * FROM correlation_test(people, column => age, other => salary)",
    known_as={"R": "cor.test", "SAS": "PROC CORR", "SciPy": "pearsonr"},
    notes=(
        "A person must have one row. Values beyond the bounds of a column count as the bounds.",
        "The interval allows for heavy tails that occur together, by the mean product of both squares.",
    ),
)
