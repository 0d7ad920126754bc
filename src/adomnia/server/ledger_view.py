"""The part of the ledger that owners and auditors may read: who paid how much, when, and the totals.

Answers and salts are left out: with them, whoever holds a receipt could confirm guesses about neighbouring entries.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.ledger import journal
from adomnia.ledger.accounts import decode_spent
from adomnia.ledger.chain import GENESIS, Head, damage_refusal, decode_entry, digest
from adomnia.ledger.requests import list_keys
from adomnia.ledger.schema import explain_error
from adomnia.ledger.sqlite import connect_read_only
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.events import from_record
from adomnia.privacy.filters import Spent
from adomnia.privacy.losses import loss
from adomnia.session.curator import LEDGER, STATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from adomnia.ledger.requests import Receipt

__all__ = [
    "Amounts",
    "LedgerEntry",
    "find_answer",
    "find_debit",
    "find_ledger",
    "open_snapshot",
    "read_chosen",
    "read_entries",
]

_BODY = "SELECT body FROM entries WHERE sequence = ?"
_NEXT = "SELECT json_extract(body, '$.previous') FROM entries WHERE sequence = ?"
_ANSWER = """SELECT kept.sequence FROM entries AS debit
             JOIN entries AS kept ON kept.kind = 'commit' AND kept.request_id = debit.request_id
             WHERE debit.sequence = ?"""


@dataclass(frozen=True)
class Amounts:
    """Exact amounts as texts; epsilon is None if something was spent that has none."""

    epsilon: str | None
    rho: str | None
    delta: str


@dataclass(frozen=True)
class LedgerEntry:
    """One entry: a debit with its cost and the totals afterwards, or a change of budgets with the new amounts."""

    sequence: int
    kind: str
    hash: str
    at: str | None = None
    analyst: str | None = None
    request_id: str | None = None
    cost: Amounts | None = None
    totals: dict[str, Amounts] = field(default_factory=dict)
    budgets: dict[str, Amounts | None] = field(default_factory=dict)
    reason: str | None = None

    def record(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def find_ledger(folder: Path) -> Path:
    """The path of the ledger of a folder; refuse if there is none yet, because nobody has asked a question."""
    path = (folder / STATE / LEDGER).resolve()
    if not path.is_file():
        raise Refusal(f"Folder {folder}", "has no ledger", "name a folder whose data was asked about before")
    return path


@contextmanager
def open_snapshot(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger for reading, as it is now; questions go on meanwhile."""
    try:
        with closing(connect_read_only(path)) as connection:
            yield connection
    except (sqlite3.Error, OSError) as error:
        raise explain_error(error) from error


def read_entries(connection: sqlite3.Connection, after: int = 0, limit: int | None = None) -> Iterator[LedgerEntry]:
    """Read the entries after a sequence number, oldest first; each is checked to follow from the one before."""
    for head, entry in islice(journal.read_entries(connection, _head(connection, after)), limit):
        yield _entry(head, entry)


def read_chosen(connection: sqlite3.Connection, sequences: Iterable[int]) -> Iterator[LedgerEntry]:
    """Read the entries of these numbers; each is checked to follow from the one before, and to lead to the next."""
    for sequence in sequences:
        (body,) = connection.execute(_BODY, (sequence,)).fetchone() or ("",)
        head, entry = decode_entry(_head(connection, sequence - 1), body)
        following = connection.execute(_NEXT, (sequence + 1,)).fetchone()
        if following is not None and following[0] != head.hash:
            raise damage_refusal(f"was changed: entry {sequence + 1} does not follow from the one before it")
        yield _entry(head, entry)


def find_answer(connection: sqlite3.Connection, debit: int) -> int | None:
    """The number of the entry that keeps the answer to a debit; None if there is none, yet or for ever."""
    row = connection.execute(_ANSWER, (debit,)).fetchone()
    return None if row is None else int(row[0])


def find_debit(connection: sqlite3.Connection, receipt: Receipt) -> LedgerEntry | None:
    """The entry that a receipt is of; None if there is no such entry."""
    query = "SELECT sequence, body FROM entries WHERE kind = 'reserve' AND request_id = ?"
    for key in list_keys(receipt.analyst, receipt.request_id):
        for sequence, body in connection.execute(query, (key,)):
            if digest(body.encode()) == receipt.hash:
                return _entry(Head(sequence, receipt.hash), json.loads(body))
    return None


def _head(connection: sqlite3.Connection, sequence: int) -> Head:
    """The head of the chain after so many entries; beyond its end nothing follows."""
    row = connection.execute("SELECT body FROM entries WHERE sequence = ?", (sequence,)).fetchone()
    if row is not None:
        return Head(sequence, digest(row[0].encode()))
    return GENESIS._replace(sequence=max(sequence, 0))


def _entry(head: Head, entry: Mapping[str, Any]) -> LedgerEntry:
    return LedgerEntry(
        sequence=head.sequence,
        kind=entry["kind"],
        hash=head.hash,
        at=entry.get("at"),
        analyst=entry.get("analyst"),
        request_id=entry["request_id"].rpartition("\n")[2] if "request_id" in entry else None,
        cost=_cost(entry["event"]) if "event" in entry else None,
        totals={account: _counted(decode_spent(total)) for account, total in entry.get("spent", {}).items()},
        budgets=_budgets(entry),
        reason=entry.get("reason"),
    )


def _cost(event: Mapping[str, Any]) -> Amounts:
    """The cost of an event in whole units, as accounts count it: an exact sum can have thousands of digits."""
    return _counted(Spent().plus(loss(from_record(event))))


def _counted(spent: Spent) -> Amounts:
    epsilon = str(spent.epsilon_units * EPSILON_UNIT) if spent.in_epsilon else None
    return Amounts(epsilon, str(spent.rho_units * EPSILON_UNIT), str(spent.delta_units * DELTA_UNIT))


def _budgets(entry: Mapping[str, Any]) -> dict[str, Amounts | None]:
    changed = {entry["account"]: entry} if entry["kind"] == "top-up" else entry.get("budgets", {})
    return {account: None if amounts is None else _budget(amounts) for account, amounts in changed.items()}


def _budget(amounts: Mapping[str, Any]) -> Amounts:
    return Amounts(str(Fraction(amounts["epsilon"])), None, str(Fraction(amounts["delta"])))
