"""What an analyst has paid for and got, page by page, each found by index however long the ledger is.

A page begins after a request id of the analyst's own: a number of an entry would tell how much others have asked.
"""

import json

from adomnia.errors import Refusal
from adomnia.ledger.records import Records
from adomnia.ledger.requests import Receipt, decode_receipt, list_keys
from adomnia.messages.texts import write

_USUAL = 1000  # receipts of a page
MOST_BYTES = 2**23  # of the entries of a page: each may keep a long question


def list_answers(records: Records, analyst: str, after: str | None = None, limit: int = _USUAL) -> list[Receipt]:
    """List receipts of answers of an analyst, oldest first, those after a request id; none only at the end."""
    if limit < 1:
        raise ValueError(f"Ledger answers limit must be >= 1, got {limit}.")
    start = 0 if after is None else _find_answer(records, analyst, after)
    receipts: list[Receipt] = []
    size = 0
    for body in records.list_answered(analyst, start, limit):
        size += len(body)
        if receipts and size > MOST_BYTES:
            break
        receipts.append(decode_receipt(body))
    return receipts


def list_latest(records: Records, analyst: str, limit: int, after: int = 0) -> list[tuple[int, Receipt]]:
    """List receipts of the last answers of an analyst with the numbers of their entries, newest first."""
    return [(number, decode_receipt(body)) for number, body in records.list_latest(analyst, after, limit)]


def list_unanswered(records: Records, analyst: str, limit: int) -> list[Receipt]:
    """List receipts of what an analyst paid for and has no answer to, newest first: it failed, or is being measured."""
    first, *_ = list_keys(analyst, "")  # keys of the first ledgers do not begin with the analyst's name
    return [decode_receipt(body) for body in records.list_unanswered(first, _end(first), limit)]


def list_requests(records: Records, start: str, limit: int) -> list[Receipt]:
    """List receipts of what the dataset itself paid for under request ids that begin so, oldest first."""
    first, *_ = list_keys(None, start)
    return [decode_receipt(body) for body in records.list_debits(first, _end(first), limit)]


def find_request(records: Records, request_id: str) -> Receipt | None:
    """Find the receipt of what the dataset itself paid for under a request id, whether it has an answer or not."""
    debit = records.find_debit(*list_keys(None, request_id))
    return None if debit is None else decode_receipt(debit[1])


def _end(start: str) -> str:
    """The first text after all that begin so."""
    return f"{start[:-1]}{chr(ord(start[-1]) + 1)}"


def find_receipt(records: Records, analyst: str | None, request_id: str) -> Receipt | None:
    """Find the receipt of an answer of an analyst, or of the dataset (None), by its request id."""
    for key in list_keys(analyst, request_id) if request_id.isprintable() else ():
        if _find_kept(records, key, analyst) is not None:
            debit = records.find_debit(key)
            return None if debit is None else decode_receipt(debit[1])
    return None


def count_answers(records: Records, analyst: str) -> int:
    """Count the answers of an analyst."""
    return records.count_answers(analyst)


def _find_answer(records: Records, analyst: str, request_id: str) -> int:
    for key in list_keys(analyst, request_id) if request_id.isprintable() else ():
        kept = _find_kept(records, key, analyst)
        if kept is not None:
            return kept
    fix = write("take one that {answers()} lists, or none to begin with the oldest")
    raise Refusal(f"Request {request_id!r}", "has no answer of yours", fix, code="unknown_answer")


def _find_kept(records: Records, key: str, analyst: str | None) -> int | None:
    """The number of the entry that keeps an analyst's answer; None if it is nobody's or another's."""
    kept = records.find_commit(key)
    return kept[0] if kept is not None and json.loads(kept[1])["analyst"] == analyst else None
