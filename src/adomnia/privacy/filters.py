"""May this event still be admitted? One rule, valid for analysts who adapt everything; docs/proofs/filters.md.

Admit iff (every event so far is pure and their epsilons sum to at most epsilon) or (their rhos sum to at most
rho(epsilon, delta - event_delta) and their deltas to at most event_delta).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from adomnia.errors import Refusal
from adomnia.privacy.amounts import (
    DELTA_UNIT,
    EPSILON_UNIT,
    Number,
    positive,
    proportion,
    round_down,
    round_up,
    show_down,
    show_up,
)
from adomnia.privacy.conversions import rho_of
from adomnia.privacy.enclosures import sqrt_down
from adomnia.privacy.losses import Loss, loss

if TYPE_CHECKING:
    from adomnia.privacy.events import Event

__all__ = ["Budget", "Filter", "Left", "Spent"]


@dataclass(frozen=True, init=False)
class Budget:
    """The guarantee everything together must keep; `approximate` lets in events that are not pure.

    `event_delta` is the part of delta that events themselves may use up; the rest pays for converting rho into epsilon.

    >>> Budget(epsilon=1, delta=1e-6).event_delta
    Fraction(1, 2000000)
    """

    epsilon: Fraction
    delta: Fraction
    approximate: bool
    event_delta: Fraction

    def __init__(
        self,
        epsilon: Number,
        delta: Number = 0,
        approximate: bool = False,
        event_delta: Number | None = None,
    ) -> None:
        total = proportion(delta, "Budget", "delta")
        share = total / 2 if event_delta is None else proportion(event_delta, "Budget", "event_delta")
        if share > total:
            raise ValueError(f"Budget event_delta must be <= delta = {delta}, got {event_delta}.")
        if not isinstance(approximate, bool):
            raise TypeError(f"Budget approximate must be True or False, got {approximate!r}.")
        object.__setattr__(self, "epsilon", positive(epsilon, "Budget", "epsilon"))
        object.__setattr__(self, "delta", total)
        object.__setattr__(self, "approximate", approximate)
        object.__setattr__(self, "event_delta", share)

    @cached_property
    def rho(self) -> Fraction:
        """What the second branch may spend; 0 where no delta is left to convert with."""
        conversion_delta = self.delta - self.event_delta
        return rho_of(self.epsilon, conversion_delta) if conversion_delta else Fraction(0)


@dataclass(frozen=True)
class Spent:
    """What was admitted so far, in whole units; `epsilon_units` counts the pure events only."""

    epsilon_units: int = 0
    rho_units: int = 0
    delta_units: int = 0
    pure: bool = True

    def __post_init__(self) -> None:
        for field in ("epsilon_units", "rho_units", "delta_units"):
            units = getattr(self, field)
            if type(units) is not int or units < 0:
                raise ValueError(f"Spent {field} must be a whole number >= 0, got {units!r}.")
        if type(self.pure) is not bool:
            raise TypeError(f"Spent pure must be True or False, got {self.pure!r}.")

    def plus(self, cost: Loss) -> Spent:
        """One more event, its cost rounded up once: never less than a unit, because an epsilon or a rho is never 0."""
        return Spent(
            self.epsilon_units + (0 if cost.epsilon is None else round_up(cost.epsilon, EPSILON_UNIT)),
            self.rho_units + round_up(cost.rho, EPSILON_UNIT),
            self.delta_units + round_up(cost.delta, DELTA_UNIT),
            self.pure and cost.epsilon is not None,
        )


class Left(NamedTuple):
    """What remains: pure epsilon while nothing else was spent (0 afterwards), or rho and delta."""

    epsilon: Fraction
    rho: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Filter:
    """A budget and what was spent of it.

    >>> from adomnia.privacy.events import Pure
    >>> spending = Filter(Budget(epsilon=1)).after(Pure(0.9))
    >>> spending.admits(Pure(0.1)), spending.admits(Pure(0.2))
    (True, False)
    """

    budget: Budget
    spent: Spent = Spent()

    def admits(self, event: Event) -> bool:
        """Whether the event may happen."""
        cost = loss(event)
        return self._takes(cost) and self._within(self.spent.plus(cost))

    def after(self, event: Event) -> Filter:
        """The filter once the event has been paid for, or a Refusal."""
        if not self.admits(event):
            raise self._refusal(loss(event))
        return replace(self, spent=self.spent.plus(loss(event)))

    def left(self) -> Left:
        """What remains, for display."""
        epsilon = round_down(self.budget.epsilon, EPSILON_UNIT) - self.spent.epsilon_units
        rho = round_down(self.budget.rho, EPSILON_UNIT) - self.spent.rho_units
        delta = round_down(self.budget.event_delta, DELTA_UNIT) - self.spent.delta_units
        return Left(
            max(0, epsilon if self.spent.pure else 0) * EPSILON_UNIT,
            max(0, rho) * EPSILON_UNIT,
            max(0, delta) * DELTA_UNIT,
        )

    def _takes(self, cost: Loss) -> bool:
        return self.budget.approximate or cost.epsilon is not None

    def _within(self, spent: Spent) -> bool:
        budget = self.budget
        if spent.pure and spent.epsilon_units <= round_down(budget.epsilon, EPSILON_UNIT):
            return True
        rho_fits = spent.rho_units <= round_down(budget.rho, EPSILON_UNIT)
        return rho_fits and spent.delta_units <= round_down(budget.event_delta, DELTA_UNIT)

    def _refusal(self, cost: Loss) -> Refusal:
        if not self._takes(cost):
            return Refusal(
                what=f"A spend of {_amount(cost)}",
                why="is not pure, and this budget takes only pure spends",
                fix="pay with epsilon (Laplace noise), or have the owner set approximate = true in [budget]",
            )
        left = self.left()
        remaining = f"epsilon {show_down(left.epsilon)} in pure spends, or rho {show_down(left.rho)}"
        return Refusal(
            what=f"A spend of {_amount(cost)}",
            why=f"is more than is left ({remaining} and delta {show_down(left.delta)})",
            fix=_affordable(cost, left),
            code="budget",
        )


def _amount(cost: Loss) -> str:
    concentrated = f"rho {show_up(cost.rho)} and delta {show_up(cost.delta)}"
    return concentrated if cost.epsilon is None else f"epsilon {show_up(cost.epsilon)} (rho {show_up(cost.rho)})"


def _affordable(cost: Loss, left: Left) -> str:
    # A pure epsilon has rho epsilon**2 / 2, so the second branch still takes sqrt(2 rho).
    epsilon = max(left.epsilon, sqrt_down(2 * left.rho))
    if cost.epsilon is not None and epsilon >= EPSILON_UNIT:
        return f"spend at most epsilon {show_down(epsilon)}"
    if cost.epsilon is None and left.rho and left.delta >= min(cost.delta, DELTA_UNIT):
        return f"spend at most rho {show_down(left.rho)} and delta {show_down(left.delta)}"
    return "ask the owner for a larger budget"
