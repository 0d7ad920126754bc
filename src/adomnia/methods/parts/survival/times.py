"""Times to an event in intervals, and whether it happened: what survival is counted by."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import ClassVar

import numpy as np

from adomnia.messages.notes import define_note
from adomnia.methods.column_bins import ColumnBins, choose_bins
from adomnia.methods.contract import Arguments, BadArgument, Factor, NumberColumn, Parameter
from adomnia.methods.parts.survival.curves import SurvivalCurve
from adomnia.privacy.domains import Numbers
from adomnia.statistics.contract import Measured

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
