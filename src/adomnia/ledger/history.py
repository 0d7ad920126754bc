"""What an analyst has paid for and got, page by page, each found by index however long the ledger is.

A page begins after a request id of the analyst's own: a number of an entry would tell how much others have asked.
"""

import sqlite3

from adomnia.errors import Refusal
from adomnia.ledger.requests import Receipt, decode_receipt, list_keys

__all__ = ["count_answers", "find_receipt", "list_answers", "list_latest", "list_unanswered"]

_USUAL = 1000  # receipts of a page
MOST_BYTES = 2**23  # of the entries of a page: each may keep a long question

_KEPT = "SELECT sequence FROM entries WHERE kind = 'commit' AND request_id = ? AND analyst = ?"
_DEBIT = "SELECT body FROM entries WHERE kind = 'reserve' AND request_id = ?"
_PAGE = """SELECT debits.body FROM entries AS kept
           JOIN entries AS debits ON debits.kind = 'reserve' AND debits.request_id = kept.request_id
           WHERE kept.kind = 'commit' AND kept.analyst = ? AND kept.sequence > ? ORDER BY kept.sequence LIMIT ?"""

_LATEST = """SELECT debits.body FROM entries AS kept
             JOIN entries AS debits ON debits.kind = 'reserve' AND debits.request_id = kept.request_id
             WHERE kept.kind = 'commit' AND kept.analyst = ? ORDER BY kept.sequence DESC LIMIT ?"""

# Debits are found by their request ids, which begin with the analyst's name; those of the first ledgers do not.
_UNANSWERED = """SELECT body FROM entries AS debits INDEXED BY debits
                 WHERE kind = 'reserve' AND request_id > ? AND request_id < ? AND NOT EXISTS (
                     SELECT 1 FROM entries AS kept WHERE kept.kind = 'commit' AND kept.request_id = debits.request_id
                 ) ORDER BY sequence DESC LIMIT ?"""


def list_answers(
    connection: sqlite3.Connection, analyst: str, after: str | None = None, limit: int = _USUAL
) -> list[Receipt]:
    """List receipts of answers of an analyst, oldest first, those after a request id; none only at the end."""
    if limit < 1:
        raise ValueError(f"Ledger answers limit must be >= 1, got {limit}.")
    start = 0 if after is None else _find_answer(connection, analyst, after)
    receipts: list[Receipt] = []
    size = 0
    for (body,) in connection.execute(_PAGE, (analyst, start, limit)):
        size += len(body)
        if receipts and size > MOST_BYTES:
            break
        receipts.append(decode_receipt(body))
    return receipts


def list_latest(connection: sqlite3.Connection, analyst: str, limit: int) -> list[Receipt]:
    """List receipts of the last answers of an analyst, newest first."""
    return [decode_receipt(body) for (body,) in connection.execute(_LATEST, (analyst, limit))]


def list_unanswered(connection: sqlite3.Connection, analyst: str, limit: int) -> list[Receipt]:
    """List receipts of what an analyst paid for and has no answer to, newest first: it failed, or is being measured."""
    first, *_ = list_keys(analyst, "")
    beyond = f"{first[:-1]}{chr(ord(first[-1]) + 1)}"
    return [decode_receipt(body) for (body,) in connection.execute(_UNANSWERED, (first, beyond, limit))]


def find_receipt(connection: sqlite3.Connection, analyst: str, request_id: str) -> Receipt | None:
    """Find the receipt of an analyst's answer by its request id, without the answer."""
    for key in list_keys(analyst, request_id) if request_id.isprintable() else ():
        if connection.execute(_KEPT, (key, analyst)).fetchone() is not None:
            row = connection.execute(_DEBIT, (key,)).fetchone()
            return None if row is None else decode_receipt(row[0])
    return None


def count_answers(connection: sqlite3.Connection, analyst: str) -> int:
    """Count the answers of an analyst."""
    query = "SELECT COUNT(*) FROM entries WHERE kind = 'commit' AND analyst = ?"
    return int(connection.execute(query, (analyst,)).fetchone()[0])


def _find_answer(connection: sqlite3.Connection, analyst: str, request_id: str) -> int:
    for key in list_keys(analyst, request_id) if request_id.isprintable() else ():
        row = connection.execute(_KEPT, (key, analyst)).fetchone()
        if row is not None:
            return int(row[0])
    fix = "take one that answers() lists, or none to begin with the oldest"
    raise Refusal(f"Request {request_id!r}", "has no answer of yours", fix, code="unknown_answer")
