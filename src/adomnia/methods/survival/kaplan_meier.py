"""Survival curves: Kaplan-Meier, or a life table where intervals hold many times.

Grouped times leave open in which order people of one interval had their event or were censored. The curve of exact
times lies between two others. In the lowest one everybody who is censored within an interval leaves before its events,
in the highest one after them. An interval that runs from below the lowest curve to above the highest one covers every
order. The truth cannot be beyond both ends, so that each end needs less reach the further they are apart: 1.96 standard
deviations where they meet, 1.64 where they are far apart (Imbens & Manski 2004).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.distributions.simulations import draw_again
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import BREAKS
from adomnia.methods.contract import BY, Arguments, Factor, Frame, Method, demand_few_tables
from adomnia.methods.parts.densities.shares import ABOUT_PEOPLE, require_one_row
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
from adomnia.methods.simulation import count_simulations
from adomnia.noise.afterwards import follow
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Bounds, Estimate, Fact, Floats, Measured, ResultTable

_DRAWS = 2_000
_TINY = 1e-9
_UNKNOWN = define_note(
    "survival_unknown",
    "Where hardly more people are at risk than the noise, survival stays as it was and its interval reaches to 0.",
)
_GROUPED = define_note(
    "grouped_times",
    "With grouped times the interval of survival covers every order of events and censorings within a group of times."
    " The interval of the median runs between ends of groups. standard_error allows for sampling and noise alone.",
)
_FINER = "With many people, a larger `intervals` makes both narrower."
_MEDIAN = define_note(
    "median_survival", "The median is the time when half survive: not estimable where the curve stays above one half."
)
_HALVINGS = 30  # of the reach: it is found to 1e-8 standard deviations


@dataclass(frozen=True)
class KaplanMeier(SingleRound):
    """The share of people without the event at each time.

    Method      one noisy count for each interval of time and for events and censored; those at risk are sums of them.
                Intervals by Greenwood's variance and that of the noise. Those of grouped times begin below the curve
                whose censored leave before the events of their interval, and end above the one where they leave after.
    Guarantee   one measurement of disjoint counts at the whole price.
    Bias        that of the life table within intervals, which intervals allow for; survival is not cut at 0 and 1
                before its interval is known.
    Cite        Kaplan & Meier 1958; Greenwood 1926; Imbens & Manski 2004; Gondara & Wang 2020 (private curves).
    """

    tag: ClassVar[str] = "Kaplan-Meier"
    name: ClassVar[str] = "kaplan_meier"
    rules: ClassVar[int] = 3  # intervals hold their ends, whatever the times are
    relation: Relation
    by: tuple[Factor, ...]
    times: Times
    happened: Factor

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        keys = (*keys_of(*self.by, self.happened), self.times.bins.key)
        return ((Query(self.relation, keys, Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        (counted,) = measured
        drawn = Survival(self.times.curve(counted), self.times, counted)
        curve = drawn.curve
        return ResultTable(
            labels={"time": self.times.ends},
            estimates={
                "survival": Estimate(drawn.values, drawn.bounds, "product of what intervals leave"),
                "median": Estimate(drawn.median, drawn.median_bounds, "time when half survive"),
            },
            facts={
                "standard_error": drawn.standard_errors,
                "at_risk": lambda: tuple(map(float, curve.at_risk)),
                "events": lambda: tuple(map(float, curve.happened)),
            },
            notes=(
                ABOUT_PEOPLE,
                _MEDIAN,
                *([HALVED, _GROUPED] * curve.halved),
                *([] if curve.known.all() else [_UNKNOWN]),
            ),
            figure={"kind": "steps", "x": "time", "y": "survival"},
            about="population",
        )


@dataclass(frozen=True)
class Survival:
    """What is shown of a noisy curve."""

    curve: SurvivalCurve
    times: Times
    measured: Measured

    @cached_property
    def values(self) -> Floats:
        """Survival that falls, between 1 and 0: half way between the nearest such curves above and below."""
        raw = np.clip(self.curve.survival, 0, 1)
        return (np.minimum.accumulate(raw) + np.maximum.accumulate(raw[::-1])[::-1]) / 2

    @cached_property
    def _deviations(self) -> Floats:
        return np.sqrt(self.curve.variances)

    @cached_property
    def _range(self) -> Bounds:
        """Between which curves that of exact times lies; from 0 where nobody may be left before the events."""
        first, last = self.curve.extremes
        lowest = np.where(first.known & self.curve.known, np.minimum(first.survival, last.survival), 0.0)
        return lowest, np.maximum(lowest, last.survival)

    @cached_property
    def _errors(self) -> Bounds:
        """Standard deviations of both ends of the range."""
        first, last = (
            # One event more: where few are seen, their variance is low.
            np.hypot(np.sqrt(each.variances), self.values / np.maximum(each.at_risk, 1.0))
            for each in self.curve.extremes
        )
        return first, last

    def bounds(self, confidence: float, cells: int) -> Bounds:
        """The interval at each time; for all times at once if `cells` are more than one."""
        (lowest, highest), (below, above) = self._range, self._errors
        critical = self._critical(confidence, cells)
        lower = np.where(self.curve.known, lowest - critical * below, 0.0)
        upper = np.where(self.curve.known, highest + critical * above, np.inf)
        last = upper[self.curve.known][-1:]  # later survival is not above the last that is known
        upper = np.where(self.curve.known, upper, last[0] if len(last) else 1.0)
        return np.clip(lower, 0, self.values), np.clip(upper, self.values, 1)

    def standard_errors(self) -> tuple[Fact, ...]:
        """Of survival; not estimable where it is not known."""
        pairs = zip(self._deviations, self.curve.known, strict=True)
        return tuple(float(each) if known else None for each, known in pairs)

    @property
    def median(self) -> Floats:
        """The time when half survive, the same for all rows."""
        found = self._find_half(self.values)
        return np.full(self.curve.intervals, found if np.isfinite(found) else np.nan)

    def median_bounds(self, confidence: float, _cells: int) -> Bounds:
        """From the first time at which half may survive, to the last one."""
        low, high = self.bounds(confidence, 1)
        lower, upper = (np.full(self.curve.intervals, each) for each in (self._cross(low)[0], self._cross(high)[1]))
        unknown = np.isnan(self.median)
        return np.where(unknown, -np.inf, lower), np.where(unknown, np.inf, upper)

    def _cross(self, curve: Floats) -> tuple[float, float]:
        """The ends of the interval in which a curve comes to a half; twice its time where it holds one alone."""
        below = np.flatnonzero(curve <= 0.5)
        if not len(below):
            return np.inf, np.inf
        place = int(below[0])
        time, before = self.times.ends[place], self.times.ends[place - 1] if place else self.times.start
        return before if self.curve.halved else time, time

    def _find_half(self, curve: Floats) -> float:
        """When a curve comes to a half, by one hazard within an interval; infinity if it does not."""
        before, time = self._cross(curve)
        if before == time:
            return time
        place = self.times.ends.index(time)
        high, low = (curve[place - 1] if place else 1.0), max(curve[place], _TINY)
        return float(before + (time - before) * np.log(high / 0.5) / np.log(high / low))

    def _critical(self, confidence: float, cells: int) -> Floats:
        """How many standard deviations survival stays within, in simulations; at least the normal ones."""
        from scipy.special import ndtri

        if cells <= 1 and self.curve.halved:
            (lowest, highest), errors = self._range, np.maximum(*self._errors)
            return find_reach(self._simulated, (highest - lowest) / np.where(errors > 0, errors, 1.0), confidence)
        if cells <= 1:
            found = np.quantile(self._simulated, confidence, axis=0)
        else:
            level = confidence ** min(1.0, self.curve.intervals / cells)
            found = np.quantile(self._simulated.max(axis=1), level)
        return np.asarray(np.maximum(found, ndtri((1 + confidence) / 2)))

    @cached_property
    def _simulated(self) -> Floats:
        """Deviations by noise of its own distribution, which has heavier tails than the normal one, and by sampling."""
        generator = follow([self.measured.values], "band of a curve")
        draws = count_simulations(_DRAWS)
        noise = draw_again(self.measured.noise, generator, (draws, self.measured.values.size))
        moved = self.curve.deviate(noise, generator.normal(size=(draws, self.curve.intervals)))
        return np.asarray(np.abs(moved) / np.where(self._deviations > 0, self._deviations, 1.0))


def _build(frame: Frame, arguments: Arguments) -> KaplanMeier:
    require_one_row(frame, METHOD.name)
    times, event = choose_times(arguments), require_event(arguments["event"])
    rows = with_values(frame.relation, arguments["time"].value, event)
    demand_few_tables(arguments["by"], 4 * len(times.bins))
    return KaplanMeier(rows, arguments["by"], times, event)


METHOD = Method(
    name="kaplan_meier",
    chapter="survival",
    summary="Survival: the share of people without the event at each time, where some were censored before.",
    parameters=(TIME, EVENT, INTERVALS, BREAKS, BY),
    build=_build,
    returns={
        "time": "until when",
        "survival": "the share of people who have had no event by then",
        "median": "the time when half survive, the same in all rows",
        "standard_error": "how far survival is off, by sampling and noise",
        "at_risk": "the noisy number of people at risk in the interval that ends then",
        "events": "the noisy number of events in it",
    },
    example="SELECT * FROM kaplan_meier((SELECT age, salary > 90000 AS promoted FROM people), "
    "time => age, event => promoted)",
    known_as={"R": "survival::survfit", "SAS": "PROC LIFETEST", "statsmodels": "SurvfuncRight"},
    notes=(f"{_GROUPED} {_FINER}",),
)


def find_reach(simulated: Floats, apart: Floats, confidence: float) -> Floats:
    """By how many standard deviations intervals go beyond two ends, so as to cover whatever lies between them.

    `simulated` are sizes of standardised deviations, with the draws along the first axis; `apart` tells how many
    standard deviations the ends are apart. Deviations are taken to be at least those of a normal distribution.

    >>> find_reach(np.zeros((1, 3)), np.array([0.0, 1.0, 9.0]), 0.95).round(3).tolist()
    [1.96, 1.681, 1.645]
    """
    from scipy.special import ndtr

    def miss(reach: Floats) -> Floats:
        """How often both ends together are missed, if the truth is at one of them."""
        found = sum(np.maximum((simulated > each).mean(axis=0), 2 * ndtr(-each)) for each in (reach, reach + apart))
        return np.asarray(found / 2)

    low, high = np.zeros_like(apart), np.full_like(apart, max(10.0, float(simulated.max(initial=0.0))))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = miss(middle) <= 1 - confidence
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
