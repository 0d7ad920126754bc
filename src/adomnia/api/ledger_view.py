"""The part of the ledger that owners and auditors may read: who paid how much, when, and the totals.

Answers and salts are left out: with them, whoever holds a receipt could confirm guesses about neighbouring entries.
"""

from __future__ import annotations

import csv
import json
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any

from adomnia.api.ledger_stamps import LedgerStamp, remember_verified
from adomnia.errors import Refusal
from adomnia.ledger import journal
from adomnia.ledger.accounts import DATASET, decode_spent
from adomnia.ledger.chain import GENESIS, Head, damage_refusal, decode_entry, digest
from adomnia.ledger.ledger_places import find_lasting_place
from adomnia.ledger.requests import list_keys, now
from adomnia.ledger.schema import explain_errors
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.events import from_record
from adomnia.privacy.filters import Spent
from adomnia.privacy.losses import loss
from adomnia.spreadsheets import defuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from adomnia.api.requests import Visit
    from adomnia.ledger.ledger_places import LastingPlace
    from adomnia.ledger.records import Records
    from adomnia.ledger.requests import Receipt

_HEADINGS = (
    *("sequence", "kind", "hash", "at", "analyst", "request_id"),
    *("cost_epsilon", "cost_rho", "cost_delta"),
    *("analyst_total_epsilon", "analyst_total_rho", "analyst_total_delta"),
    *("dataset_total_epsilon", "dataset_total_rho", "dataset_total_delta"),
    *("budgets", "reason"),
)


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


@contextmanager
def open_snapshot(named: Path | LastingPlace) -> Iterator[Records]:
    """Open a ledger for reading, as it is now; questions go on meanwhile."""
    with explain_errors(), closing(find_lasting_place(named).open_reader()) as reader, reader.snapshot() as records:
        yield records


def read_entries(records: Records, after: int = 0, limit: int | None = None) -> Iterator[LedgerEntry]:
    """Read the entries after a sequence number, oldest first; each is checked to follow from the one before."""
    for head, entry in islice(journal.read_entries(records, _head(records, after)), limit):
        yield _entry(head, entry)


def read_chosen(records: Records, sequences: Iterable[int]) -> Iterator[LedgerEntry]:
    """Read the entries of these numbers; each is checked to follow from the one before, and to lead to the next."""
    for sequence in sequences:
        head, entry = decode_entry(_head(records, sequence - 1), records.find_body(sequence) or "")
        if records.find_previous(sequence + 1) not in (None, head.hash):
            raise damage_refusal(f"was changed: entry {sequence + 1} does not follow from the one before it")
        yield _entry(head, entry)


def find_answer(records: Records, debit: int) -> int | None:
    """The number of the entry that keeps the answer to a debit; None if there is none, yet or for ever."""
    key = json.loads(records.find_body(debit) or "{}").get("request_id", "")
    kept = records.find_commit(key)
    return None if kept is None else kept[0]


def find_debit(records: Records, receipt: Receipt) -> LedgerEntry | None:
    """The entry that a receipt is of; None if there is no such entry."""
    for key in list_keys(receipt.analyst, receipt.request_id):
        sequence, body = records.find_debit(key) or (0, "")
        if digest(body.encode()) == receipt.hash:
            return _entry(Head(sequence, receipt.hash), json.loads(body))
    return None


def _head(records: Records, sequence: int) -> Head:
    """The head of the chain after so many entries; beyond its end nothing follows."""
    body = records.find_body(sequence)
    if body is not None:
        return Head(sequence, digest(body.encode()))
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


def verify_ledger(visit: Visit) -> LedgerStamp:
    """Verify the whole ledger now, and remember what was found."""
    at = now()
    try:
        head = remember_verified(visit.catalog.folder, visit.curator.ledger.verify)
    except Refusal as refusal:
        return LedgerStamp(at, problem=str(refusal))
    return LedgerStamp(at, head.sequence, head.hash)


def write_csv(entries: Iterable[LedgerEntry]) -> Iterator[str]:
    """Write the headings and one line for each entry."""
    page = StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(_HEADINGS)
    for entry in entries:
        writer.writerow(_list_cells(entry))
        yield page.getvalue()
        page.seek(0)
        page.truncate()
    yield page.getvalue()


def _list_cells(entry: LedgerEntry) -> list[object]:
    whole = entry.totals.get(DATASET)
    own = next((total for account, total in entry.totals.items() if account != DATASET), None)
    budgets = json.dumps(entry.record()["budgets"], ensure_ascii=False) if entry.budgets else None
    return [
        *(entry.sequence, entry.kind, entry.hash, entry.at, _escape(entry.analyst), _escape(entry.request_id)),
        *(part for amounts in (entry.cost, own, whole) for part in _list_parts(amounts)),
        *(budgets, _escape(entry.reason)),
    ]


def _list_parts(amounts: Amounts | None) -> tuple[str | None, ...]:
    return (None, None, None) if amounts is None else (amounts.epsilon, amounts.rho, amounts.delta)


def _escape(text: str | None) -> str | None:
    """Analysts choose request ids: none of them becomes a formula in the owner's spreadsheet."""
    return None if text is None else defuse(text)
