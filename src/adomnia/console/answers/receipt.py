"""The receipt of an answer: who paid how much, when, and the entry of the ledger that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.console.prices import show_cost

if TYPE_CHECKING:
    from adomnia.api.ledger_view import LedgerEntry
    from adomnia.console.prices import Paid
    from adomnia.ledger.requests import Receipt


@dataclass(frozen=True)
class ReceiptView:
    """What a receipt says; `at` and `entry` are known of an entry that the ledger still has."""

    cost: Paid
    analyst: str
    request_id: str
    hash: str
    at: str | None = None
    entry: int | None = None


def build_receipt(receipt: Receipt, entry: LedgerEntry | None = None) -> ReceiptView:
    """The receipt, with the time and the number of its entry if the ledger has it."""
    told = (show_cost(receipt.event), receipt.analyst or "the dataset", receipt.request_id, receipt.hash)
    return ReceiptView(*told) if entry is None else ReceiptView(*told, entry.at, entry.sequence)
