"""Mann and Whitney's test: whether values of one group tend to be larger than those of the other.

Noisy histograms of both tell how probable it is that a value of one group is larger than one of the other. Shares that
are projected have less noise, and lie between what they are of and equal ones: good for a test, too small an effect for
an interval. Products of the noisy counts themselves are right on average, since the noises of two groups are
independent. An interval holds the probabilities p for which the sum over all pairs of bins of count * count * (larger -
p), which has mean 0 at the right one, is no more than some standard errors off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from adomnia.distributions.fieller import fieller
from adomnia.distributions.projections import project_shares
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import BY, Arguments, Factor, Frame, Method, NumberColumn, Parameter, demand_few_tables
from adomnia.methods.parts.describe.rounds import SeveralRounds, table_of
from adomnia.methods.parts.testing.null_distribution import LOST, Histograms, NullDistribution, as_alternative
from adomnia.methods.parts.testing.rank_cuts import (
    BINNED,
    TIED,
    CutRows,
    RankCuts,
    demand_choosable,
    demand_few_cuts,
    has_few_whole_numbers,
    rank_bins_parameter,
)
from adomnia.methods.parts.testing.report import (
    ADJUST,
    ALTERNATIVE,
    demand_one_row_a_person,
    demand_spread,
    demand_two_levels,
    returns,
    tabulate_test,
)
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable, Steps


@dataclass(frozen=True)
class MannWhitney(SingleRound):
    """How probable it is that a value of the first group is larger than one of the second, ties counting half.

    Method      noisy histograms, projected to be shares, of which that probability is a sum of products. Null:
                multinomial distributions of the shares of both groups together, and fresh noise.
    Guarantee   one measurement at the whole price: a person is in one group and one bin.
    Bias        none: each whole number has a bin of its own.
    Cite        Mann & Whitney 1947; Ferrando, Wang & Sheldon 2022 (the simulation).
    """

    tag: ClassVar[str] = "MannWhitney"
    name: ClassVar[str] = "mann_whitney"
    relation: Relation
    by: tuple[Factor, ...]
    bins: ColumnBins
    group: Factor
    alternative: str

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.bins.query(self.relation, keys_of(*self.by, self.group)), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        return _compare(CutRows(measured[0], ((True,) * len(self.bins),)), self)


@dataclass(frozen=True)
class MannWhitneyByRank(SeveralRounds):
    """The same of a column of many values.

    Method      a noisy number of rows, bins between values chosen by rank, and noisy histograms of both groups.
    Guarantee   three rounds composed.
    Bias        bins: values in one bin count as equal, which the interval allows for.
    Cite        Mann & Whitney 1947; Kaplan, Schnapp & Stemmer 2022 (the choice); Ferrando, Wang & Sheldon 2022.
    """

    tag: ClassVar[str] = "MannWhitneyByRank"
    name: ClassVar[str] = "mann_whitney"
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    bins: int
    group: Factor
    alternative: str

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self._cuts.query, Fraction(1)),)

    @property
    def _cuts(self) -> RankCuts:
        return RankCuts(self.relation, self.by, (self.column,), self.bins)

    def steps(self, price: Price) -> Steps:
        found = yield from self._cuts.count(price, self.group.key)
        return table_of(self.by, [_compare(each, self) for each in found])


def _compare(rows: CutRows, asked: MannWhitney | MannWhitneyByRank) -> ResultTable:
    """The table of one cell."""
    histograms = Histograms(rows.measured, asked.by)

    def compare(counts: Floats) -> Floats:
        return np.where(histograms.are_lost(counts), 0.5, superiority(counts))

    larger = float(compare(histograms.counts))

    @lru_cache(maxsize=1)
    def null_distribution() -> NullDistribution:
        return NullDistribution(compare(histograms.simulate(histograms.pooled, "mann_whitney")) - 0.5)

    noise, shares = rows.measured.noise.cumulants.variance, project_shares(histograms.counts)
    sampling = vary_by_sampling(shares, histograms.rows)
    order = vary_by_order(shares, rows.tied[0]) * float(np.prod(histograms.rows)) ** 2

    @lru_cache(maxsize=1)
    def errors() -> NullDistribution:
        again = histograms.simulate(shares, "mann_whitney intervals")
        return NullDistribution(Pairs(again, noise, sampling).studentize(float(superiority(shares))))

    def interval(confidence: float, cells: int) -> Bounds:
        if histograms.lost:
            return np.zeros(1), np.ones(1)
        return Pairs(histograms.counts, noise, sampling + order).interval(errors().distance(confidence, cells))

    first, second = asked.group.levels
    return tabulate_test(
        [f"P({first} > {second})"],
        np.array([larger]),
        interval,
        lambda: larger - 0.5,
        lambda: null_distribution().p_value(larger - 0.5, as_alternative(asked.alternative)),
        limits=(0.0, 1.0),
        notes=(*(() if rows.exact else (TIED,)), *((LOST,) if histograms.lost else ())),
    )


def build(frame: Frame, arguments: Arguments) -> MannWhitney | MannWhitneyByRank:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "mann_whitney")
    column, group, bins, by = arguments["column"], arguments["group"], arguments["bins"], arguments["by"]
    demand_spread(column)
    demand_two_levels(group)
    demand_few_tables(by, 2 * bins)
    relation = with_values(frame.relation, column.value, group)
    if has_few_whole_numbers(column, bins):
        return MannWhitney(relation, by, split_finely(column, bins), group, arguments["alternative"])
    demand_choosable(column)
    demand_few_cuts(by, bins, column)
    return MannWhitneyByRank(relation, by, column, bins, group, arguments["alternative"])


METHOD = Method(
    name="mann_whitney",
    chapter="testing",
    summary="Tests whether the values of one group tend to be larger than those of the other (Mann-Whitney, Wilcoxon).",
    parameters=(
        Parameter("column", "column", "the numbers that are compared", required=True),
        Parameter("group", "factor", "a column of two values: the two groups", required=True),
        ALTERNATIVE,
        rank_bins_parameter(64),
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns("how probable it is that a value of the first group is larger, ties counting half"),
    example="SELECT * FROM mann_whitney(people, column => salary, group => age >= 65)",
    known_as={"R": "wilcox.test", "SAS": "PROC NPAR1WAY / WILCOXON", "SciPy": "mannwhitneyu"},
    notes=(
        "A person must have one row. Values beyond the bounds of the column count as the bounds.",
        BINNED,
    ),
)


def superiority(counts: Floats) -> Floats:
    """P(first > second) + P(first = second) / 2 of two histograms, groups on the axis before the last."""
    first, second = np.moveaxis(project_shares(counts), -2, 0)
    found: Floats = (first * _below(second)).sum(axis=-1)
    return found


@dataclass(frozen=True)
class Pairs:
    """Noisy counts of two groups, bins on the last axis; `noise` is the variance of each, `sampling` that of the sum.

    Cite        Mann & Whitney 1947 (the sampling); Fieller 1954 (the interval).
    """

    counts: Floats
    noise: float
    sampling: float

    def studentize(self, probability: float) -> Floats:
        """How many standard errors the sum over pairs is off, at that probability."""
        constant, linear, square = self._variance
        variance = constant - 2 * linear * probability + square * probability**2
        found: Floats = (self._larger - probability * self._all) / np.sqrt(np.maximum(variance, 1e-300))
        return found

    def interval(self, distance: float) -> Bounds:
        """The probabilities that are at most so many standard errors off; all of them where that has no end."""
        sign = np.where(self._all < 0, -1.0, 1.0)
        lower, upper = fieller(sign * self._larger, sign * self._all, self._variance, distance)
        return np.atleast_1d(np.clip(lower, 0.0, 1.0)), np.atleast_1d(np.clip(upper, 0.0, 1.0))

    @cached_property
    def _won(self) -> Floats:
        """For each bin of the first group, how many of the second it is larger than."""
        return _below(self.counts[..., 1, :])

    @cached_property
    def _lost(self) -> Floats:
        """For each bin of the second group, how many of the first are larger."""
        return self._rows[..., 0, None] - _below(self.counts[..., 0, :])

    @cached_property
    def _rows(self) -> Floats:
        found: Floats = self.counts.sum(axis=-1)
        return found

    @cached_property
    def _larger(self) -> Floats:
        return np.asarray((self.counts[..., 0, :] * self._won).sum(axis=-1))

    @cached_property
    def _all(self) -> Floats:
        return np.asarray(self._rows[..., 0] * self._rows[..., 1])

    @cached_property
    def _variance(self) -> tuple[Floats, Floats, Floats]:
        """v, w and s of v - 2 w p + s p**2: by noise in the counts of each group, and by sampling."""
        first, second = self._rows[..., 0], self._rows[..., 1]
        bins = self.counts.shape[-1]
        constant = self.noise * ((self._won**2).sum(axis=-1) + (self._lost**2).sum(axis=-1)) + self.sampling
        linear = self.noise * (second * self._won.sum(axis=-1) + first * self._lost.sum(axis=-1))
        return constant, linear, self.noise * bins * (first**2 + second**2)


def vary_by_order(shares: Floats, tied: Sequence[bool]) -> float:
    """The variance of the probability by the order within bins, of which those that are `tied` hold one value.

    Of a pair in one bin nothing is known, and half is counted: it is off by up to half the product of both shares. In
    each bin by itself that is taken for any number between the ends, all alike.
    """
    first, second = shares
    return float((((first * second)[~np.asarray(tied)]) ** 2).sum() / 12)


def vary_by_sampling(shares: Floats, rows: Floats) -> float:
    """The variance of the number of pairs whose first is larger, of groups with these shares and numbers of rows."""
    first, second = shares
    won, lost = _below(second), 1 - _below(first)
    spread = [float(part @ each**2 - (part @ each) ** 2) for part, each in ((first, won), (second, lost))]
    return float(np.prod(rows) * (rows[1] * max(spread[0], 0.0) + rows[0] * max(spread[1], 0.0)))


def _below(counts: Floats) -> Floats:
    """How many are below each bin, with half of those in it."""
    found: Floats = np.cumsum(counts, axis=-1) - counts / 2
    return found
