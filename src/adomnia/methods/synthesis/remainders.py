"""What is left of a price over rounds that depend on each other: counted by what each measure does cost, exactly.

Proof: docs/proofs/synthetic.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from adomnia.privacy.events import Composed, Concentrated, Event, Price, Pure
from adomnia.privacy.losses import loss
from adomnia.statistics.contract import Measure

_PARTS = 2**40  # of the whole price: amounts are rounded down to them, so that fractions stay short
_NOTHING = Fraction(1, 2**24)  # of the whole price: what is not worth a measure


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
