"""May this event still be admitted? One rule, valid for analysts who adapt everything; docs/proofs/filters.md.

Admit iff the deltas of all events sum to at most event_delta, and (every event has an epsilon and these sum to at most
epsilon) or (their rhos sum to at most rho(epsilon, delta - event_delta)).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from adomnia.errors import Refusal
from adomnia.messages.references import Setting
from adomnia.messages.texts import Message
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
from adomnia.privacy.enclosures import sqrt_down
from adomnia.privacy.losses import Loss, loss, rho_of

if TYPE_CHECKING:
    from adomnia.privacy.events import Event


class Units(NamedTuple):
    """Sums of epsilons and rhos, each in EPSILON_UNIT, and of deltas in DELTA_UNIT."""

    epsilon: int
    rho: int
    delta: int


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

    @cached_property
    def units(self) -> Units:
        """What may be spent, in whole units, rounded down."""
        return Units(
            round_down(self.epsilon, EPSILON_UNIT),
            round_down(self.rho, EPSILON_UNIT),
            round_down(self.event_delta, DELTA_UNIT),
        )


@dataclass(frozen=True)
class Spent:
    """What was admitted so far, in whole units; `in_epsilon`: `epsilon_units` is the sum of the epsilons of all events.

    Once it is not, because one had none or older versions left one out, it never is again.
    """

    epsilon_units: int = 0
    rho_units: int = 0
    delta_units: int = 0
    in_epsilon: bool = True

    def __post_init__(self) -> None:
        for field in ("epsilon_units", "rho_units", "delta_units"):
            units = getattr(self, field)
            if type(units) is not int or units < 0:
                raise ValueError(f"Spent {field} must be a whole number >= 0, got {units!r}.")
        if type(self.in_epsilon) is not bool:
            raise TypeError(f"Spent in_epsilon must be True or False, got {self.in_epsilon!r}.")

    @property
    def pure(self) -> bool:
        """Whether every event so far was pure."""
        return self.in_epsilon and not self.delta_units

    def plus(self, cost: Loss) -> Spent:
        """One more event, its cost rounded up once: never less than a unit, because an epsilon or a rho is never 0."""
        return Spent(
            self.epsilon_units + (0 if cost.epsilon is None else round_up(cost.epsilon, EPSILON_UNIT)),
            self.rho_units + round_up(cost.rho, EPSILON_UNIT),
            self.delta_units + round_up(cost.delta, DELTA_UNIT),
            self.in_epsilon and cost.epsilon is not None,
        )


class Branches(NamedTuple):
    """Which sums are within the budget: those of epsilons, of rhos. Of what was admitted, at least one is."""

    epsilon: bool
    rho: bool


class Left(NamedTuple):
    """What remains: epsilon while everything spent had one (0 afterwards), or rho; and delta for either."""

    epsilon: Fraction
    rho: Fraction
    delta: Fraction

    @property
    def largest_question(self) -> Fraction:
        """The largest epsilon that one question may cost: of pure epsilon e, the branch of rho takes e**2 / 2."""
        return max(self.epsilon, sqrt_down(2 * self.rho))


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
        return self._spend(loss(event)) is not None

    def after(self, event: Event) -> Filter:
        """The filter once the event has been paid for, or a Refusal."""
        return self.after_loss(loss(event))

    def after_loss(self, cost: Loss) -> Filter:
        """The same for what an event costs."""
        after = self._spend(cost)
        if after is None:
            raise self._refusal(cost)
        return after

    def branches(self) -> Branches:
        """Which of the two sums are still within the budget."""
        budget, spent = self.budget, self.spent
        # One sum of deltas for both branches: counted apart, they could use up event_delta twice.
        most = budget.units
        within_delta = spent.delta_units <= most.delta
        within_epsilon = spent.in_epsilon and spent.epsilon_units <= most.epsilon
        within_rho = spent.rho_units <= most.rho
        return Branches(within_delta and within_epsilon, within_delta and within_rho)

    def left(self) -> Left:
        """What remains, for display: of each sum that is still within the budget, and nothing of any other."""
        most, spent, within = self.budget.units, self.spent, self.branches()
        return Left(
            (most.epsilon - spent.epsilon_units if within.epsilon else 0) * EPSILON_UNIT,
            (most.rho - spent.rho_units if within.rho else 0) * EPSILON_UNIT,
            (most.delta - spent.delta_units if any(within) else 0) * DELTA_UNIT,
        )

    def spent_epsilon(self) -> Fraction | None:
        """The epsilons of all events, while they are what the budget is held to; None once rho is instead."""
        return self.spent.epsilon_units * EPSILON_UNIT if self.branches().epsilon else None

    def _spend(self, cost: Loss) -> Filter | None:
        """The filter after a spend; None if it is not admitted."""
        if not self._takes(cost):
            return None
        after = Filter(self.budget, self.spent.plus(cost))
        return after if any(after.branches()) else None

    def _takes(self, cost: Loss) -> bool:
        return self.budget.approximate or cost.pure

    def _refusal(self, cost: Loss) -> Refusal:
        if not self._takes(cost):
            return Refusal(
                what=f"A spend of {_amount(cost)}",
                why="is not pure, and this budget takes only pure spends",
                fix=Message("pay with epsilon (Laplace noise), or ", Setting("approximate")),
            )
        left = self.left()
        remaining = f"epsilon {show_down(left.epsilon)} or rho {show_down(left.rho)}"
        return Refusal(
            what=f"A spend of {_amount(cost)}",
            why=f"is more than is left ({remaining}, and delta {show_down(left.delta)})",
            fix=_affordable(cost, left),
            code="budget",
        )


def _amount(cost: Loss) -> str:
    delta = f" and delta {show_up(cost.delta)}" if cost.delta else ""
    rho = f"rho {show_up(cost.rho)}"
    return f"{rho}{delta}" if cost.epsilon is None else f"epsilon {show_up(cost.epsilon)}{delta} ({rho})"


def _affordable(cost: Loss, left: Left) -> str:
    most = left.rho if cost.epsilon is None else left.largest_question
    if most < EPSILON_UNIT or left.delta < min(cost.delta, DELTA_UNIT):
        return "ask the owner for a larger budget"
    delta = f" and delta {show_down(left.delta)}" if cost.delta else ""
    return f"spend at most {'rho' if cost.epsilon is None else 'epsilon'} {show_down(most)}{delta}"
