"""What an event costs, in the three currencies that filters count."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce, singledispatch
from operator import add

from adomnia.privacy.events import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Event,
    Pure,
    ScalarGaussian,
    ScalarLaplace,
)


@dataclass(frozen=True)
class Loss:
    """With probability 1 - delta, by one coin: epsilon-DP (None: of no epsilon) and rho-zCDP; all three add up.

    >>> loss(Composed([Pure(0.5), Approximate(0.1, 1e-9)])).epsilon
    Fraction(3, 5)
    """

    epsilon: Fraction | None
    rho: Fraction
    delta: Fraction

    @property
    def pure(self) -> bool:
        """Whether it is epsilon-DP and nothing else, with no delta beside."""
        return self.epsilon is not None and not self.delta

    def __add__(self, other: Loss) -> Loss:
        epsilon = None if self.epsilon is None or other.epsilon is None else self.epsilon + other.epsilon
        return Loss(epsilon, self.rho + other.rho, self.delta + other.delta)

    def __le__(self, other: Loss) -> bool:
        within_epsilon = other.epsilon is None or (self.epsilon is not None and self.epsilon <= other.epsilon)
        return within_epsilon and self.rho <= other.rho and self.delta <= other.delta


@singledispatch
def loss(event: Event) -> Loss:
    """The cost of an event; docs/proofs/filters.md says why each line holds.

    >>> loss(Pure(0.5))
    Loss(epsilon=Fraction(1, 2), rho=Fraction(1, 8), delta=Fraction(0, 1))
    """
    raise TypeError(f"loss event must be an event, got {event!r}.")


def covers(reserved: Event, event: Event) -> bool:
    """Whether what was reserved pays for what is about to happen, in every currency."""
    return event == reserved or loss(event) <= loss(reserved)


@loss.register
def _(event: Pure) -> Loss:
    return _pure(event.epsilon)


@loss.register
def _(event: BoundedRange) -> Loss:
    return Loss(event.epsilon, event.epsilon**2 / 8, Fraction(0))


@loss.register
def _(event: Concentrated) -> Loss:
    return Loss(None, event.rho, event.delta)


@loss.register
def _(event: Approximate) -> Loss:
    # Kairouz, Oh & Viswanath 2015: epsilon-DP but for a coin of probability delta, the same on both neighbours.
    return Loss(event.epsilon, event.epsilon**2 / 2, event.delta)


@loss.register
def _(event: ScalarLaplace) -> Loss:
    return _pure(event.distance / event.scale)


@loss.register
def _(event: ScalarGaussian) -> Loss:
    return Loss(None, event.distance**2 / (2 * event.variance), Fraction(0))


@loss.register
def _(event: Composed) -> Loss:
    return reduce(add, map(loss, event.events))


def _pure(epsilon: Fraction) -> Loss:
    # Bun & Steinke 2016, proposition 1.4.
    return Loss(epsilon, epsilon**2 / 2, Fraction(0))
