"""t tests: a mean against a number, of pairs, and of two groups with variances of their own (Welch)."""

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
from adomnia.methods.parts.testing.group_means import LEAST_ERROR, GroupMeans, subtract
from adomnia.methods.parts.testing.moments import moment_query
from adomnia.methods.parts.testing.null_distribution import NullDistribution, as_alternative
from adomnia.methods.parts.testing.report import (
    ADJUST,
    ALTERNATIVE,
    HIDDEN_SPREAD,
    demand_one_row_a_person,
    demand_possible,
    demand_spread,
    demand_two_levels,
    returns,
    tabulate_test,
)
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Measured, ResultTable


@dataclass(frozen=True)
class OneMean(SingleRound):
    """A mean, or the mean difference of pairs, against a number.

    Method      noisy sums of values and squares; the distance of the sum from its null value over the root of its
                variance by sampling and noise. Null: normal values of mean mu, fresh noise, and any variance that
                the noise in the measured one allows for.
    Guarantee   one measurement at the whole price.
    Bias        clamping: the mean is that of values cut at their bounds.
    Cite        Student 1908; Weerahandi 1995 (the simulation); Fieller 1954 (the interval).
    """

    tag: ClassVar[str] = "OneMean"
    name: ClassVar[str] = "t_test"
    error_columns: ClassVar[tuple[str, ...]] = ("estimate",)
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    mu: Fraction
    alternative: str

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((moment_query(self.relation, keys_of(*self.by), self.column), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        lone = Measured(measured[0].values[None, :], measured[0].mechanism, (measured[0], "lone"))
        free = GroupMeans(self.column, self.query, lone, (0.0,), self.by)
        null = free.scale.to_z(float(self.mu))
        observed = float(free.found.studentize(null)[0])

        @lru_cache(maxsize=1)
        def null_distribution() -> NullDistribution:
            return NullDistribution(free.deviate(np.array([null]))[:, 0])

        return tabulate_test(
            [f"mean of {self.column.name}"],
            free.values,
            free.intervals,
            lambda: observed,
            lambda: null_distribution().p_value(observed, as_alternative(self.alternative)),
            limits=free.limits,
            notes=(HIDDEN_SPREAD,) * free.found.lost,
        )


@dataclass(frozen=True)
class TwoMeans(SingleRound):
    """The difference of the means of two groups, whose variances may differ.

    Method      noisy sums of values and squares in each group; the difference of the means over the root of its
                variance by sampling and noise. Null: normal values of one mean, fresh noise, and any variances that
                the noise in the measured ones allows for.
    Guarantee   one measurement at the whole price: a person is in one group.
    Bias        clamping: the means are those of values cut at their bounds.
    Cite        Behrens 1929, Welch 1947; Weerahandi 1995 (the simulation).
    """

    tag: ClassVar[str] = "TwoMeans"
    name: ClassVar[str] = "t_test"
    error_columns: ClassVar[tuple[str, ...]] = ("estimate",)
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    group: Factor
    mu: Fraction
    alternative: str

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((moment_query(self.relation, keys_of(*self.by, self.group), self.column), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        half = float(self.column.domain.width * self.column.domain.step / 2)
        shift = float(self.mu) / half
        groups = GroupMeans(self.column, self.query, measured[0], (shift, 0.0), self.by)
        error = float(np.sqrt(max(groups.found.errors.sum(), LEAST_ERROR)))
        observed = float((groups.found.means @ [1.0, -1.0] - shift) / error)
        difference = float(groups.values[0] - groups.values[1])

        @lru_cache(maxsize=1)
        def null_distribution() -> NullDistribution:
            sums = groups.deviate(groups.null_means) * groups.found.standard_errors(groups.null_means)
            return NullDistribution((sums / groups.found.rows) @ [1.0, -1.0] / error)

        def interval(confidence: float, cells: int) -> Bounds:
            reach = null_distribution().distance(confidence, cells) * half * error
            lower, upper = groups.intervals(confidence, cells)
            ends = np.clip([difference - reach, difference + reach], -2 * half, 2 * half)
            return np.array([ends[0], *lower]), np.array([ends[1], *upper])

        (first, second), (low, high) = self.group.levels, groups.limits
        return tabulate_test(
            [f"{first} - {second}", f"mean of {first}", f"mean of {second}"],
            np.array([difference, *groups.values]),
            interval,
            lambda: observed,
            lambda: null_distribution().p_value(observed, as_alternative(self.alternative)),
            limits=(min(low, -2 * half), max(high, 2 * half)),
            notes=(HIDDEN_SPREAD,) * groups.found.lost,
        )


def build(frame: Frame, arguments: Arguments) -> OneMean | TwoMeans:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "t_test")
    demand_few_tables(arguments["by"], 6)
    column, other, group = arguments["column"], arguments["other"], arguments["group"]
    if other is not None and group is not None:
        raise BadArgument("other", "makes pairs, and group makes two groups", "give one of them")
    if group is not None:
        demand_spread(column)
        demand_two_levels(group)
        relation = with_values(frame.relation, column.value, group)
        return TwoMeans(relation, arguments["by"], column, group, arguments["mu"], arguments["alternative"])
    tested = column if other is None else subtract(column, other)
    demand_spread(tested)
    demand_possible(tested, arguments["mu"])
    relation = with_values(frame.relation, tested.value)
    return OneMean(relation, arguments["by"], tested, arguments["mu"], arguments["alternative"])


METHOD = Method(
    name="t_test",
    chapter="testing",
    summary="Tests a mean, the mean difference of pairs, or the difference of the means of two groups (Welch).",
    parameters=(
        Parameter("column", "column", "the numbers whose mean is tested", required=True),
        Parameter("other", "column", "the second number of each pair: the difference of the two is tested"),
        Parameter("group", "factor", "a column of two values: the means of the two groups are compared"),
        Parameter("mu", "number", "the mean, or the difference, under the null hypothesis", default=Fraction(0)),
        ALTERNATIVE,
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns("the mean, the mean difference, or the difference of means; below it the mean of each group"),
    example="SELECT * FROM t_test(people, column => salary, group => age >= 65)",
    known_as={"R": "t.test", "SAS": "PROC TTEST", "SciPy": "ttest_ind(equal_var=False), ttest_1samp, ttest_rel"},
    notes=("A person must have one row. Values beyond the bounds of the column count as the bounds.",),
)
