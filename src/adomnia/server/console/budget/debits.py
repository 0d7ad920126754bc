"""What an analyst has paid, one debit after the other, and what they had spent in all after each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.privacy.amounts import EPSILON_UNIT, show_up
from adomnia.privacy.filters import Spent
from adomnia.server.console.history.prices import Paid, count_cost, show_paid
from adomnia.server.console.paying import address_of_answer
from adomnia.session.batch import Batch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.ledger.requests import Receipt
    from adomnia.server.console.history.index import PastQuestion

__all__ = ["Debit", "add_totals", "from_past", "from_receipt"]

_NOTHING = Spent()


@dataclass(frozen=True, slots=True)
class Debit:
    """Something that was paid for, whether or not it has an answer; `total` is what was spent by then."""

    at: str
    request_id: str
    texts: tuple[str, ...]
    cost: Spent
    answered: bool
    total: Spent = _NOTHING

    @property
    def paid(self) -> Paid:
        """The cost, as pages show it."""
        return show_paid(self.cost)

    def spent(self, currency: str) -> str:
        """What was spent by then, in epsilon or rho."""
        units: int = getattr(self.total, f"{currency}_units")
        return show_up(units * EPSILON_UNIT)

    @property
    def address(self) -> str:
        """Where its answer is."""
        return address_of_answer(self.request_id)


def from_past(past: PastQuestion) -> Debit:
    """The debit of an answer."""
    return Debit(past.at, past.request_id, past.texts, past.cost, answered=True)


def from_receipt(receipt: Receipt) -> Debit:
    """The debit of what has no answer."""
    texts = tuple(question.text for question in Batch.from_text(receipt.asked).questions) if receipt.asked else ()
    return Debit(receipt.at, receipt.request_id, texts or ("",), count_cost(receipt.event), answered=False)


def add_totals(debits: Iterable[Debit], spent: Spent) -> list[Debit]:
    """Debits by time, newest first, each with what was spent by then, counted back from what is spent now.

    So the newest totals are right, whatever else was spent before the first of these debits. Of one second, those that
    come first are the newer ones.
    """
    found, total = [], spent
    for debit in sorted(debits, key=lambda each: each.at, reverse=True):
        found.append(replace(debit, total=total))
        total = _subtract(total, debit.cost)
    return found


def _subtract(total: Spent, cost: Spent) -> Spent:
    return Spent(
        max(0, total.epsilon_units - cost.epsilon_units),
        max(0, total.rho_units - cost.rho_units),
        max(0, total.delta_units - cost.delta_units),
        total.in_epsilon,
    )
