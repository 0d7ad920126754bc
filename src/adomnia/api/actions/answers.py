"""Answers that were paid for: recalled with what was asked for them, and found again as entries of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.api.ledger_view import find_debit
from adomnia.asking.batch import Batch

if TYPE_CHECKING:
    from adomnia.api.ledger_view import LedgerEntry
    from adomnia.api.requests import Visit
    from adomnia.ledger.requests import Receipt
    from adomnia.session.recalled import Recalled

_MOST_UNANSWERED = 1000


def recall(visit: Visit, request_id: str, place: int = 0, *, confidence: float | None = None) -> Recalled:
    """One of one's own answers, with what was asked and measured for it."""
    return visit.curator.session(visit.visitor.name).recall(request_id, place, confidence=confidence)


def find_entry(visit: Visit, receipt: Receipt) -> LedgerEntry | None:
    """The entry of the ledger that a receipt is of; None if there is no such entry."""
    with visit.curator.ledger.snapshot() as records:
        return find_debit(records, receipt)


def list_unanswered(visit: Visit) -> list[Receipt]:
    """What one paid for and got no answer to."""
    return visit.curator.ledger.unanswered(visit.visitor.name, _MOST_UNANSWERED)


def read_asked(text: str) -> Batch:
    """What was asked, as a ledger keeps it."""
    return Batch.from_text(text)
