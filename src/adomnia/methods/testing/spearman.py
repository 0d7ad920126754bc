"""Spearman's rank correlation of two columns."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from adomnia.methods.analysis import with_values
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, NumberColumn, Parameter
from adomnia.methods.describe.rounds import SeveralRounds, table_of
from adomnia.methods.fresh_noise import variance_of
from adomnia.methods.table_limits import demand_few_tables
from adomnia.methods.testing.binned import Histograms
from adomnia.methods.testing.null_law import NullLaw, as_alternative
from adomnia.methods.testing.rank_cuts import (
    TIED,
    CutRows,
    RankCuts,
    demand_choosable,
    demand_few_cuts,
    rank_bins_parameter,
)
from adomnia.methods.testing.report import (
    ALTERNATIVE,
    demand_one_row_a_person,
    demand_spread,
    returns,
    tabulate_test,
)
from adomnia.methods.testing.shares import project
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable, Steps

_MOST_BINS = 24
_LOST = "The rows are so few, or so much alike, that they are lost in the noise: nothing is known of the correlation."
_LEAST = 1e-12  # variances of ranks that are divided by


@dataclass(frozen=True)
class Spearman(SeveralRounds):
    """Whether the ranks of two columns are correlated.

    Method      noisy counts of a table whose bins hold one value or lie between values chosen by rank; the sum of
                products of the ranks of its bins, over their deviations. Null: the product of both distributions, and
                fresh noise.
    Guarantee   of few values one measurement at the whole price, else three rounds composed.
    Bias        bins: values in one bin count as equal. How far that may change the correlation is in the interval.
    Cite        Spearman 1904; Kaplan, Schnapp & Stemmer 2022 (the choice); Ferrando, Wang & Sheldon 2022.
    """

    tag: ClassVar[str] = "Spearman"
    name: ClassVar[str] = "spearman"
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    other: NumberColumn
    bins: int
    alternative: str

    @property
    def _cuts(self) -> RankCuts:
        return RankCuts(self.relation, self.by, (self.column, self.other), self.bins)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self._cuts.query, Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        found = yield from self._cuts.count(price)
        return table_of(self.by, [self._tabulate(each) for each in found])

    def _tabulate(self, rows: CutRows) -> ResultTable:
        flat = Measured(rows.measured.values.reshape(1, -1), rows.measured.mechanism, (rows.measured, "table"))
        histograms = Histograms(flat, self.by)
        ranks = TableRanks(rows.measured.values.shape, rows.tied, variance_of(rows.measured.noise))

        def correlate(counts: Floats) -> Floats:
            return np.where(histograms.are_lost(counts), 0.0, ranks.correlate(counts)[0])

        observed = float(correlate(histograms.counts))
        lost = histograms.lost or ranks.lost(histograms.counts)
        shares = project(histograms.counts)

        @lru_cache(maxsize=1)
        def law() -> NullLaw:
            return NullLaw(correlate(histograms.simulate(ranks.multiply(shares), "spearman")))

        @lru_cache(maxsize=1)
        def errors() -> Floats:
            again = ranks.correlate(histograms.simulate(shares, "spearman intervals"))
            return again - ranks.correlate(shares * max(float(histograms.rows[0]), 1.0))[:, None]

        def interval(confidence: float, cells: int) -> Bounds:
            if lost:
                return -np.ones(1), np.ones(1)
            reach = np.array([NullLaw(each).distance(confidence, cells) for each in errors()])
            found = ranks.correlate(histograms.counts)
            return np.clip([(found - reach).min()], -1.0, 1.0), np.clip([(found + reach).max()], -1.0, 1.0)

        return tabulate_test(
            [f"rank correlation of {self.column.name} and {self.other.name}"],
            np.array([np.nan if lost else np.clip(observed, -1.0, 1.0)]),
            interval,
            lambda: observed,
            lambda: law().p_value(observed, as_alternative(self.alternative)),
            notes=(*(() if rows.exact else (TIED,)), *((_LOST,) if lost else ())),
        )


@dataclass(frozen=True)
class TableRanks:
    """Ranks of the bins of a table: rows of it are those of one column, and so on. `tied` hold one value."""

    shape: tuple[int, ...]
    tied: tuple[tuple[bool, ...], ...]
    noise: float

    def correlate(self, counts: Floats) -> Floats:
        """The correlation of ranks, of noisy counts on the last axis: twice, the last but one has length one.

        First as where it is weak: mean ranks within a bin then change with the other column as they do between bins,
        and bins hide a share of it, which ranks within them have of the variance of all. Then as where one column
        follows from the other: bins hide the same share of the products and of the variances.
        """
        table = self._table(counts)
        rows = np.maximum(counts.sum(axis=-1)[..., 0], 1.0)
        margins = [project(table.sum(axis=axis)) for axis in (-1, -2)]
        first, second = (np.cumsum(each, axis=-1) - each / 2 - 0.5 for each in margins)
        strong = np.einsum("...i,...ij,...j->...", first, table, second) / rows
        weak = strong
        for margin, score, tied in zip(margins, (first, second), self.tied, strict=True):
            between = np.maximum((margin * score**2).sum(axis=-1), _LEAST)
            inside = (margin[..., ~np.asarray(tied)] ** 3).sum(axis=-1) / 12
            strong, weak = strong / np.sqrt(between), weak * np.sqrt(between + inside) / between
        return np.stack([weak, strong])

    def multiply(self, shares: Floats) -> Floats:
        """The table in which the columns have nothing to do with each other."""
        table = self._table(shares)
        found: Floats = (table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :]).reshape(shares.shape)
        return found

    def lost(self, counts: Floats) -> bool:
        """Whether all rows but those that may be noise alone are in one bin of a column: it has no ranks then."""
        table = self._table(counts)
        clear = 2 * np.sqrt(self.noise * counts.shape[-1])
        return any(float(each.sum() - each.max()) < max(clear, 1.0) for each in (table.sum(axis=1), table.sum(axis=0)))

    def _table(self, counts: Floats) -> Floats:
        return counts[..., 0, :].reshape(*counts.shape[:-2], *self.shape)


def build(frame: Frame, arguments: Arguments) -> Spearman:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "spearman")
    column, other, bins, by = (arguments[name] for name in ("column", "other", "bins", "by"))
    demand_spread(column)
    demand_spread(other, "other")
    if column.value == other.value:
        raise BadArgument("other", "is the same as column", "choose another column")
    demand_few_tables(by, bins**2)
    demand_choosable(column)
    demand_choosable(other, "other")
    demand_few_cuts(by, bins, column, other)
    relation = with_values(frame.relation, column.value, other.value)
    return Spearman(relation, by, column, other, bins, arguments["alternative"])


METHOD = Method(
    name="spearman",
    chapter="testing",
    summary="Tests whether the ranks of two columns are correlated (Spearman).",
    parameters=(
        Parameter("column", "column", "one column", required=True),
        Parameter("other", "column", "the other column", required=True),
        ALTERNATIVE,
        rank_bins_parameter(16, _MOST_BINS),
        BY,
    ),
    build=build,
    returns=returns("Spearman's rank correlation"),
    example="SELECT * FROM spearman(people, column => age, other => salary)",
    elsewhere={"R": 'cor.test(method = "spearman")', "SAS": "PROC CORR SPEARMAN", "SciPy": "spearmanr"},
    notes=(
        "A person must have one row. Values beyond the bounds of a column count as the bounds.",
        "Of whole numbers that are no more than `bins` each has its own bin. Others are cut at values chosen by rank.",
    ),
)
