"""Densities as histograms whose number of bins follows from the noisy data."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import BY, Arguments, Factor, Frame, Method, Parameter
from adomnia.methods.densities.bandwidth import choose
from adomnia.methods.densities.sampling import require_one_row
from adomnia.methods.densities.shares import NoisyShares, merge
from adomnia.methods.fresh_noise import variance_of
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured, ResultTable

_COMPETING = 3  # widths that the noise chooses among: the chosen one, half of it and twice it
_MOST_CELLS = 512

_ABOUT = (
    "The band is about the population that the people are a sample of: it holds the average density within each bin, "
    "of all bins at once."
)
_PICTURE = {"kind": "line", "x_from": "x_from", "x_to": "x_to", "y": "density"}
_NOBODY = "No rows are seen above the noise: the density is that of rows spread evenly."


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
        sizes = choose(counted.values.astype(np.float64), self.cells.widths, variance_of(counted.noise))
        found = NoisyShares(counted.values, sizes, counted.noise, sampled=True)
        chosen = f"The noisy data chose {len(sizes)} bin{'s' * (len(sizes) > 1)}."
        return ResultTable(
            labels={"x_from": self.cells.lower, "x_to": self.cells.upper},
            estimates={"density": _spread(found, self.cells.widths)},
            notes=(_ABOUT, _NOBODY if found.total <= 0 else chosen),
            figure={
                "kind": "line",
                "x_from": "x_from",
                "x_to": "x_to",
                "y": "density",
                "x_title": self.cells.column.name,
            },
        )


def _spread(shares: NoisyShares, widths: Floats) -> Estimate:
    """The density of each cell: that of the bin which it is in."""

    def over_cells(values: Floats) -> Floats:
        return np.repeat(values / merge(widths, shares.cells), shares.cells)

    def band(confidence: float, cells: int) -> Bounds:
        tables = max(1.0, cells / len(widths))
        lower, upper = shares.bounds(confidence ** (1 / _COMPETING / tables), len(shares.cells))
        return over_cells(lower), over_cells(upper)

    return Estimate(over_cells(shares.values), band, "noisy histogram with bins by cross-validation")


def _build(frame: Frame, arguments: Arguments) -> Density:
    column = arguments["column"]
    require_one_row(frame, METHOD.name)
    rows = with_values(frame.relation, column.value)
    return Density(rows, arguments["by"], split_finely(column, arguments["cells"]))


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
        BY,
    ),
    build=_build,
    returns={
        "x_from": "where the cell starts",
        "x_to": "where the cell ends",
        "density": "the density within it: that of the bin it is in",
    },
    example="SELECT * FROM density(people, column => salary)",
    elsewhere={"R": "density", "SAS": "PROC KDE", "SciPy": "gaussian_kde"},
)
