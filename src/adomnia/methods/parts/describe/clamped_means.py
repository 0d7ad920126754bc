"""Means between released quantiles: what trimmed and winsorised means are made of.

W(a, b) is the mean of the values clamped between a and b. At the quantiles a and b of the shares t and 1 - t it is the
winsorised mean, and (W - t (a + b)) / (1 - 2 t) is the trimmed one. The derivative of the latter by a is F(a) - t,
which is zero there: a trimmed mean so computed hardly feels by how much the bounds miss the quantiles.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from adomnia.mechanisms.quantiles import FINEST_SHARE
from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.contract import Arguments, BadArgument, NumberColumn, Parameter
from adomnia.methods.parts.describe.column_sums import MEAN, ColumnSums, column_vector
from adomnia.methods.parts.describe.cut_quantiles import CutQuantile, Flow, Robust, find_cuts
from adomnia.methods.parts.describe.cuts import Cutting, is_whole
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Estimate, Measure

TRIM = Parameter("trim", "number", "the share of rows at each end", default=Fraction(1, 10), lower=0.002, upper=0.45)
# Of the price: the number of rows, values chosen by rank, counts between cuts, sums of the clamped values.
_ROWS, _CHOOSE, _COUNT, _SUMS = (Fraction(part, 100) for part in (4, 32, 24, 40))
# Steps between the bounds: so that the noise of the sums is no smaller than that of the counts, which was found to be
# large enough to be drawn before anything was paid.
_NARROWEST = 2
_FINE = 2**20  # steps between the declared bounds: of so many, one or two do not matter
_LARGEST = 2**77  # of these steps, as halves still fit a grid


_BOUNDS = NoteTemplate("released_bounds", "The released bounds are {low:g} and {high:g}.")


@dataclass(frozen=True)
class ClampedMean:
    """The sums of the values clamped between two noisy quantiles, and these."""

    sums: ColumnSums
    low: CutQuantile
    high: CutQuantile
    trim: float
    by_steps: bool

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """Between which values the mean is clamped."""
        if self.by_steps:
            grid = self.low.cutting.domain
            low, high = ((int(each.found) + grid.grid_lower) * grid.step for each in (self.low, self.high))
            return low, high
        return self.sums.domain.lower, self.sums.domain.upper

    def mean(self) -> Estimate:
        """The mean of the clamped values."""
        low, high = self.bounds
        if low < high:
            return self.sums.mean()
        rounding = 2 * self.sums.rounding  # that of the column, whose steps are twice as wide
        value = np.array([float(low)])
        return Estimate(value, lambda *_: (value - rounding, value + rounding), "the one value between the bounds")

    def missed(self, confidence: float, cells: int) -> float:
        """How far off a mean may be because the released quantiles are: by rows on the wrong side, times how far."""
        missed = _missed_by_steps if self.by_steps else _missed
        return sum(missed(each, confidence, cells) for each in (self.low, self.high))

    @property
    def note(self) -> Note:
        """What the bounds are, which were bought too."""
        low, high = self.bounds
        return _BOUNDS(low=float(low), high=float(high))


def _missed_by_steps(end: CutQuantile, confidence: float, cells: int) -> float:
    """The same where values are few: F(x) is flat between them, and as far from t as the ranks at both ends allow."""
    if end.even:
        return _missed(end, confidence, cells)
    low, high = end.bounds(confidence, cells)
    below, above = end.rank_gaps(confidence, cells)
    return max(below * (end.value - low), above * (high - end.value))


def _missed(end: CutQuantile, confidence: float, cells: int) -> float:
    """The integral of F(x) - t between the released quantile and the exact one, or a bound of it."""
    low, high = end.bounds(confidence, cells)
    if end.even:  # a triangle, of one standard deviation of the rank and one of the quantile
        return end.rank_error(confidence, cells) * (high - low) / 16
    # Rows may all lie at one place between the edges beside it.
    after = int(np.searchsorted(end.edges, end.found, side="right"))
    below, above = (float(abs(end.excess[np.clip(at, 0, len(end.excess) - 1)])) for at in (after - 1, after))
    rows = max(end.rows, 1.0)
    return max(min(below / rows, 1.0) * (high - end.value), min(above / rows, 1.0) * (end.value - low))


def find_clamped(asked: Robust, trim: Fraction, price: Price, *, by_steps: bool) -> Flow[ClampedMean]:
    """Four rounds: how many rows, values by rank, counts between cuts, and sums whose sensitivity is that of bounds.

    These are the noisy quantiles, which were released before. `by_steps`: to the step, where few of them matter.
    """
    ((query, _),) = asked.shares
    (rows,) = yield (Measure(query, price * _ROWS),)
    column, prices = asked.column, (price * _CHOOSE, price * _COUNT)
    shares = trim, 1 - trim
    cutting = Cutting(
        asked.present, (), column.value, column.domain, shares, asked.population, asked.confidence, *prices
    )
    ((low, high),) = yield from find_cuts(cutting, np.asarray(rows.values, dtype=np.float64))
    between = _between_steps if by_steps else _between
    domain = between(column.domain, int(low.found), int(high.found))
    vector = column_vector(column.value, domain, MEAN, absent=False)
    (sums,) = yield (Measure(Query(asked.present, (), vector), price * _SUMS),)
    clamped = ColumnSums(column.value, domain, MEAN, sums, asked.population)
    return ClampedMean(clamped, low, high, float(trim), by_steps)


def has_few_steps(column: NumberColumn) -> bool:
    """Whether a step of the grid matters: whole numbers, and numbers with a declared step that is as coarse.

    Answers about all others were stored before this was asked, and stay what they were.
    """
    domain = column.domain
    return domain.magnitude <= _LARGEST and (is_whole(column.value, domain) or domain.width < _FINE)


def _between_steps(domain: Numbers, low: int, high: int) -> Numbers:
    """Half steps from one place to another; a step from equal ones, between which nothing is left to measure.

    Halves, because the engine stores the whole grid, which is rendered otherwise than a part of it.
    """
    first = max(min(low, domain.width - 1), 0)
    last = min(max(high, first + 1), domain.width)
    lower, upper = ((place + domain.grid_lower) * domain.step for place in (first, last))
    return Numbers(lower, upper, domain.step / 2)


def _between(domain: Numbers, low: int, high: int) -> Numbers:
    """The grid between two of its places, wide enough, and never all of it, which is rendered otherwise."""
    first = min(max(low, 1), max(domain.width - 1 - _NARROWEST, 0))
    last = min(max(min(high, domain.width - 1), first + _NARROWEST), domain.width)
    lower, upper = ((place + domain.grid_lower) * domain.step for place in (first, last))
    return Numbers(lower, upper, domain.step)


def read_trim(arguments: Arguments) -> Fraction:
    """The share at each end."""
    trim: Fraction = arguments["trim"]
    if FINEST_SHARE % trim.denominator:
        raise BadArgument("trim", "has more than three digits", "write trim => 0.1")
    return trim
