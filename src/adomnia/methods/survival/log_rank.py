"""The log-rank test: whether groups survive alike."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from adomnia.messages.notes import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import BREAKS
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter
from adomnia.methods.parts.densities.sampling import require_one_row
from adomnia.methods.parts.survival.differences import Differences
from adomnia.methods.parts.survival.times import EVENT, HALVED, INTERVALS, TIME, Times, choose_times, require_event
from adomnia.methods.parts.testing.adjustment import ADJUST
from adomnia.methods.table_limits import demand_few_tables
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Estimate, Fact, Measured, ResultTable
from adomnia.statistics.linear import linear
from adomnia.statistics.p_values import EXPLAINED, bound_p_value

_MOST_GROUPS = 50  # the covariance of their noise has the square of that many entries for each interval
_ABOUT = define_note(
    "log_rank_about_population",
    "The test is about the population that the people are a sample of; its law knows the noise.",
)
_EVEN = define_note(
    "censored_evenly",
    "With grouped times the test supposes that groups are censored at the same parts of an interval of time. Where they"
    " are not, equal groups are rejected too often: ask for more intervals.",
)
_MEASURED = (
    "Measured at 5%, 20,000 people and epsilon 1: 41 of 100 tests reject where one of two equal groups is censored only"
    " at the beginning of each of 20 intervals, 5 of 100 with 100 intervals. Equal groups that are censored at two"
    " constant rates (0.1 and 2, events 1) are rejected in 4 of 100 tests with 20 intervals, always with 5."
)
_NO_REPLY = define_note(
    "at_risk_lost", "No reply: no people at risk are seen above the noise. Ask with a larger price."
)


@dataclass(frozen=True)
class LogRank(SingleRound):
    """A test of equal survival in two or more groups.

    Method      one noisy count for each group and interval of time and for events and censored; the log-rank statistic
                with the noise in its covariance, and weights that fall where the noise is larger than what is counted.
    Guarantee   one measurement of disjoint counts at the whole price.
    Bias        none where intervals hold one time: without noise it is the textbook's statistic. With grouped times
                that of the life table, which the p-value does not allow for.
    Cite        Mantel 1966; Peto & Peto 1972.
    """

    tag: ClassVar[str] = "Log-rank"
    name: ClassVar[str] = "log_rank"
    rules: ClassVar[int] = 3  # intervals hold their ends, whatever the times are
    relation: Relation
    by: tuple[Factor, ...]
    times: Times
    happened: Factor
    group: Factor

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        keys = (*keys_of(*self.by, self.group, self.happened), self.times.bins.key)
        return ((Query(self.relation, keys, Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        (counted,) = measured
        found, groups = Differences(self.times.curve(counted)), len(self.group.levels)
        known = bool(found.pooled.known.any())
        return ResultTable(
            labels={"group": self.group.levels},
            estimates={"observed": _count_events(counted, self.times)},
            facts={
                "expected": lambda: tuple(map(float, found.expected.sum(axis=-1))),
                "statistic": lambda: (float(found.statistic) if known else None,) * groups,
                "df": lambda: (groups - 1,) * groups,
                "p_value": lambda: (_p_value(found, groups - 1) if known else None,) * groups,
            },
            notes=(_ABOUT, *([HALVED, _EVEN] * self.times.open_end), *([] if known else [_NO_REPLY])),
            figure={"kind": "points", "x": "group", "y": "observed"},
        )


def _count_events(counted: Measured, times: Times) -> Estimate:
    """The events of each group in all intervals, from counts by group, event and time."""
    intervals = len(times.ends) + times.until_latest
    parts = (Measured(each.values[..., 1], each.mechanism, (each, "events")) for each in counted.entries[:intervals])
    return linear(tuple((part, Fraction(1)) for part in parts), "noisy counts of all intervals")


def _p_value(found: Differences, freedom: int) -> Fact:
    from scipy.special import chdtrc

    return bound_p_value(float(chdtrc(freedom, found.statistic)))


def _build(frame: Frame, arguments: Arguments) -> LogRank:
    require_one_row(frame, METHOD.name)
    times, event, group = choose_times(arguments), require_event(arguments["event"]), arguments["group"]
    groups = len(group.levels)
    if not 2 <= groups <= _MOST_GROUPS:
        raise BadArgument(
            "group",
            f"must have between 2 and {_MOST_GROUPS} values, and {group.name} has {groups}",
            "choose another column, or make fewer groups in the bracketed SELECT",
        )
    demand_few_tables(arguments["by"], 2 * groups**2)
    rows = with_values(frame.relation, arguments["time"].value, event, group)
    return LogRank(rows, arguments["by"], times, event, group)


METHOD = Method(
    name="log_rank",
    chapter="survival",
    summary="Tests whether groups survive alike, where some people were censored.",
    parameters=(
        TIME,
        EVENT,
        Parameter("group", "factor", "the groups that are compared", required=True),
        INTERVALS,
        BREAKS,
        BY,
        ADJUST,
    ),
    build=_build,
    returns={
        "group": "the group",
        "observed": "the number of events in it; its interval is about the data",
        "expected": "the noisy number of events it would have if all groups survived alike",
        "statistic": "the squares of how many events groups have beyond those of equal survival, over their variance",
        "df": "its degrees of freedom: the number of groups less one",
        "p_value": f"how probable so large a statistic is if all groups survive alike; {EXPLAINED}",
    },
    example="SELECT * FROM log_rank((SELECT age, sex, salary > 90000 AS promoted FROM people), "
    "time => age, event => promoted, group => sex)",
    known_as={"R": "survival::survdiff", "SAS": "PROC LIFETEST", "statsmodels": "survdiff"},
    notes=(f"{_EVEN} {_MEASURED}",),
)
