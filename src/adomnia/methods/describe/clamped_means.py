"""Means between released quantiles: what trimmed and winsorised means are made of.

W(a, b) is the mean of the values clamped between a and b. At the quantiles a and b of the shares t and 1 - t it is the
winsorised mean, and (W - t (a + b)) / (1 - 2 t) is the trimmed one. The derivative of the latter by a is F(a) - t,
which is zero there: a trimmed mean so computed hardly feels by how much the bounds miss the quantiles.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from adomnia.mechanisms.quantiles import FINEST_SHARE
from adomnia.methods.contract import Arguments, BadArgument, NumberColumn, Parameter
from adomnia.methods.describe.column_sums import MEAN, ColumnSums, column_vector
from adomnia.methods.describe.cut_quantiles import CutQuantile, Flow, find_cuts
from adomnia.methods.describe.cuts import Cutting
from adomnia.methods.describe.robust import Robust
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure

TRIM = Parameter("trim", "number", "the share of rows at each end", default=Fraction(1, 10), lower=0.002, upper=0.45)
# Of the price: the number of rows, values chosen by rank, counts between cuts, sums of the clamped values.
_ROWS, _CHOOSE, _COUNT, _SUMS = (Fraction(part, 100) for part in (4, 32, 24, 40))


@dataclass(frozen=True)
class ClampedMean:
    """The sums of the values clamped between two noisy quantiles, and these."""

    sums: ColumnSums
    low: CutQuantile
    high: CutQuantile
    trim: float

    def missed(self, confidence: float, cells: int) -> float:
        """How far off a mean may be because the released quantiles are: by rows on the wrong side, times how far."""
        return sum(_missed(each, confidence, cells) for each in (self.low, self.high))

    @property
    def note(self) -> str:
        """What the bounds are, which were bought too."""
        domain = self.sums.domain
        return f"The released bounds are {float(domain.lower):g} and {float(domain.upper):g}."


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


def find_clamped(asked: Robust, trim: Fraction, price: Price) -> Flow[ClampedMean]:
    """Four rounds: how many rows, values by rank, counts between cuts, and sums whose sensitivity is that of bounds.

    These are the noisy quantiles, which were released before.
    """
    ((query, _),) = asked.shares
    (rows,) = yield (Measure(query, price * _ROWS),)
    column, prices = asked.column, (price * _CHOOSE, price * _COUNT)
    shares = trim, 1 - trim
    cutting = Cutting(
        asked.present, (), column.value, column.domain, shares, asked.population, asked.confidence, *prices
    )
    ((low, high),) = yield from find_cuts(cutting, np.asarray(rows.values, dtype=np.float64))
    domain = _between(column, int(low.found), int(high.found))
    vector = column_vector(column.value, domain, MEAN, absent=False)
    (sums,) = yield (Measure(Query(asked.present, (), vector), price * _SUMS),)
    return ClampedMean(ColumnSums(column.value, domain, MEAN, sums, asked.population), low, high, float(trim))


def _between(column: NumberColumn, low: int, high: int) -> Numbers:
    """The grid between two of its places: at least a step wide, and never all of it, which is rendered otherwise."""
    domain = column.domain
    first = min(max(low, 1), max(domain.width - 2, 0))
    last = min(max(min(high, domain.width - 1), first + 1), domain.width)
    lower, upper = ((place + domain.grid_lower) * domain.step for place in (first, last))
    return Numbers(lower, upper, domain.step)


def read_trim(arguments: Arguments) -> Fraction:
    """The share at each end."""
    trim: Fraction = arguments["trim"]
    if FINEST_SHARE % trim.denominator:
        raise BadArgument("trim", "has more than three digits", "write trim => 0.1")
    return trim
