"""Densities as histograms whose number of bins follows from the noisy data."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.messages.notes import NoteTemplate
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter
from adomnia.methods.parts.densities.bandwidth import choose
from adomnia.methods.parts.densities.density_by_rate import DensityByRate
from adomnia.methods.parts.densities.sampling import require_one_row
from adomnia.methods.parts.densities.shares import NoisyShares
from adomnia.methods.parts.densities.spreading import describe_density
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Measured, ResultTable

_COMPETING = 3  # widths that the noise chooses among: the chosen one, half of it and twice it
_MOST_CELLS = 512

_CROSS_VALIDATION, _RATE = "cross-validation", "rate"


_CHOSEN = NoteTemplate("bins_by_data", "The noisy data chose {bins} bin{bins:s}.")


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
