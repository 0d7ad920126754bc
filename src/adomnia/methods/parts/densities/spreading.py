"""The table of a density: that of each cell is the density of the bin which it is in."""

import numpy as np

from adomnia.messages.notes import Note, define_note
from adomnia.methods.column_bins import ColumnBins
from adomnia.methods.parts.densities.shares import NoisyShares, merge
from adomnia.statistics.contract import Bounds, Estimate, Floats, ResultTable

_ABOUT = define_note(
    "band_about_population",
    "The band is about the population that the people are a sample of: it holds the average density within each bin, "
    "of all bins at once.",
)
NOBODY = define_note(
    "density_without_rows", "No rows are seen above the noise: the density is that of rows spread evenly."
)


def describe_density(
    shares: NoisyShares, cells: ColumnBins, sizes: tuple[int, ...], chosen: Note, competing: int
) -> ResultTable:
    """The table of bins of so many cells each, chosen among so many competing ways; `chosen` says how."""
    return ResultTable(
        labels={"x_from": cells.lower, "x_to": cells.upper},
        estimates={"density": _spread(shares, cells.widths, sizes, competing)},
        notes=(_ABOUT, NOBODY if shares.total <= 0 else chosen),
        figure={"kind": "line", "x_from": "x_from", "x_to": "x_to", "y": "density", "x_title": cells.column.name},
        about="population",
    )


def _spread(shares: NoisyShares, widths: Floats, sizes: tuple[int, ...], competing: int) -> Estimate:
    def over_cells(values: Floats) -> Floats:
        return np.repeat(values / merge(widths, sizes), sizes)

    def band(confidence: float, cells: int) -> Bounds:
        tables = max(1.0, cells / len(widths))
        lower, upper = shares.bounds(confidence ** (1 / competing / tables), len(sizes))
        return over_cells(lower), over_cells(upper)

    return Estimate(over_cells(shares.values), band, "noisy histogram with bins by what was released")
