"""Times to an event in intervals, and whether it happened: what survival is counted by."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import ClassVar

import numpy as np

from adomnia.methods.column_bins import ColumnBins, choose_bins, split_finely
from adomnia.methods.contract import Arguments, BadArgument, Factor, NumberColumn, Parameter
from adomnia.methods.describe.cuts import is_whole
from adomnia.methods.fresh_noise import variance_of
from adomnia.methods.survival.curves import SurvivalCurve
from adomnia.statistics.contract import Measured

_MOST_INTERVALS = 200
_USUAL_INTERVALS = 20
_HALF = Fraction(1, 2)

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
    "how many intervals of equal length there are between the bounds of time; by default whole times stand alone, up to"
    f" {_MOST_INTERVALS} of them, and others have {_USUAL_INTERVALS} intervals",
    lower=1,
    upper=_MOST_INTERVALS,
)

HALVED = (
    "Intervals hold many times: those who are censored within one count as at risk for half of it (life table). What"
    " happens at the very end of an interval counts in it if times are whole numbers, else in the next one."
)


@dataclass(frozen=True)
class Times:
    """Intervals of time, with or without a last cell of those who are seen until the end of them all."""

    tag: ClassVar[str] = "Times"
    bins: ColumnBins
    open_end: bool

    @property
    def start(self) -> float:
        """When everybody still survives."""
        return float(self.bins.edges[0])

    @property
    def ends(self) -> tuple[float, ...]:
        """The time at which survival is stated for each interval."""
        if self.open_end and not is_whole(self.bins.column.value, self.bins.column.domain):
            return self.bins.upper[:-1]
        last = len(self.bins.edges) - self.open_end
        return tuple(float(end - _HALF) for end in self.bins.edges[1:last])  # the last whole time before a cut

    def curve(self, measured: Measured) -> SurvivalCurve:
        """The curve of noisy counts by whether there was an event, and by time, along the last two axes."""
        counts, intervals = measured.values.astype(np.float64), len(self.ends)
        events, censored = counts[..., 1, :intervals], counts[..., 0, :intervals]
        after = np.concatenate([counts[..., 0, intervals:], counts[..., 1, intervals:]], axis=-1)
        return SurvivalCurve(events, censored, after, variance_of(measured.noise), halved=self.open_end)


def choose_times(arguments: Arguments) -> Times:
    """The intervals that the arguments ask for."""
    column: NumberColumn = arguments["time"]
    whole, intervals = is_whole(column.value, column.domain), arguments["intervals"]
    if whole and not arguments["breaks"] and column.domain.width < (intervals or _MOST_INTERVALS):
        return Times(_single_values(column), open_end=False)
    bins = choose_bins(column, {**arguments, "intervals": intervals or _USUAL_INTERVALS}, "intervals")
    edges = _cut_between(bins.edges, column.domain.grid_upper) if whole else bins.edges
    return Times(ColumnBins(column, (*edges, 2 * edges[-1] - edges[-2])), open_end=True)


def _cut_between(edges: tuple[Fraction, ...], latest: int) -> tuple[Fraction, ...]:
    """Edges half way between whole numbers, so that what happens at the end of an interval counts in it.

    The latest time is in no interval: most who are seen until then are censored because nobody was observed longer.
    """
    inner = dict.fromkeys(min(floor(edge), latest - 1) + _HALF for edge in edges[1:])
    return (min(floor(edges[0]) + _HALF, *inner) - 1, *inner)


def _single_values(column: NumberColumn) -> ColumnBins:
    if column.domain.width == 0:
        raise BadArgument("time", f"{column.name} has one value alone within its bounds", "declare wider bounds")
    return split_finely(column, column.domain.width + 1)


def require_event(event: Factor) -> Factor:
    """The factor, if its values say whether something happened."""
    if tuple(event.levels) != (0, 1):  # which false and true are, too
        raise BadArgument(
            "event",
            f"{event.name} is neither a boolean nor 0 and 1",
            f"compute one in the brackets, as in SELECT {event.name} = '...' AS event",
        )
    return event
