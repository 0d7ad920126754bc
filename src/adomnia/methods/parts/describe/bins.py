"""Bins of a column: equal parts of its declared range, as a key that rows are counted by."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from adomnia.methods.contract import NumberColumn
from adomnia.methods.parts.describe.cuts import is_whole
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import call, number
from adomnia.privacy.keys import Bucket


@dataclass(frozen=True)
class EqualBins:
    """Equal parts of a range, each without its lower and with its upper end; the first has both ends.

    Whole numbers are never divided: there are fewer bins where the range has fewer values, and each ends at one.
    """

    column: NumberColumn
    wanted: int

    @property
    def width(self) -> Fraction:
        """How wide each is, but for the last one of whole numbers, which may be narrower."""
        domain = self.column.domain
        if is_whole(self.column.value, domain):
            return Fraction(max(1, ceil(Fraction(domain.width + 1, self.wanted))))
        return (domain.upper - domain.lower) / self.wanted

    @property
    def _start(self) -> Fraction:
        """The lower end of the first one; of whole numbers, just below the first."""
        domain = self.column.domain
        return Fraction(domain.grid_lower - 1) if is_whole(self.column.value, domain) else domain.lower

    @property
    def count(self) -> int:
        """How many there are."""
        return ceil((self.column.domain.upper - self._start) / self.width)

    @property
    def edges(self) -> tuple[Fraction, ...]:
        """All ends, one more than there are bins."""
        inner = (self._start + place * self.width for place in range(1, self.count))
        return (self.column.domain.lower, *inner, self.column.domain.upper)

    @property
    def ends(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Of each bin both ends, as they are told: of whole numbers the first and the last that it holds."""
        edges, whole = self.edges, is_whole(self.column.value, self.column.domain)
        first = (self._start + 1 + place * self.width for place in range(self.count))
        return tuple(zip(first if whole else edges[:-1], edges[1:], strict=True))

    @property
    def key(self) -> Bucket:
        """The number of the bin that a value is in, from 1 on; values beyond the range are in the first or the last."""
        place = call("ceil", call("/", call("-", self.column.value, number(self._start)), number(self.width)))
        return Bucket(place, Numbers.integers(1, self.count), place)
