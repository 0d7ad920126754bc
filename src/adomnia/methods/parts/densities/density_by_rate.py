"""Densities of about as many bins as the cube root of the number of rows, which is bought first.

Merged cells have the noise of all of them. Bins that are counted after their width is known have one noise each, so
that the error is that of `rates.expected_ise`.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from adomnia.messages.notes import NoteTemplate
from adomnia.methods.column_bins import ColumnBins
from adomnia.methods.parts.densities.bandwidth import merge_into
from adomnia.methods.parts.densities.rates import count_bins
from adomnia.methods.parts.densities.shares import NoisyShares
from adomnia.methods.parts.densities.spreading import describe_density
from adomnia.methods.parts.describe.rounds import SeveralRounds
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import call, number
from adomnia.privacy.keys import Bucket
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Measure, Measured, ResultTable, Steps

_COUNT = Fraction(1, 20)  # of the price, for the number of rows


_CHOSEN = NoteTemplate("bins_by_rows", "The noisy number of rows chose {bins} bin{bins:s}.")


@dataclass(frozen=True)
class DensityByRate(SeveralRounds):
    """A density of a column, with a band, of bins whose width follows from the noisy number of rows.

    Method      of a noisy number n of rows about n**(1/3) bins, which are then counted with noise; made not negative
                with an integral of 1.
    Guarantee   both rounds composed: the second depends on the first through what was released.
    Bias        that of a histogram: within a bin the density is its average. The band is about these averages.
    Cite        Freedman & Diaconis 1981 (the rate); Smith 2008, Wasserman & Zhou 2010 (that privacy keeps it).
    """

    tag: ClassVar[str] = "DensityByRate"
    name: ClassVar[str] = "density"
    relation: Relation
    cells: ColumnBins

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, (), Rows()), Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        ((query, _),) = self.shares
        (rows,) = yield (Measure(query, price * _COUNT),)
        size = max(1, round(len(self.cells) / count_bins(float(rows.values))))
        (counted,) = yield (Measure(Query(self.relation, (self._merge(size),), Rows()), price * (1 - _COUNT)),)
        return self._tabulate(counted, merge_into(len(self.cells), size))

    def _merge(self, size: int) -> Bucket:
        """The place of the bin of a row. There are as many places as cells, whose last ones stay empty."""
        last = len(self.cells) - 1
        cell = call("clamp", self.cells.key.value, number(0), number(last))
        place = call("floor", call("/", cell, number(size)))
        return Bucket(place, Numbers.integers(0, last), place)

    def _tabulate(self, counted: Measured, sizes: tuple[int, ...]) -> ResultTable:
        bins = NoisyShares(counted.values[: len(sizes)], (1,) * len(sizes), counted.noise, sampled=True)
        return describe_density(bins, self.cells, sizes, _CHOSEN(bins=len(sizes)), competing=1)
