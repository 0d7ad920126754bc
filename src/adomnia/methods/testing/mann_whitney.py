"""Mann and Whitney's test: whether values of one group tend to be larger than those of the other."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from adomnia.distributions.projections import project_shares
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import BY, Arguments, Factor, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.describe.rounds import SeveralRounds, table_of
from adomnia.methods.parts.testing.adjustment import ADJUST
from adomnia.methods.parts.testing.binned import LOST, Histograms
from adomnia.methods.parts.testing.null_law import NullLaw, as_alternative
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
    ALTERNATIVE,
    demand_one_row_a_person,
    demand_spread,
    demand_two_levels,
    returns,
    tabulate_test,
)
from adomnia.methods.parts.testing.superiority import Pairs, superiority, vary_by_order, vary_by_sampling
from adomnia.methods.table_limits import demand_few_tables
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable, Steps


@dataclass(frozen=True)
class MannWhitney(SingleRound):
    """How probable it is that a value of the first group is larger than one of the second, ties counting half.

    Method      noisy histograms, projected to be shares, of which that probability is a sum of products. Null:
                multinomial laws of the shares of both groups together, and fresh noise.
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
    def law() -> NullLaw:
        return NullLaw(compare(histograms.simulate(histograms.pooled, "mann_whitney")) - 0.5)

    noise, shares = rows.measured.noise.cumulants.variance, project_shares(histograms.counts)
    sampling = vary_by_sampling(shares, histograms.rows)
    order = vary_by_order(shares, rows.tied[0]) * float(np.prod(histograms.rows)) ** 2

    @lru_cache(maxsize=1)
    def errors() -> NullLaw:
        again = histograms.simulate(shares, "mann_whitney intervals")
        return NullLaw(Pairs(again, noise, sampling).studentize(float(superiority(shares))))

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
        lambda: law().p_value(larger - 0.5, as_alternative(asked.alternative)),
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
