"""Bins of a column of numbers: where they end, and the key that counts rows in each of them."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from adomnia.methods.contract import Arguments, BadArgument, NumberColumn, Parameter
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.keys import Bucket, Key
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Floats

MOST_BINS = 1_000
MOST_BREAKS = 200  # each is a condition of the statement
_LIFT = Fraction(1, 2**30)  # of the width of a bin: much more than doubles are off, much less than a step

BREAKS = Parameter("breaks", "numbers", "where the bins end, instead of bins of equal width; rising")


def bins_parameter(default: int, most: int = MOST_BINS) -> Parameter:
    """The parameter that says how many bins there are."""
    meaning = "how many bins of equal width there are between the bounds"
    return Parameter("bins", "integer", meaning, default=default, lower=1, upper=most)


@dataclass(frozen=True)
class ColumnBins:
    """Neighbouring bins of a column. An edge belongs to the bin above it, and what lies outside to the outer bins."""

    tag: ClassVar[str] = "ColumnBins"
    column: NumberColumn
    edges: tuple[Fraction, ...]

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def key(self) -> Bucket:
        """Counts rows by the place of their bin."""
        place = _divide(self.column.value, self) if self._even else _compare(self.column.value, self)
        return Bucket(place, Numbers.integers(0, len(self) - 1), place)

    def query(self, relation: Relation, keys: tuple[Key, ...]) -> Query:
        """The numbers of rows in each bin of each cell of the keys."""
        return Query(relation, (*keys, self.key), Rows())

    @property
    def lower(self) -> tuple[float, ...]:
        """Where each bin starts."""
        return tuple(map(float, self.edges[:-1]))

    @property
    def upper(self) -> tuple[float, ...]:
        """Where each bin ends."""
        return tuple(map(float, self.edges[1:]))

    @property
    def widths(self) -> Floats:
        """How wide each bin is."""
        return np.array([float(end - start) for start, end in pairwise(self.edges)])

    @property
    def _even(self) -> bool:
        """Whether all are of one width but the last, into which falls what a division puts beyond it."""
        return len({end - start for start, end in pairwise(self.edges[:-1])}) <= 1


def choose_bins(column: NumberColumn, arguments: Arguments, equal: str = "bins") -> ColumnBins:
    """The bins that the arguments ask for: those of `breaks`, or so many of equal width."""
    breaks = arguments["breaks"]
    return _cut(column, breaks) if breaks else split_evenly(column, arguments[equal])


def split_evenly(column: NumberColumn, bins: int) -> ColumnBins:
    """So many bins of equal width between the bounds."""
    lower, upper = column.domain.lower, column.domain.upper
    if lower == upper:
        raise BadArgument(
            column.name, "has one value alone within its bounds, so that there is nothing to divide", "count its rows"
        )
    return ColumnBins(column, tuple(lower + (upper - lower) * Fraction(place, bins) for place in range(bins + 1)))


def split_finely(column: NumberColumn, most: int) -> ColumnBins:
    """At most so many bins of equal width; of whole numbers the same number in each but the last.

    A whole number stands for all that is rounded to it, so that such bins end half way between two.
    """
    kind, domain = column.value.kind, column.domain
    if not isinstance(kind, Quantity) or not kind.whole or domain.step != 1 or domain.width == 0:
        return split_evenly(column, most)
    values = domain.width + 1
    size = -(-values // most)
    start, half = domain.grid_lower, Fraction(1, 2)
    return ColumnBins(column, (*(start + place - half for place in range(0, values, size)), start + values - half))


def _cut(column: NumberColumn, breaks: tuple[Fraction, ...]) -> ColumnBins:
    if not 2 <= len(breaks) <= MOST_BREAKS:
        raise BadArgument("breaks", f"number {len(breaks)}", f"give between 2 and {MOST_BREAKS} numbers, ends included")
    if any(start >= end for start, end in pairwise(breaks)):
        raise BadArgument("breaks", "do not rise", "write them from the lowest to the highest, each once")
    return ColumnBins(column, breaks)


def _divide(value: Expression, bins: ColumnBins) -> Expression:
    """The place by division. Values that rounding puts just below an edge, as 0.29 * 100, are lifted over it."""
    start, rate = bins.edges[0], 1 / (bins.edges[1] - bins.edges[0])
    steps: Any = value if start == 0 else call("-", value, number(start))
    steps = steps if rate.numerator == 1 else call("*", steps, number(rate.numerator))
    steps = steps if rate.denominator == 1 else call("/", steps, number(rate.denominator))
    return call("floor", call("+", steps, number(_LIFT)))


def _compare(value: Expression, bins: ColumnBins) -> Expression:
    """The place by comparison with each edge between two bins, from the highest."""
    inner = list(enumerate(bins.edges[1:-1], start=1))
    cases = [part for place, edge in reversed(inner) for part in (call(">=", value, number(edge)), number(place))]
    return call("case", *cases, number(0)) if cases else number(0)
