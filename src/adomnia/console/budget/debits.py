"""What an analyst has paid, one debit after the other, and what they had spent in all after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from adomnia.api.actions.answers import read_asked
from adomnia.console.budget.gauges import count_units
from adomnia.console.paying import address_of_answer
from adomnia.console.prices import Paid, show_paid
from adomnia.privacy.amounts import EPSILON_UNIT, show_up
from adomnia.wire.amounts import count_cost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.console.budget.gauges import Currency
    from adomnia.console.history.index import PastQuestion
    from adomnia.ledger.requests import Receipt
    from adomnia.privacy.filters import Spent


@dataclass(frozen=True, slots=True)
class Debit:
    """Something that was paid for, whether or not it has an answer."""

    at: str
    request_id: str
    texts: tuple[str, ...]
    cost: Spent
    answered: bool

    @property
    def paid(self) -> Paid:
        """The cost, as pages show it."""
        return show_paid(self.cost)

    @property
    def address(self) -> str:
        """Where its answer is."""
        return address_of_answer(self.request_id)


class CountedDebit(NamedTuple):
    """A debit, and what was spent in all before it and after it, in whole units of the currency of the budget."""

    debit: Debit
    before: int
    total: int

    @property
    def spent(self) -> str:
        """What was spent by then, as pages show it."""
        return show_up(self.total * EPSILON_UNIT)


def from_past(past: PastQuestion) -> Debit:
    """The debit of an answer."""
    return Debit(past.at, past.request_id, past.texts, past.cost, answered=True)


def from_receipt(receipt: Receipt) -> Debit:
    """The debit of what has no answer."""
    texts = tuple(question.text for question in read_asked(receipt.asked).questions) if receipt.asked else ()
    return Debit(receipt.at, receipt.request_id, texts or ("",), count_cost(receipt.event), answered=False)


def add_totals(debits: Iterable[Debit], spent: Spent, currency: Currency) -> list[CountedDebit]:
    """Debits by time, newest first, each with what was spent by then, counted back from what is spent now.

    So the newest totals are right, whatever else was spent before the first of these debits. Of one second, those that
    come first are the newer ones.
    """
    found, total = [], count_units(spent, currency)
    for debit in sorted(debits, key=lambda each: each.at, reverse=True):
        before = max(0, total - count_units(debit.cost, currency))
        found.append(CountedDebit(debit, before, total))
        total = before
    return found
