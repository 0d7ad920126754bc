"""Shares of rows in bins and densities, from noisy counts: what they are, and how far off they may be.

The interval of a share p holds all p that the noisy count y of its bin and the noisy total N do not speak against:
(y - p N)**2 <= c**2 * variance of y - p N if p were true, which is the noise and, about a population, the sampling of N
rows. c comes from a simulation of the whole table, noise included: it is right for heavy tails and for few rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from adomnia.distributions.fieller import fieller
from adomnia.distributions.projections import project
from adomnia.distributions.simulations import draw_again
from adomnia.errors import Refusal
from adomnia.mechanisms.contract import Noise
from adomnia.messages.texts import Note, define_note
from adomnia.methods.column_bins import ColumnBins
from adomnia.methods.contract import Frame
from adomnia.methods.simulation import count_simulations
from adomnia.noise import Integers
from adomnia.noise.afterwards import follow
from adomnia.statistics.contract import Bounds, Estimate, Floats, ResultTable

_DRAWS = 1_000
_MOST_ROWS = 2**53  # of a simulated table
ABOUT_PEOPLE = define_note(
    "about_people", "Intervals are about the population that the people are a sample of: sampling and noise together."
)
ABOUT_DATA = define_note(
    "about_people_in_data", "Intervals are about the people in the data: they hold the noise, no sampling."
)
_ABOUT = define_note(
    "band_about_population",
    "The band is about the population that the people are a sample of: it holds the average density within each bin, "
    "of all bins at once.",
)
NOBODY = define_note(
    "density_without_rows", "No rows are seen above the noise: the density is that of rows spread evenly."
)


@dataclass(frozen=True)
class NoisyShares:
    """ColumnBins that each are `cells` of the noisy integers in `released`, added up; all of them hold all rows.

    `sampled`: whether rows are a sample of what the shares are about.
    """

    released: Integers
    cells: tuple[int, ...]
    noise: Noise
    sampled: bool

    @cached_property
    def counts(self) -> Floats:
        """The noisy count of each bin."""
        return merge(self.released.astype(np.float64), self.cells)

    @cached_property
    def total(self) -> float:
        """The noisy number of rows."""
        return float(self.counts.sum())

    @cached_property
    def values(self) -> Floats:
        """The shares: at least 0, and 1 together. Where no rows are seen, as large as the bins."""
        if self.total <= 0:
            return np.asarray(self._merged / self._merged.sum())
        each = project(np.repeat(self.counts / self._merged, self.cells), np.asarray(self.total))
        return merge(each, self.cells) / self.total

    def bounds(self, confidence: float, cells: int = 1) -> Bounds:
        """The lower and upper ends for each share; for all of them at once if `cells` are more than one."""
        if self.total <= 0:
            return np.zeros(len(self.cells)), np.ones(len(self.cells))
        lower, upper = self._invert(self._critical(confidence, cells))
        return np.clip(lower, 0, self.values), np.clip(upper, self.values, 1)

    @cached_property
    def _merged(self) -> Floats:
        return np.array(self.cells, dtype=np.float64)

    def _variance(self, shares: Floats, total: Any) -> Floats:  # noqa: ANN401 - one or an array of them
        one = self.noise.cumulants.variance
        own, others = one * self._merged, one * (self._merged.sum() - self._merged)
        noise = own * (1 - shares) ** 2 + others * shares**2
        return np.asarray(noise + np.maximum(total, 0) * shares * (1 - shares) * self.sampled)

    def _critical(self, confidence: float, cells: int) -> Floats:
        """How many standard deviations the difference stays within, in simulations; at least the normal ones.

        Counts of few rows are too coarse for less: which of them are simulated would decide.
        """
        from scipy.special import ndtri

        if cells <= 1:
            found = np.quantile(self._simulated, confidence, axis=0, method="higher")
            return np.asarray(np.maximum(found, ndtri((1 + confidence) / 2)))
        level = confidence ** min(1.0, len(self.cells) / cells)
        return np.full(len(self.cells), np.quantile(self._simulated.max(axis=1), level, method="higher"))

    @cached_property
    def _simulated(self) -> Floats:
        """Of tables like this one, how far each bin is from its share of the total, in standard deviations."""
        generator = follow([self.released], "shares of bins")
        rows, draws = min(round(self.total), _MOST_ROWS), count_simulations(_DRAWS)
        counts = self.values * rows
        if self.sampled:
            counts = generator.multinomial(rows, self.values / self.values.sum(), draws).astype(np.float64)
        noise = draw_again(self.noise, generator, (draws, int(self._merged.sum())))
        counts = counts + merge(noise, self.cells)
        total = counts.sum(axis=1, keepdims=True)
        spread = np.sqrt(np.maximum(self._variance(self.values, total), np.finfo(np.float64).tiny))
        return np.asarray(np.abs(counts - self.values * total) / spread)

    def _invert(self, critical: Floats) -> Bounds:
        """The ends of {p : (y - p N)**2 <= c**2 (N p (1 - p) + own (1 - p)**2 + others p**2)}; else infinite."""
        one = self.noise.cumulants.variance
        own, rows = one * self._merged, self.total if self.sampled else 0.0
        variance = own, own - rows / 2, one * self._merged.sum() - rows
        return fieller(self.counts, np.asarray(self.total), variance, critical)


def merge(cells: Floats, sizes: Sequence[int]) -> Floats:
    """Neighbouring cells of the last axis, added up in groups of those sizes."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    return np.add.reduceat(cells, starts, axis=-1)


def require_one_row(frame: Frame, method: str, instead: str = "") -> None:
    """Refuses rows of which a person may have several. `instead` is what else may be asked for."""
    if frame.relation.rows_per_person > 1:
        raise Refusal(
            method,
            f"takes rows for independent, and here a person may have {frame.relation.rows_per_person} of them",
            f"reduce them to one row a person in the brackets, with GROUP BY the person{instead}",
            code="rows_per_person",
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
