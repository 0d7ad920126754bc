"""The receipt of an answer: who paid how much, when, and the entry of the ledger that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.server.console.answers.bill import show_cost
from adomnia.server.ledger_view import find_debit, find_ledger, open_snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from adomnia.ledger.requests import Receipt
    from adomnia.server.console.answers.bill import Money

__all__ = ["ReceiptView", "build_receipt"]


@dataclass(frozen=True)
class ReceiptView:
    """What a receipt says; `at` and `entry` are known of an entry that the ledger still has."""

    cost: Money
    analyst: str
    request_id: str
    hash: str
    at: str | None = None
    entry: int | None = None


def build_receipt(receipt: Receipt, folder: Path | None = None) -> ReceiptView:
    """The receipt, with the time and the number of its entry if a folder has its ledger."""
    told = (show_cost(receipt.event), receipt.analyst or "the dataset", receipt.request_id, receipt.hash)
    if folder is None:
        return ReceiptView(*told)
    with open_snapshot(find_ledger(folder)) as connection:
        entry = find_debit(connection, receipt)
    return ReceiptView(*told) if entry is None else ReceiptView(*told, entry.at, entry.sequence)
