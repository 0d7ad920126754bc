"""Kruskal and Wallis's test: whether values of some groups tend to be larger than those of others."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from adomnia.messages.notes import define_note
from adomnia.methods.analysis import with_values
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.describe.rounds import SeveralRounds, table_of
from adomnia.methods.parts.testing.adjustment import ADJUST
from adomnia.methods.parts.testing.binned import Histograms
from adomnia.methods.parts.testing.null_law import NullLaw
from adomnia.methods.parts.testing.rank_cuts import (
    BINNED,
    TIED,
    CutRows,
    RankCuts,
    demand_choosable,
    demand_few_cuts,
    rank_bins_parameter,
)
from adomnia.methods.parts.testing.relative_effects import RelativeEffects
from adomnia.methods.parts.testing.report import demand_one_row_a_person, demand_spread, returns, tabulate_test
from adomnia.methods.table_limits import demand_few_tables
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, ResultTable, Steps

MOST_GROUPS = 100
_LOST = define_note(
    "groups_lost", "Some groups have so few rows that they are lost in the noise: nothing is known of their values."
)


@dataclass(frozen=True)
class KruskalWallis(SeveralRounds):
    """Whether the values of groups tend to be larger than those of everybody.

    Method      noisy histograms of all groups, in bins of one value or between values chosen by rank; Kruskal and
                Wallis's H, in which a group counts less the more noise it has. Null: multinomial laws of the shares of
                all groups together, and fresh noise. Epsilon squared: tables between the pooled one and the one that
                was seen are drawn again; the interval holds those that look like it.
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
        def law() -> NullLaw:
            return NullLaw(found.compare(histograms.simulate(histograms.pooled, "kruskal_wallis")))

        def interval(confidence: float, cells: int) -> Bounds:
            overall, each = found.size_interval(confidence, cells), found.intervals(confidence, cells)
            return np.append(overall[0], each[0]), np.append(overall[1], each[1])

        return tabulate_test(
            ["epsilon squared", *(f"P({level} > anyone)" for level in self.group.levels)],
            np.append(found.size, found.values),
            interval,
            lambda: observed,
            lambda: law().p_value(observed),
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
