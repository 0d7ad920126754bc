"""What was paid, as pages show it: in its own currency, and with its delta if it had one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, show_up
from adomnia.wire.amounts import count_cost, name_price

if TYPE_CHECKING:
    from adomnia.privacy.events import AnyPrice, Event
    from adomnia.privacy.filters import Spent

SIGNS = {"epsilon": "ε", "rho": "ρ"}


@dataclass(frozen=True)
class Paid:
    """An amount with its sign and the word for it; `delta` is empty where there was none."""

    sign: str
    word: str
    amount: str
    delta: str = ""

    def __str__(self) -> str:
        return f"{self.word} {self.amount}" + (f" and delta {self.delta}" if self.delta else "")


def show_paid(cost: Spent) -> Paid:
    """A cost in whole units: in epsilon where it has one, else in rho."""
    delta = show_up(cost.delta_units * DELTA_UNIT) if cost.delta_units else ""
    if cost.in_epsilon:
        return Paid("ε", "epsilon", show_up(cost.epsilon_units * EPSILON_UNIT), delta)
    return Paid("ρ", "rho", show_up(cost.rho_units * EPSILON_UNIT), delta)


def show_cost(event: Event) -> Paid:
    """What was paid.

    >>> from adomnia.privacy.events import Pure
    >>> str(show_cost(Pure(0.25)))
    'epsilon 0.25'
    """
    return show_paid(count_cost(event))


def show_price(price: AnyPrice) -> Paid:
    """The price of one measurement."""
    word, amount = name_price(price)
    return Paid(SIGNS[word], word, show_up(amount))
