"""Tables as they were measured one after the other: what they say together, and a model that comes closest to it.

What is left of a price, over rounds that depend on each other, is counted by what each measure does cost, exactly.
Proof: docs/proofs/synthetic.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod, sqrt

from adomnia.mechanisms.contract import Tails
from adomnia.methods.synthesis.choosing import TablePart, TablePlaces
from adomnia.methods.synthesis.graphical.fitting import MeasuredTable, fit
from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.noise import Integers
from adomnia.privacy.events import Composed, Concentrated, Event, Price, Pure
from adomnia.privacy.losses import loss
from adomnia.statistics.contract import Measure, Measured

_STEPS, _TOLERANCE = 300, 0.1  # of a fit between two rounds
_LAST_STEPS, _LAST_TOLERANCE = 3_000, 0.01
_PARTS = 2**40  # of the whole price: amounts are rounded down to them, so that fractions stay short
_NOTHING = Fraction(1, 2**24)  # of the whole price: what is not worth a measure


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


@dataclass(frozen=True)
class Remainder:
    """A price, and the events that were paid from it so far.

    Every event counts with its own loss, never by a formula of how many there were: a formula forgets some.
    """

    price: Price
    events: tuple[Event, ...] = ()
    kept: Fraction = Fraction(0)  # for later

    @property
    def whole(self) -> Fraction:
        """The price as a number, in its own currency."""
        return _amount(self.price)

    @property
    def spent(self) -> Fraction:
        """What all events cost together, in the currency of the price."""
        if not self.events:
            return Fraction(0)
        found = loss(Composed(self.events))
        if isinstance(self.price, Concentrated):
            return found.rho
        if found.epsilon is None:
            raise ValueError("Remainder in epsilon must be spent on pure events, got others.")
        return found.epsilon

    @property
    def left(self) -> Fraction:
        """What may still be spent now."""
        return self.whole - self.spent - self.kept

    @property
    def is_spent(self) -> bool:
        """Whether what is left buys nothing worth having."""
        return self.left <= self.whole * _NOTHING

    @property
    def share_spent(self) -> float:
        """Which part of the price is spent."""
        return float(self.spent / self.whole)

    def pay(self, measures: Iterable[Measure]) -> "Remainder":
        """The same after these measures."""
        events = (each.mechanism.event(each.query.sensitivity()) for each in measures)
        found = replace(self, events=(*self.events, *events))
        if found.left < 0:
            raise ValueError("Remainder must cover all measures, got some that cost more than is left.")
        return found

    def offer(self, amount: Fraction) -> Price:
        """So much of the price, or all that is left of it if that is less."""
        unit = self.whole / _PARTS
        return type(self.price)(max(min(amount, self.left) // unit, 1) * unit)


def _amount(price: Price) -> Fraction:
    return price.epsilon if isinstance(price, Pure) else price.rho
