"""What a question does to a budget: spent before, spent by it, left after it; in the sum that the budget is held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.privacy.amounts import EPSILON_UNIT, show_down, show_up

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.privacy.events import Event
    from adomnia.privacy.filters import Filter


@dataclass(frozen=True)
class BudgetBar:
    """The parts of a budget as shares of it and in words."""

    sign: str
    word: str
    whole: str
    spent: str
    now: str
    left: str
    spent_share: float
    now_share: float

    @property
    def says(self) -> str:
        """The bar for those who do not see it."""
        if not self.now:
            return f"Spent {self.spent}, left {self.left}, of {self.whole}"
        return f"Spent {self.spent}, this question {self.now}, left after it {self.left}, of {self.whole}"


def build_bar(account: Filter, event: Event | None = None) -> BudgetBar:
    """The bar of an account, with what an event would cost it; without the event where the account cannot pay it."""
    after = account if event is None else _pay(account, event)
    in_epsilon = after.branches().epsilon or not after.budget.rho
    whole = after.budget.epsilon if in_epsilon else after.budget.rho
    before, now = _spent(account, in_epsilon=in_epsilon), _spent(after, in_epsilon=in_epsilon)
    left = after.left().epsilon if in_epsilon else after.left().rho
    return BudgetBar(
        "ε" if in_epsilon else "ρ",
        "epsilon" if in_epsilon else "rho",
        show_down(whole),
        show_up(min(before, whole)),
        show_up(now - before) if now > before else "",
        show_down(left),
        _share(before, whole),
        _share(now - before, whole),
    )


def _pay(account: Filter, event: Event) -> Filter:
    try:
        return account.after(event)
    except Refusal:
        return account


def _spent(account: Filter, *, in_epsilon: bool) -> Fraction:
    spent = account.spent
    return (spent.epsilon_units if in_epsilon else spent.rho_units) * EPSILON_UNIT


def _share(part: Fraction, whole: Fraction) -> float:
    return min(float(part / whole), 1.0) if whole else 1.0
