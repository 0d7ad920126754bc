"""What a session tells about an analyst's spending: what is left, and what was paid for before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.asking.batch import Batch
from adomnia.explaining.balances import say_account
from adomnia.pricing.bills import format_cost
from adomnia.tables import html_lines, show_plainly
from adomnia.work import spend

if TYPE_CHECKING:
    from adomnia.ledger import Ledger
    from adomnia.ledger.requests import Receipt
    from adomnia.pricing.policies import Terms
    from adomnia.privacy.filters import Filter

_CHARACTERS_OF_A_STEP = 500  # of a question that was kept, to be read


@dataclass(frozen=True)
class Budgets:
    """What an analyst has left, what the dataset has left for everybody, and what the next question costs."""

    personal: Filter
    dataset: Filter
    terms: Terms

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_lines(self._lines())

    def _lines(self) -> list[str]:
        return [f"You. {say_account(self.personal)}", f"All together. {say_account(self.dataset)}", self.terms.says]


@dataclass(frozen=True)
class Past:
    """Something that was paid for and answered before: what was asked, of which version of the data."""

    request_id: str
    questions: tuple[str, ...]
    version: int
    receipt: Receipt

    def __repr__(self) -> str:
        asked = "; ".join(map(show_plainly, self.questions))
        return f"Past({self.request_id}: {asked}, paid with {format_cost(self.receipt.event)})"


def list_pasts(ledger: Ledger, analyst: str, after: str | None, limit: int) -> list[Past]:
    """A page of what an analyst has paid for and got, as it was asked; none only at the end."""
    while page := ledger.answers(analyst, after, limit):
        pasts = [_read_past(receipt) for receipt in page if receipt.asked]
        if pasts:
            return pasts
        after = page[-1].request_id  # debits of the first ledgers do not say what was asked
    return []


def _read_past(receipt: Receipt) -> Past:
    spend(1 + len(receipt.asked) // _CHARACTERS_OF_A_STEP)
    batch = Batch.from_text(receipt.asked)
    return Past(receipt.request_id, tuple(each.text for each in batch.questions), batch.version, receipt)
