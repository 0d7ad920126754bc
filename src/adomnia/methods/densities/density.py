"""Densities as histograms whose number of bins follows from the noisy data.

Or they have about as many bins as the cube root of the number of rows, which is bought first. Merged cells have the
noise of all of them. Bins that are counted after their width is known have one noise each. Of n values between 0 and 1
in d bins, with Laplace noise of scale c / epsilon on every count, the integrated squared error is on average about

    R(f') / (12 d**2)  +  (d - R(f)) / n  +  2 c**2 d**2 / (epsilon n)**2,        R(g) the integral of g**2:

what averaging in bins loses, what sampling adds, and what noise adds. c is 1 where a person is added or removed, and 2
where one is replaced. With d = n**(1/3) the first two fall as n**(-2/3), which no histogram of bins of one width
does better; so does the third, as long as epsilon is n**(-1/3) or more: privacy costs nothing of the rate.

How wide bins should be follows from noisy counts of narrow ones. Least-squares cross-validation (Rudemo 1982) estimates
the integrated squared error of a histogram but for a constant. From noisy counts of variance s each, the square of a
count is too large by s on average, which is taken off; and the noise of what will be shown is part of its error, which
is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import NoteTemplate
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter
from adomnia.methods.parts.densities.shares import NoisyShares, describe_density, merge, require_one_row
from adomnia.methods.parts.describe.rounds import SeveralRounds
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import call, number
from adomnia.privacy.keys import Bucket
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Steps

_COMPETING = 3  # widths that the noise chooses among: the chosen one, half of it and twice it
_MOST_CELLS = 512

_CROSS_VALIDATION, _RATE = "cross-validation", "rate"


_CHOSEN = NoteTemplate("bins_by_data", "The noisy data chose {bins} bin{bins:s}.")
_COUNT = Fraction(1, 20)  # of the price, for the number of rows


_CHOSEN_BY_ROWS = NoteTemplate("bins_by_rows", "The noisy number of rows chose {bins} bin{bins:s}.")
_MOST = 2.0**53


@dataclass(frozen=True)
class Density(SingleRound):
    """A density of a column, with a band.

    Method      one noisy histogram of narrow cells. Neighbouring cells are merged in powers of two, as many as have the
                least error by cross-validation without the noise; then made not negative with an integral of 1.
    Guarantee   one measurement of disjoint counts at the whole price; choosing the width is post-processing.
    Bias        that of a histogram: within a bin the density is its average. The band is about these averages.
    Cite        Rudemo 1982 (cross-validation); Wasserman & Zhou 2010 (private histograms).
    """

    tag: ClassVar[str] = "Density"
    name: ClassVar[str] = "density"
    relation: Relation
    by: tuple[Factor, ...]
    cells: ColumnBins

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.cells.query(self.relation, keys_of(*self.by)), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        (counted,) = measured
        sizes = choose(counted.values.astype(np.float64), self.cells.widths, counted.noise.cumulants.variance)
        found = NoisyShares(counted.values, sizes, counted.noise, sampled=True)
        return describe_density(found, self.cells, sizes, _CHOSEN(bins=len(sizes)), _COMPETING)


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
        return describe_density(bins, self.cells, sizes, _CHOSEN_BY_ROWS(bins=len(sizes)), competing=1)


def count_bins(rows: float) -> int:
    """How many bins the rate asks for: the cube root of the number of rows, at least one.

    >>> [count_bins(rows) for rows in (-5, 1000, 27_000)]
    [1, 10, 30]
    """
    root: float = min(max(rows, 1.0), _MOST) ** (1 / 3)
    return round(root)


def _build(frame: Frame, arguments: Arguments) -> Density | DensityByRate:
    column = arguments["column"]
    require_one_row(frame, METHOD.name)
    rows = with_values(frame.relation, column.value)
    cells = split_finely(column, arguments["cells"])
    if arguments["width"] == _CROSS_VALIDATION:
        return Density(rows, arguments["by"], cells)
    if arguments["by"]:
        why = f"cannot stand beside width => '{_RATE}', which finds one width for all rows"
        raise BadArgument("by", why, "ask about the groups in turn, with WHERE, or leave width out")
    return DensityByRate(rows, cells)


METHOD = Method(
    name="density",
    chapter="densities",
    summary="The density of a column with a band; how wide the bins are is found from the noisy data.",
    parameters=(
        Parameter("column", "column", "the column of numbers", required=True),
        Parameter(
            "cells",
            "integer",
            "how many cells of equal width are counted, which bins are merged of",
            default=128,
            lower=2,
            upper=_MOST_CELLS,
        ),
        Parameter(
            "width",
            "choice",
            "how the width of the bins is found: from the noisy cells, or from the noisy number of rows n, which makes "
            "n^(1/3) bins; that is better for densities that are smooth between the bounds",
            default=_CROSS_VALIDATION,
            choices=(_CROSS_VALIDATION, _RATE),
        ),
        BY,
    ),
    build=_build,
    returns={
        "x_from": "where the cell starts",
        "x_to": "where the cell ends",
        "density": "the density within it: that of the bin it is in",
    },
    example="SELECT * FROM density(people, column => salary)",
    known_as={"R": "density", "SAS": "PROC KDE", "SciPy": "gaussian_kde"},
)


def candidates(cells: int) -> list[tuple[int, ...]]:
    """Ways to merge neighbouring cells: none, twos, fours, and so on; what is left over makes a narrower last bin."""
    sizes = (2**power for power in range(max(1, (cells - 1).bit_length() + 1)))
    return [merge_into(cells, size) for size in sizes]


def choose(counts: Floats, widths: Floats, variance: float) -> tuple[int, ...]:
    """The candidate of the least estimated error; one bin where hardly any rows are seen."""
    ways = candidates(len(counts))
    if counts.sum() < 2:
        return ways[-1]
    return min(ways, key=lambda sizes: estimate_error(counts, widths, variance, sizes))


def estimate_error(counts: Floats, widths: Floats, variance: float, sizes: Sequence[int]) -> float:
    """The integrated squared error of a density of merged cells, without what is the same for all candidates."""
    rows = counts.sum()
    merged, wide, noise = merge(counts, sizes), merge(widths, sizes), variance * np.array(sizes)
    squares = merged**2 - noise
    pairs = (squares - merged) / (rows * (rows - 1))
    return float(((squares + noise) / rows**2 / wide - 2 * pairs / wide).sum())


def merge_into(cells: int, size: int) -> tuple[int, ...]:
    """Bins of so many cells each; what is left over makes a narrower last one."""
    left = cells % size
    return (size,) * (cells // size) + ((left,) if left else ())
