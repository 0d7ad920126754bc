"""What an event costs, in the three currencies that filters count, and what one of them is in another.

Between zCDP and (epsilon, delta) it is tight, and always on the safe side; docs/proofs/conversions.md. For every order
alpha > 1, a rho-zCDP mechanism is (epsilon, delta)-DP with

    ln delta = (alpha - 1)(alpha rho - epsilon) + (alpha - 1) ln(1 - 1 / alpha) - ln alpha

(Canonne, Kamath & Steinke 2020, proposition 12). Floats find the best order; enclosures evaluate the bound at that very
rational, so that a poor order could cost tightness but never the guarantee. `excess` below is alpha - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce, singledispatch
from math import exp, log, log1p
from operator import add
from typing import TYPE_CHECKING

from adomnia.privacy.amounts import EPSILON_UNIT, Number, exact, positive, proportion
from adomnia.privacy.enclosures import exp_up, ln_down, ln_up
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

if TYPE_CHECKING:
    from collections.abc import Callable


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


_LARGEST_LOGARITHM = 700.0  # exp of it is still a float
_HALVINGS = 60  # the bound is flat at the best order, so an order good to 1e-9 is more than enough


def delta_of(rho: Number, epsilon: Number) -> Fraction:
    """The delta of a rho-zCDP mechanism at that epsilon, rounded up.

    >>> f"{float(delta_of(0.5, 5.2215)):.3g}"
    '1e-06'
    """
    spread, bound = positive(rho, "delta_of", "rho"), exact(epsilon, "delta_of", "epsilon")
    if bound < 0:
        raise ValueError(f"delta_of epsilon must be >= 0, got {epsilon}.")
    return _delta_at(spread, bound, _order_for_epsilon(float(spread), float(bound)))


def epsilon_of(rho: Number, delta: Number) -> Fraction:
    """The epsilon of a rho-zCDP mechanism at that delta, rounded up.

    >>> f"{float(epsilon_of(0.5, 1e-6)):.4f}"
    '5.2215'
    """
    spread, failure = positive(rho, "epsilon_of", "rho"), _failure(delta, "epsilon_of")
    surprise = -ln_down(failure)
    excess = _order_for_delta(float(spread), float(surprise))
    return max(Fraction(0), (excess + 1) * spread + (_entropy_up(excess) + surprise) / excess)


def rho_of(epsilon: Number, delta: Number) -> Fraction:
    """The largest rho, in whole units, of which every zCDP mechanism is (epsilon, delta)-DP; 0 if there is none.

    >>> f"{float(rho_of(1, 1e-9)):.6f}"
    '0.014973'
    """
    return _rho_of(positive(epsilon, "rho_of", "epsilon"), _failure(delta, "rho_of"))


@lru_cache(maxsize=1024)
def _rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    def holds(units: int) -> bool:
        return delta_of(units * EPSILON_UNIT, epsilon) <= delta

    allowed, refused = 0, 1
    while holds(refused):
        allowed, refused = refused, 2 * refused
    while refused - allowed > 1:  # zero units or a rigorously proved number of units: that is all `allowed` ever holds
        middle = (allowed + refused) // 2
        allowed, refused = (middle, refused) if holds(middle) else (allowed, middle)
    return allowed * EPSILON_UNIT


def _delta_at(rho: Fraction, epsilon: Fraction, excess: Fraction) -> Fraction:
    logarithm = excess * ((excess + 1) * rho - epsilon) + _entropy_up(excess)
    return Fraction(1) if logarithm >= 0 else exp_up(logarithm)


def _entropy_up(excess: Fraction) -> Fraction:
    """(alpha - 1) ln(1 - 1 / alpha) - ln alpha, rounded up."""
    return excess * ln_up(excess) - (excess + 1) * ln_down(excess + 1)


def _order_for_epsilon(rho: float, epsilon: float) -> Fraction:
    # The derivative of ln delta by alpha, which only grows with alpha.
    def slope(logarithm: float) -> float:
        return (2 * exp(logarithm) + 1) * rho - epsilon + logarithm - log1p(exp(logarithm))

    return _increasing_root(slope, min(0.0, epsilon - 3 * rho) - 1, log(epsilon + 1 + 2 * rho) - log(2 * rho))


def _order_for_delta(rho: float, surprise: float) -> Fraction:
    # The derivative of epsilon by alpha, times (alpha - 1)**2.
    def slope(logarithm: float) -> float:
        return rho * exp(2 * logarithm) + log1p(exp(logarithm)) - surprise

    root = (log(surprise) - log(rho)) / 2
    return _increasing_root(slope, min(root, log(surprise)) - log(2), root)


def _increasing_root(slope: Callable[[float], float], low: float, high: float) -> Fraction:
    low, high = max(low, -_LARGEST_LOGARITHM), min(high, _LARGEST_LOGARITHM)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return Fraction(exp(high))


def _failure(delta: Number, owner: str) -> Fraction:
    failure = proportion(delta, owner, "delta")
    if failure == 0:
        raise ValueError(f"{owner} delta must be > 0, got {delta}.")
    return failure
