"""Kruskal and Wallis's test: whether values of some groups tend to be larger than those of others.

Noisy histograms tell how probable it is that a value of each group is larger than that of anyone. The score of a bin is
the share of everybody below it, with half of those in it, less a half. The sum of the scores of a group is right on
average whatever the noise, which adds variance * (sum of squared scores) to its variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod, sqrt
from typing import ClassVar

import numpy as np

from adomnia.distributions.projections import project_shares
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import with_values
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
from adomnia.methods.parts.describe.rounds import SeveralRounds, table_of
from adomnia.methods.parts.testing.departures import Strengths, lead_on, lead_up_to, plan_draws
from adomnia.methods.parts.testing.null_distribution import Histograms, NullDistribution
from adomnia.methods.parts.testing.rank_cuts import (
    BINNED,
    TIED,
    CutRows,
    RankCuts,
    demand_choosable,
    demand_few_cuts,
    rank_bins_parameter,
)
from adomnia.methods.parts.testing.report import ADJUST, demand_one_row_a_person, demand_spread, returns, tabulate_test
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Floats, ResultTable, Steps

MOST_GROUPS = 100
_LOST = define_note(
    "groups_lost", "Some groups have so few rows that they are lost in the noise: nothing is known of their values."
)
_LEAST = 1e-12  # variances that are divided by


@dataclass(frozen=True)
class KruskalWallis(SeveralRounds):
    """Whether the values of groups tend to be larger than those of everybody.

    Method      noisy histograms of all groups, in bins of one value or between values chosen by rank; Kruskal and
                Wallis's H, in which a group counts less the more noise it has. Null: multinomial distributions of the
                shares of all groups together, and fresh noise. Epsilon squared: tables between the pooled one and the
                one that was seen are drawn again; the interval holds those that look like it.
    Guarantee   of few values one measurement at the whole price, else three rounds composed.
    Bias        bins: values in one bin count as equal, which the intervals of groups allow for.
    Cite        Kruskal & Wallis 1952; Kelley 1935 (epsilon squared); Ferrando, Wang & Sheldon 2022 (the simulation).
    """

    tag: ClassVar[str] = "KruskalWallis"
    name: ClassVar[str] = "kruskal_wallis"
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    bins: int
    group: Factor

    @property
    def _cuts(self) -> RankCuts:
        return RankCuts(self.relation, self.by, (self.column,), self.bins)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self._cuts.query, Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        found = yield from self._cuts.count(price, self.group.key)
        return table_of(self.by, [self._tabulate(each) for each in found])

    def _tabulate(self, rows: CutRows) -> ResultTable:
        histograms = Histograms(rows.measured, self.by)
        found = RelativeEffects(histograms, rows.tied[0])
        observed = float(found.compare(histograms.counts))

        @lru_cache(maxsize=1)
        def null_distribution() -> NullDistribution:
            return NullDistribution(found.compare(histograms.simulate(histograms.pooled, "kruskal_wallis")))

        def interval(confidence: float, cells: int) -> Bounds:
            overall, each = found.size_interval(confidence, cells), found.intervals(confidence, cells)
            return np.append(overall[0], each[0]), np.append(overall[1], each[1])

        return tabulate_test(
            ["epsilon squared", *(f"P({level} > anyone)" for level in self.group.levels)],
            np.append(found.size, found.values),
            interval,
            lambda: observed,
            lambda: null_distribution().p_value(observed),
            notes=(*(() if rows.exact else (TIED,)), *((_LOST,) if found.lost.any() else ())),
        )


def build(frame: Frame, arguments: Arguments) -> KruskalWallis:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "kruskal_wallis")
    column, group, bins, by = arguments["column"], arguments["group"], arguments["bins"], arguments["by"]
    demand_spread(column)
    if not 2 <= len(group.levels) <= MOST_GROUPS:
        raise BadArgument(
            "group",
            f"must have between 2 and {MOST_GROUPS} values, and {group.name} has {len(group.levels)}",
            "choose another column, or make fewer groups in the bracketed SELECT",
        )
    demand_few_tables(by, bins * len(group.levels))
    demand_choosable(column)
    demand_few_cuts(by, bins, column)
    return KruskalWallis(with_values(frame.relation, column.value, group), by, column, bins, group)


METHOD = Method(
    name="kruskal_wallis",
    chapter="testing",
    summary="Tests whether values tend to be larger in some groups than in others, by ranks (Kruskal-Wallis).",
    parameters=(
        Parameter("column", "column", "the numbers that are compared", required=True),
        Parameter("group", "factor", "the groups", required=True),
        rank_bins_parameter(32),
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns(
        "epsilon squared, from 0 to 1: how much of the ranks the groups explain, corrected for chance; below it how"
        " probable it is that a value of each group is larger than that of anyone, ties counting half"
    ),
    example="SELECT * FROM kruskal_wallis(people, column => salary, group => city)",
    known_as={"R": "kruskal.test", "SAS": "PROC NPAR1WAY / WILCOXON", "SciPy": "kruskal"},
    notes=(
        "A person must have one row. Values beyond the bounds of the column count as the bounds.",
        BINNED,
    ),
)


@dataclass(frozen=True)
class RelativeEffects:
    """Noisy counts of groups in bins, of which those that are `tied` hold one value.

    Cite        Kruskal & Wallis 1952; Brunner & Munzel 2000 (relative effects).
    """

    histograms: Histograms
    tied: Sequence[bool]

    def compare(self, counts: Floats) -> Floats:
        """Kruskal and Wallis's H with ties, of counts with groups on the axis before the last."""
        rows, scores = _rows(counts), _score(counts)
        every = np.maximum(rows.sum(axis=-1), 1.0)
        off = (project_shares(counts) * scores[..., None, :]).sum(axis=-1)
        noisy = self._noise * (scores**2).sum(axis=-1) / self._spread(counts)
        weights = rows**2 / np.maximum(rows + noisy[..., None], 1.0)
        found: Floats = (weights * off**2).sum(axis=-1) / self._spread(counts) * (every - 1) / every
        return found

    @cached_property
    def size(self) -> float:
        """Epsilon squared that is as often too large as too small: chance and noise alone make none."""
        return self._strengths.at(0.5) ** 2

    def size_interval(self, confidence: float, cells: int) -> Bounds:
        """The sizes of which what was measured is no rare sight; all where a group is lost."""
        if self.lost.any():
            return np.zeros(1), np.ones(1)
        lower, upper = self._strengths.between(confidence, cells)
        return np.array([lower**2]), np.array([upper**2])

    @cached_property
    def values(self) -> Floats:
        """How probable it is that a value of each group is larger, ties counting half; NaN where it is lost."""
        return np.where(self.lost, np.nan, np.clip(0.5 + self._effects(self.histograms.counts), 0.0, 1.0))

    def intervals(self, confidence: float, cells: int) -> Bounds:
        """Intervals of these, which allow for the order within bins; all where a group is lost."""
        errors = self._effects(self._again) - self._effects(self._shares * self._scale)
        order = ((self._shares * self._pooled)[:, ~np.asarray(self.tied)] ** 2).sum(axis=-1) / 12
        wider = np.sqrt(1 + order / np.maximum(errors.var(axis=0), _LEAST))
        reach = wider * [NullDistribution(each).distance(confidence, cells) for each in errors.T]
        found = 0.5 + self._effects(self.histograms.counts)
        lower, upper = np.clip(found - reach, 0.0, 1.0), np.clip(found + reach, 0.0, 1.0)
        return np.where(self.lost, 0.0, lower), np.where(self.lost, 1.0, upper)

    @cached_property
    def lost(self) -> Floats:
        """Which groups have so few rows that they may be noise alone."""
        return np.asarray(self.histograms.counts.sum(axis=-1) < self._clear)

    def _effects(self, counts: Floats) -> Floats:
        """By how much the relative effect of each group exceeds a half; noise may put it beyond what can be."""
        found: Floats = (counts * _score(counts)[..., None, :]).sum(axis=-1) / np.maximum(_rows(counts), self._clear)
        return found

    def _sizes(self, counts: Floats) -> Floats:
        rows = np.maximum(_rows(counts), self._clear)
        between = (rows * self._effects(counts) ** 2).sum(axis=-1) / np.maximum(rows.sum(axis=-1), 1.0)
        return np.asarray(between / self._spread(counts))

    def _spread(self, counts: Floats) -> Floats:
        """The variance of ranks as shares: a twelfth, less what ties take away."""
        shares = project_shares(counts.sum(axis=-2))
        return np.asarray(np.maximum((1 - (shares**3).sum(axis=-1)) / 12, _LEAST))

    @cached_property
    def _strengths(self) -> Strengths:
        """Roots of sizes, between groups that do not differ and those that were seen, and beyond."""
        parts = self._scale / self._scale.sum()
        apart, seen = parts * self._pooled, parts * self._shares
        many, draws = plan_draws(seen.size * prod(len(factor.levels) for factor in self.histograms.by))
        tables = lead_on(apart, seen, lead_up_to(1.0, sqrt(float(self._sizes(seen * self._scale.sum()))), many))
        shares = tables / np.maximum(tables.sum(axis=-1, keepdims=True), _LEAST)
        drawn = self.histograms.simulate_each(shares, "kruskal_wallis sizes", draws, self._sizes)
        found = np.sqrt(self._sizes(shares * self._scale))
        return Strengths(float(self._sizes(self.histograms.counts)), np.maximum.accumulate(found), drawn, 1.0)

    @cached_property
    def _again(self) -> Floats:
        """Counts of groups of such shares, with fresh noise, many times."""
        return self.histograms.simulate(self._shares, "kruskal_wallis intervals")

    @cached_property
    def _shares(self) -> Floats:
        return project_shares(self.histograms.counts)

    @property
    def _pooled(self) -> Floats:
        return self.histograms.pooled

    @property
    def _scale(self) -> Floats:
        return np.maximum(self.histograms.rows, 1.0)[:, None]

    @cached_property
    def _noise(self) -> float:
        return self.histograms.measured.noise.cumulants.variance

    @property
    def _clear(self) -> float:
        """Rows that a group must have to be seen in its noise."""
        return float(max(2 * np.sqrt(self.histograms.counts.shape[-1] * self._noise), 1.0))


def _rows(counts: Floats) -> Floats:
    found: Floats = np.maximum(counts.sum(axis=-1), 0.0)
    return found


def _score(counts: Floats) -> Floats:
    shares = project_shares(counts.sum(axis=-2))
    found: Floats = np.cumsum(shares, axis=-1) - shares / 2 - 0.5
    return found
