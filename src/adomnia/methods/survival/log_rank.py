"""The log-rank test of noisy counts: whether survival differs between groups.

In each interval the events of a group are compared with those that it would have if all groups had the same hazard:
its part of the people at risk, of all events. The differences are added up (Mantel 1966). Their covariance is the
hypergeometric one of the sampling, and that of the noise by how the sums change with each noisy count. The fewer events
are expected in an interval, compared with the noise of their count, the less it weighs; without noise all weigh alike.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import BREAKS
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter, demand_few_tables
from adomnia.methods.parts.densities.shares import require_one_row
from adomnia.methods.parts.survival.times import (
    EVENT,
    HALVED,
    INTERVALS,
    TIME,
    SurvivalCurve,
    Times,
    choose_times,
    require_event,
)
from adomnia.methods.parts.testing.report import ADJUST
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Estimate, Fact, Floats, Measured, ResultTable
from adomnia.statistics.linear import linear
from adomnia.statistics.p_values import EXPLAINED, bound_p_value

_MOST_GROUPS = 50  # the covariance of their noise has the square of that many entries for each interval
_ABOUT = define_note(
    "log_rank_about_population",
    "The test is about the population that the people are a sample of; its distribution knows the noise.",
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
_NOT_ESTIMABLE = define_note(
    "at_risk_lost", "Not estimable: no people at risk are seen above the noise. Ask with a larger price."
)
_TINY = 1e-12


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
            notes=(_ABOUT, *([HALVED, _EVEN] * self.times.open_end), *([] if known else [_NOT_ESTIMABLE])),
            figure={"kind": "points", "x": "group", "y": "observed"},
        )


def _count_events(counted: Measured, times: Times) -> Estimate:
    """The events of each group in all intervals, from counts by group, event and time."""
    intervals = len(times.ends) + times.until_latest
    parts = (Measured(each.values[..., 1], each.mechanism, (each, "events")) for each in counted.entries[:intervals])
    return linear(tuple((part, Fraction(1)) for part in parts), "noisy counts of all intervals")


@dataclass(frozen=True)
class Differences:
    """Curves of groups along the last axis but one: (..., groups, intervals)."""

    groups: SurvivalCurve

    @cached_property
    def pooled(self) -> SurvivalCurve:
        """All groups together."""
        one = self.groups
        variance = one.variance * one.events.shape[-2]
        counts = (one.events.sum(-2), one.censored.sum(-2), one.after.sum(-2))
        return SurvivalCurve(*counts, variance, one.halved, one.until_latest)

    @cached_property
    def expected(self) -> Floats:
        """Events of each group and interval if all had the same hazard."""
        return self._parts * self.pooled.happened[..., None, :]

    @cached_property
    def weights(self) -> Floats:
        """How much each interval counts: 0 where people at risk are not clearly more than their noise."""
        pooled = self.pooled
        at_risk = np.where(pooled.known, pooled.at_risk, 0.0)
        events = np.where(pooled.known, pooled.happened, 0.0).sum(axis=-1, keepdims=True)
        hazard = np.maximum(events, 1.0) / np.maximum(at_risk.sum(axis=-1, keepdims=True), 1.0)
        expected = np.minimum(hazard, 1.0) * at_risk  # by one hazard for all times: single counts are too noisy
        return np.asarray(expected / np.maximum(expected + pooled.variance, _TINY))

    @cached_property
    def statistic(self) -> Floats:
        """The squares of what groups have beyond what is expected, over its covariance; about chi-square if equal."""
        beyond = ((self.groups.happened - self.expected) * self.weights[..., None, :]).sum(axis=-1)[..., :-1]
        inverse = np.linalg.pinv((self._sampling + self._noise)[..., :-1, :-1], hermitian=True)
        return np.asarray(np.maximum(np.einsum("...g,...gh,...h->...", beyond, inverse, beyond), 0.0))

    @cached_property
    def _parts(self) -> Floats:
        """What part of the people at risk is in each group."""
        at_risk = np.maximum(self.groups.at_risk, 0.0)
        return np.asarray(at_risk / np.maximum(at_risk.sum(axis=-2, keepdims=True), 1.0))

    @cached_property
    def _sampling(self) -> Floats:
        at_risk = np.maximum(self.pooled.at_risk, 2.0)
        events = np.minimum(self.pooled.happened, at_risk)
        chance = self.weights**2 * events * (at_risk - events) / (at_risk - 1)
        own = np.einsum("...k,...gk->...g", chance, self._parts)
        shared = np.einsum("...k,...gk,...hk->...gh", chance, self._parts, self._parts)
        return np.asarray(own[..., :, None] * np.eye(shared.shape[-1]) - shared)

    @cached_property
    def _noise(self) -> Floats:
        """From the slopes of each sum in the counts of each group: (..., sums, groups, counts)."""
        apart = np.eye(self._parts.shape[-2])[:, :, None] - self._parts[..., :, None, :]
        hazard = self.pooled.happened / np.maximum(self.pooled.at_risk, 1.0)
        pull = (self.weights * hazard)[..., None, None, :] * apart
        pulled = np.cumsum(pull, axis=-1)
        events = self.weights[..., None, None, :] * apart - pulled
        censored = self.groups.part_censored * pull - pulled
        after = np.repeat(-pulled[..., -1:], self.groups.after.shape[-1], axis=-1)
        if self.groups.until_latest:
            after[..., 1] = events[..., -1]
        slopes = np.concatenate([events, censored, after], axis=-1)
        return np.asarray(self.groups.variance * np.einsum("...ghk,...fhk->...gf", slopes, slopes))


def _p_value(found: Differences, degrees_of_freedom: int) -> Fact:
    from scipy.special import chdtrc

    return bound_p_value(float(chdtrc(degrees_of_freedom, found.statistic)))


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
