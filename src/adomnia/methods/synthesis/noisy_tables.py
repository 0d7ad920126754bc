"""Tables as they were measured one after the other: what they say together, and a model that comes closest to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod, sqrt

from adomnia.mechanisms.contract import Tails
from adomnia.methods.synthesis.choosing import TablePart, TablePlaces
from adomnia.methods.synthesis.graphical.fitting import MeasuredTable, fit
from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.noise import Integers
from adomnia.statistics.contract import Measured

_STEPS, _TOLERANCE = 300, 0.1  # of a fit between two rounds
_LAST_STEPS, _LAST_TOLERANCE = 3_000, 0.01


@dataclass(frozen=True)
class NoisyTables:
    """Noisy tables over columns of so many values each, and all integers that were released on the way to them."""

    sizes: tuple[int, ...]
    tables: tuple[TablePlaces, ...] = ()
    marginals: tuple[NoisyMarginal, ...] = ()
    released: tuple[Integers, ...] = ()
    tails: Tails = "gaussian"

    def add(self, table: TablePlaces, parts: Sequence[TablePart], measured: Sequence[Measured]) -> "NoisyTables":
        """The same with one more table, of which these parts were measured."""
        return replace(self.refine(parts, measured), tables=tuple(dict.fromkeys((*self.tables, table))))

    def refine(self, parts: Sequence[TablePart], measured: Sequence[Measured]) -> "NoisyTables":
        """The same with more measurements of parts of its tables."""
        noises = [each.noise.continuous for each in measured]
        found = (
            NoisyMarginal(part.columns, each.values, noise.cumulants.variance, part.basis)
            for part, each, noise in zip(parts, measured, noises, strict=True)
        )
        return NoisyTables(
            self.sizes,
            self.tables,
            (*self.marginals, *found),
            (*self.released, *(each.values for each in measured)),
            "laplace" if any(noise.tails == "laplace" for noise in noises) else self.tails,
        )

    @cached_property
    def residuals(self) -> Residuals:
        """What all of them say together, by least squares: their tables agree."""
        return Residuals.from_measured(self.sizes, self.marginals)

    def deviation(self, table: TablePlaces) -> float:
        """The standard deviation of the noise in each count of a table."""
        return sqrt(self.residuals.variance(table))

    def fit(self, start: Model | None = None) -> Model:
        """A model for the next choice: near enough, and soon there."""
        return fit(self.sizes, self._fitted, start=start, iterations=_STEPS, tolerance=_TOLERANCE)

    def fit_well(self) -> Model:
        """The model that rows are drawn from."""
        return fit(self.sizes, self._fitted, iterations=_LAST_STEPS, tolerance=_LAST_TOLERANCE)

    def count_cells(self, table: TablePlaces) -> int:
        """How many cells a table has."""
        return prod(self.sizes[column] for column in table)

    @cached_property
    def _fitted(self) -> list[MeasuredTable]:
        return [MeasuredTable(table, self.residuals.marginal(table), self.deviation(table)) for table in self.tables]
