"""Times to an event in intervals, and survival curves from noisy counts of events and of who was censored.

Those who are at risk in an interval are all who are counted in it or later. Where an interval holds many possible
times, those who are censored within it are taken to be at risk for half of it (the life table; Cutler & Ederer 1958);
where it holds one time alone, for all of it (Kaplan & Meier 1958).

The variance of the logarithm of survival is Greenwood's for the sampling, and for the noise its own times the squares
of how the logarithm changes with each count.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from adomnia.messages.texts import define_note
from adomnia.methods.column_bins import ColumnBins, choose_bins
from adomnia.methods.contract import Arguments, BadArgument, Factor, NumberColumn, Parameter
from adomnia.privacy.domains import Numbers
from adomnia.statistics.contract import Floats, Measured

_MOST_INTERVALS = 200
_USUAL_INTERVALS = 20
_HALF = Fraction(1, 2)
_FINE = 2**16  # grid values between the bounds: from then on, an end between two of them need not be moved to one

TIME = Parameter("time", "column", "how long each person was seen, from the same start for all", required=True)
EVENT = Parameter(
    "event",
    "factor",
    "whether the event happened then: a boolean, or 1 and 0; else the person was censored",
    required=True,
)
INTERVALS = Parameter(
    "intervals",
    "integer",
    "how many intervals of equal length there are between the bounds of time; by default times on a grid of at"
    f" most {_MOST_INTERVALS} values, as whole ones, stand alone, and others have {_USUAL_INTERVALS} intervals",
    lower=1,
    upper=_MOST_INTERVALS,
)

HALVED = define_note(
    "times_grouped",
    "Times are grouped: people censored within an interval count as at risk for half of it (life table), those censored"
    " at the latest time for all of it. An event at the end of an interval counts in it.",
)
_CLEAR = 2.5  # standard deviations of their noise that people at risk must exceed
_LEAST = 0.5  # people, of what is divided by and of what has a variance


@dataclass(frozen=True)
class SurvivalCurve:
    """One curve, or several along the first axes.

    `events` and `censored` are of shape (..., intervals), `after` is of shape (..., cells): counts of those who are
    seen beyond all intervals. `variance` is that of the noise of each count. `halved`: whether intervals hold many
    times, so that the censored count half; `part`: for what part of such an interval they are not at risk.
    `until_latest`: whether those after, censored and with an event, are those of the latest time. It ends the last
    interval: what happens then counts in it, and who is censored then is at risk for all of it.
    """

    events: Floats
    censored: Floats
    after: Floats
    variance: float
    halved: bool
    until_latest: bool = False
    part: float = 0.5

    @property
    def intervals(self) -> int:
        """How many there are."""
        return int(self.events.shape[-1])

    @cached_property
    def happened(self) -> Floats:
        """The noisy number of events in each interval, its end included."""
        if not self.until_latest:
            return self.events
        latest = self.events[..., -1:] + self.after[..., 1:]
        return np.concatenate([self.events[..., :-1], latest], axis=-1)

    @cached_property
    def at_risk(self) -> Floats:
        """The noisy number of people at risk in each interval."""
        both = self.events + self.censored
        later = np.cumsum(both[..., ::-1], axis=-1)[..., ::-1] + self.after.sum(axis=-1, keepdims=True)
        return np.asarray(later - self.part_censored * self.censored)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether people at risk are clearly more than their noise, there and before."""
        cells = 2 * np.arange(self.intervals, 0, -1) + self.after.shape[-1]
        clear = self.at_risk > np.maximum(1.0, _CLEAR * np.sqrt(self.variance * cells))
        return np.logical_and.accumulate(clear, axis=-1)

    @cached_property
    def survival(self) -> Floats:
        """The share that survives each interval, as long as it is known: not made to fall, nor cut at 0 and 1."""
        return np.cumprod(1 - np.minimum(self._seen / self._divisor, 1.0), axis=-1)

    @cached_property
    def variances(self) -> Floats:
        """Those of survival in each interval, by sampling and noise."""
        logarithms = np.cumsum(self._greenwood, axis=-1) + self.variance * (self._slopes**2).sum(axis=-1)
        return np.asarray(logarithms * self._size**2)

    def deviate(self, noise: Floats, chance: Floats) -> Floats:
        """How survival deviates by noise of all counts and by standard normal chance in each interval, to first order.

        Of one curve; both have the draws along their first axis, noise of events, of censored and of those after.
        """
        sampling = np.cumsum(chance * np.sqrt(self._greenwood), axis=-1)
        return np.asarray((sampling + noise @ self._slopes.T) * self._size)

    @property
    def part_censored(self) -> float:
        """For what part of their interval the censored are not at risk."""
        return self.part if self.halved else 0.0

    @cached_property
    def extremes(self) -> tuple["SurvivalCurve", "SurvivalCurve"]:
        """The censored of an interval all leave before its events, or after them; exact times have a curve between.

        The same curve twice where intervals hold one time.
        """
        return (replace(self, part=1.0), replace(self, part=0.0)) if self.halved else (self, self)

    @cached_property
    def _seen(self) -> Floats:
        return np.where(self.known, self.happened, 0.0)

    @cached_property
    def _divisor(self) -> Floats:
        return np.where(self.known, self.at_risk, 1.0)

    @cached_property
    def _left(self) -> Floats:
        """Those who stay without the event; at least half a person."""
        return np.maximum(self._divisor - self._seen, _LEAST)

    @cached_property
    def _pull(self) -> Floats:
        """How the logarithm of what an interval leaves changes with the people at risk."""
        return self._seen / (self._divisor * self._left)

    @cached_property
    def _greenwood(self) -> Floats:
        """What each interval adds to the variance of the logarithm by sampling."""
        events = np.where(self.known, np.maximum(self.happened, _LEAST), 0.0)
        return events / (self._divisor * self._left)

    @cached_property
    def _size(self) -> Floats:
        """Survival, above zero: what the variance of its logarithm is multiplied by."""
        return np.asarray(np.cumprod(self._left / self._divisor, axis=-1), dtype=np.float64)

    @cached_property
    def _slopes(self) -> Floats:
        """How the logarithm at each interval changes with events, censored and those after, side by side."""
        pulled = np.cumsum(self._pull, axis=-1)
        places = np.arange(self.intervals)
        until = pulled[..., np.minimum.outer(places, places)]
        own = (places[:, None] >= places[None, :]).astype(np.float64)
        by_events = until - own * np.where(self.known, 1 / self._left, 0.0)[..., None, :]
        by_censored = until - self.part_censored * own * self._pull[..., None, :]
        by_after = np.repeat(pulled[..., :, None], self.after.shape[-1], axis=-1)
        if self.until_latest:
            by_after[..., 1] = by_events[..., -1]
        return np.concatenate([by_events, by_censored, by_after], axis=-1)


@dataclass(frozen=True)
class Times:
    """Intervals of time that hold their ends, with or without a last cell of those who are seen longer.

    `until_latest`: whether that cell holds the latest time alone. What happens then counts in the last interval.
    """

    tag: ClassVar[str] = "Times"
    bins: ColumnBins
    open_end: bool
    until_latest: bool = False

    @property
    def start(self) -> float:
        """When everybody still survives."""
        return float(self.bins.edges[0])

    @property
    def ends(self) -> tuple[float, ...]:
        """The time at which survival is stated for each interval: half a step before a cut."""
        domain = self.bins.column.domain
        found = [edge - _HALF * domain.step for edge in self.bins.edges[1 : len(self.bins.edges) - self.open_end]]
        return (*map(float, found[:-1]), float(_latest(domain) if self.until_latest else found[-1]))

    def curve(self, measured: Measured) -> SurvivalCurve:
        """The curve of noisy counts by whether there was an event, and by time, along the last two axes."""
        counts, intervals = measured.values.astype(np.float64), len(self.ends)
        events, censored = counts[..., 1, :intervals], counts[..., 0, :intervals]
        after = np.concatenate([counts[..., 0, intervals:], counts[..., 1, intervals:]], axis=-1)
        noise = measured.noise.cumulants.variance
        return SurvivalCurve(events, censored, after, noise, halved=self.open_end, until_latest=self.until_latest)


def choose_times(arguments: Arguments) -> Times:
    """The intervals that the arguments ask for."""
    column: NumberColumn = arguments["time"]
    intervals = arguments["intervals"]
    if not arguments["breaks"] and column.domain.width < (intervals or _MOST_INTERVALS):
        return Times(_single_values(column), open_end=False)
    bins = choose_bins(column, {**arguments, "intervals": intervals or _USUAL_INTERVALS}, "intervals")
    edges = _cut_above(bins.edges, column)
    until_latest = _on_grid(bins.edges[-1], column.domain) >= _latest(column.domain)
    return Times(ColumnBins(column, (*edges, 2 * edges[-1] - edges[-2])), open_end=True, until_latest=until_latest)


def _cut_above(edges: tuple[Fraction, ...], column: NumberColumn) -> tuple[Fraction, ...]:
    """Edges half a step above the ends, so that what happens at the end of an interval counts in it.

    The latest time has a cell of its own: most who are seen until then are censored because nobody was observed longer.
    """
    domain = column.domain
    half, last = _HALF * domain.step, _latest(domain) - domain.step
    inner = dict.fromkeys(min(_on_grid(edge, domain), last) + half for edge in edges[1:])
    start = edges[0] if _is_fine(domain) else _on_grid(edges[0], domain) + half - domain.step
    return (min(start, min(inner) - domain.step), *inner)


def _on_grid(time: Fraction, domain: Numbers) -> Fraction:
    """The last time until then that a column can hold; the same time where its grid is fine."""
    return time if _is_fine(domain) else floor(time / domain.step) * domain.step


def _latest(domain: Numbers) -> Fraction:
    return _on_grid(domain.upper, domain)


def _is_fine(domain: Numbers) -> bool:
    return domain.width >= _FINE


def _single_values(column: NumberColumn) -> ColumnBins:
    domain = column.domain
    if domain.width == 0:
        raise BadArgument("time", f"{column.name} has one value alone within its bounds", "declare wider bounds")
    places = range(domain.width + 2)
    return ColumnBins(column, tuple((domain.grid_lower + place - _HALF) * domain.step for place in places))


def require_event(event: Factor) -> Factor:
    """The factor, if its values say whether something happened."""
    if tuple(event.levels) != (0, 1):  # which false and true are, too
        raise BadArgument(
            "event",
            f"{event.name} is neither a boolean nor 0 and 1",
            f"compute one in the brackets, as in SELECT {event.name} = '...' AS event",
        )
    return event
