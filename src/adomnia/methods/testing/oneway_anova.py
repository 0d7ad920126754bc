"""One-way analysis of variance: whether the means of several groups differ, with variances of their own (Welch)."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

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
from adomnia.methods.parts.testing.group_means import LEAST_ERROR, GroupMeans
from adomnia.methods.parts.testing.moments import GroupMoments, moment_query
from adomnia.methods.parts.testing.null_distribution import NullDistribution
from adomnia.methods.parts.testing.report import ADJUST, demand_one_row_a_person, demand_spread, returns, tabulate_test
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable

MOST_GROUPS = 1_000


@dataclass(frozen=True)
class OnewayAnova(SingleRound):
    """Whether the means of groups differ.

    Method      noisy sums of values and squares in each group; Welch's F, whose weights are the inverse variances of
                the means by sampling and noise. Null: normal values of one mean, own variances, and fresh noise.
    Guarantee   one measurement at the whole price: a person is in one group.
    Bias        clamping: the means are those of values cut at their bounds.
    Cite        Welch 1951; Ferrando, Wang & Sheldon 2022 (the simulation).
    """

    tag: ClassVar[str] = "OnewayAnova"
    name: ClassVar[str] = "oneway_anova"
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    group: Factor

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((moment_query(self.relation, keys_of(*self.by, self.group), self.column), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        groups = GroupMeans(self.column, self.query, measured[0], (0.0,) * len(self.group.levels), self.by)
        together = _pool(groups.found)
        observed = float(compare_means(groups.found))

        @lru_cache(maxsize=1)
        def null_distribution() -> NullDistribution:
            return NullDistribution(compare_means(groups.simulated))

        def interval(confidence: float, cells: int) -> Bounds:
            off = NullDistribution(_pool(groups.simulated).studentize(groups.null_means[0]))
            overall = groups.to_values(together.mean_intervals(off.distance(confidence, cells)))
            each = groups.intervals(confidence, cells)
            return np.concatenate([overall[0], each[0]]), np.concatenate([overall[1], each[1]])

        return tabulate_test(
            ["all groups", *(f"mean of {level}" for level in self.group.levels)],
            np.array([groups.scale.to_values(np.clip(together.means, -1.0, 1.0)), *groups.values]),
            interval,
            lambda: observed,
            lambda: null_distribution().p_value(observed),
            limits=groups.limits,
        )


def compare_means(moments: GroupMoments) -> Floats:
    """Welch's F of the groups on the last axis."""
    count = moments.means.shape[-1]
    weights = 1 / np.maximum(moments.errors, LEAST_ERROR)
    parts = weights / weights.sum(axis=-1, keepdims=True)
    centre = (parts * moments.means).sum(axis=-1, keepdims=True)
    between = (weights * (moments.means - centre) ** 2).sum(axis=-1) / (count - 1)
    uncertain = ((1 - parts) ** 2 / np.maximum(moments.rows - 1, 1.0)).sum(axis=-1)
    found: Floats = between / (1 + 2 * (count - 2) / (count**2 - 1) * uncertain)
    return found


def _pool(moments: GroupMoments) -> GroupMoments:
    """The sums of all groups together."""
    return GroupMoments(moments.sums.sum(axis=-2), moments.noise * moments.sums.shape[-2])


def build(frame: Frame, arguments: Arguments) -> OnewayAnova:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "oneway_anova")
    column, group = arguments["column"], arguments["group"]
    demand_spread(column)
    if not 2 <= len(group.levels) <= MOST_GROUPS:
        raise BadArgument(
            "group",
            f"must have between 2 and {MOST_GROUPS} values, and {group.name} has {len(group.levels)}",
            "choose another column, or make fewer groups in the bracketed SELECT",
        )
    demand_few_tables(arguments["by"], 3 * len(group.levels))
    return OnewayAnova(with_values(frame.relation, column.value, group), arguments["by"], column, group)


METHOD = Method(
    name="oneway_anova",
    chapter="testing",
    summary="Tests whether the means of a column differ between groups, whose variances may differ (Welch).",
    parameters=(
        Parameter("column", "column", "the numbers whose means are compared", required=True),
        Parameter("group", "factor", "the groups", required=True),
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns("the mean of everybody, beside the test; below it the mean of each group"),
    example="SELECT * FROM oneway_anova(people, column => salary, group => city)",
    known_as={"R": "oneway.test", "SAS": "PROC ANOVA", "SciPy": "f_oneway", "statsmodels": "anova_oneway"},
    notes=("A person must have one row. Values beyond the bounds of the column count as the bounds.",),
)
