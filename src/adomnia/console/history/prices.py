"""What was paid, as pages show it: in its own currency, and with its delta if it had one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, show_up
from adomnia.privacy.filters import Spent
from adomnia.privacy.losses import loss

if TYPE_CHECKING:
    from adomnia.privacy.events import Event

__all__ = ["Paid", "count_cost", "show_paid"]


@dataclass(frozen=True)
class Paid:
    """An amount with its sign and the word for it; `delta` is empty where there was none."""

    sign: str
    word: str
    amount: str
    delta: str

    def __str__(self) -> str:
        return f"{self.word} {self.amount}" + (f" and delta {self.delta}" if self.delta else "")


def count_cost(event: Event) -> Spent:
    """What an event costs in whole units, as accounts count it."""
    return Spent().plus(loss(event))


def show_paid(cost: Spent) -> Paid:
    """A cost in epsilon where it has one, else in rho.

    >>> from adomnia.privacy.events import Pure
    >>> str(show_paid(count_cost(Pure(0.25))))
    'epsilon 0.25'
    """
    delta = show_up(cost.delta_units * DELTA_UNIT) if cost.delta_units else ""
    if cost.in_epsilon:
        return Paid("ε", "epsilon", show_up(cost.epsilon_units * EPSILON_UNIT), delta)
    return Paid("ρ", "rho", show_up(cost.rho_units * EPSILON_UNIT), delta)
