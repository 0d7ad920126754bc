"""What a question costs: nothing if its answer was paid for, else both budgets, debited before any data is read."""

import json
import logging
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from adomnia.errors import Failure, Refusal
from adomnia.ledger.accounts import personal, spent_record
from adomnia.ledger.chain import digest
from adomnia.ledger.failpoints import reach
from adomnia.ledger.journal import Page
from adomnia.privacy.events import Event, from_record, to_record
from adomnia.privacy.filters import Filter, Left, Spent
from adomnia.privacy.losses import covers, loss

__all__ = ["Receipt", "Replay", "Request", "answer", "answered", "answers", "commit", "filter_of", "now", "reserve"]

_LONGEST = 200
_OWN = "dataset:"  # how the dataset's own request ids begin, and nobody else's
_OF = "\n"  # between an analyst and their request id in an entry: neither has one
_log = logging.getLogger("adomnia.ledger")


@dataclass(frozen=True)
class Request:
    """One question: who asks (None: the dataset itself), under which id, which plan, and the most it may cost.

    `asked` is the question as it was put, in ASCII, for whoever reads the ledger.
    """

    analyst: str | None
    request_id: str
    plan: bytes
    event: Event
    personal_only: bool = False
    asked: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.request_id, str):
            raise TypeError(f"Request request_id must be text, got {self.request_id!r}.")
        if not self.request_id.isprintable() or not 0 < len(self.request_id) <= _LONGEST:
            rule = f"is not 1 to {_LONGEST} printable characters"
            shown = f"Request id {self.request_id[:_LONGEST]!r}"
            raise Refusal(shown, rule, "send another request id", code="request_id")
        if self.request_id.startswith(_OWN) != (self.analyst is None):
            why = f"does not belong to {self.analyst or 'the dataset'}: its own begin with {_OWN}, and only they do"
            raise Refusal(f"Request id {self.request_id}", why, "send another request id", code="request_id")
        if not isinstance(self.asked, str) or not self.asked.isascii():
            raise ValueError(f"Request asked must be ASCII text, got {self.asked!r}.")
        if not isinstance(self.plan, bytes) or not 0 < len(self.plan) <= _LONGEST:
            raise ValueError(f"Request plan must be 1 to {_LONGEST} bytes, got {self.plan!r}.")
        # What is not an event, or cannot be written, must fail its own caller and not the group it is written with.
        loss(self.event)
        to_record(self.event)


@dataclass(frozen=True)
class Receipt:
    """Proof of a debit: who (None: the dataset alone) paid how much for what, and the hash of the entry that says so.

    That entry was made before data was read: one made afterwards would tell how long the question ran.
    """

    analyst: str | None
    request_id: str
    plan: bytes
    event: Event
    hash: str
    asked: str = ""
    key: str = field(default="", compare=False, repr=False)  # what entries call the request


@dataclass(frozen=True)
class Replay:
    """An answer that was committed before, and the receipt of the debit that paid for it."""

    payload: bytes
    receipt: Receipt


def now() -> str:
    """For the reader of an entry; nothing is ever decided by the clock."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def filter_of(page: Page, analyst: str | None) -> Filter:
    """The filter of an analyst, or of the dataset (None)."""
    account = page.accounts.get(personal(analyst))
    allowed = None if account is None else account.filter
    if allowed is None:
        fix = "have the owner add them under [analysts]"
        raise Refusal(f"Analyst {analyst}", "is not in the catalog", fix, code="unknown_analyst")
    return allowed


def reserve(page: Page, request: Request) -> Receipt | Replay:
    """The answer, if it was paid for; else the receipt of a debit, with which the question may run once."""
    filter_of(page, request.analyst)
    earlier = _paid(page, request) or _earlier(page, request)
    if earlier is not None and earlier.analyst == request.analyst:
        return Replay(_payload(page, earlier, request), earlier)
    if earlier is not None and covers(request.event, earlier.event):
        return _shared(page, request, earlier)
    if request.personal_only:
        why = "has no answer yet that could be shared, so the personal budget alone does not pay for it"
        raise Refusal("This question", why, "ask it without personal_only")
    return _debited(page, request, request.event, analysts=dict.fromkeys((request.analyst, None)))


def commit(page: Page, receipt: Receipt, payload: bytes) -> Left:
    """Keep the answer to a question that was paid for; what its payer has left."""
    name = digest(payload)
    page.connection.execute("INSERT OR IGNORE INTO payloads VALUES (?, ?)", (name, payload))
    # No time of day: together with the debit's it would tell how long the question ran.
    page.append("commit", analyst=receipt.analyst, request_id=receipt.key, plan=receipt.plan.hex(), payload=name)
    reach("answer-written")
    return page.accounts[personal(receipt.analyst)].left()


def answers(connection: sqlite3.Connection, analyst: str) -> list[Receipt]:
    """Everything an analyst has paid for and got, oldest first."""
    query = """SELECT debits.body FROM entries AS kept
               JOIN entries AS debits ON debits.kind = 'reserve' AND debits.request_id = kept.request_id
               WHERE kept.kind = 'commit' AND kept.analyst = ? ORDER BY kept.sequence"""
    return [_read(body) for (body,) in connection.execute(query, (analyst,))]


def answer(page: Page, request: Request) -> Replay | None:
    """What an analyst got under a request id, for whatever plan; a Failure where that was paid for and failed."""
    filter_of(page, request.analyst)
    paid = _own(page, request)
    return None if paid is None else Replay(_payload(page, paid, paid), paid)


def answered(page: Page, request: Request) -> Replay | None:
    """What an analyst got under this request id, or for this plan under another; whatever it is to cost now."""
    earlier = _paid(page, request) or _earlier(page, request)
    if earlier is None or earlier.analyst != request.analyst:
        return None
    return Replay(_payload(page, earlier, request), earlier)


def _shared(page: Page, request: Request, earlier: Receipt) -> Replay:
    """Another analyst's answer: the dataset paid for it once, so only the personal budget does now."""
    payload = _payload(page, earlier, request)
    receipt = _debited(page, request, earlier.event, analysts=(request.analyst,), shares=earlier.key)
    commit(page, receipt, payload)
    return Replay(payload, receipt)


def _debited(
    page: Page,
    request: Request,
    event: Event,
    analysts: Iterable[str | None],
    **source: str,
) -> Receipt:
    spent = {analyst: _charged(page, analyst, event) for analyst in analysts}
    head = page.append(
        "reserve",
        at=now(),
        analyst=request.analyst,
        request_id=_key(request),
        plan=request.plan.hex(),
        asked=request.asked,
        event=to_record(event),
        spent={personal(name): spent_record(total) for name, total in spent.items()},
        **source,
    )
    reach("reserve-written")
    return Receipt(request.analyst, request.request_id, request.plan, event, head.hash, request.asked, _key(request))


def _charged(page: Page, analyst: str | None, event: Event) -> Spent:
    try:
        return filter_of(page, analyst).after(event).spent
    except Refusal as refusal:
        owner = "the dataset's budget" if analyst is None else f"the budget of {analyst}"
        raise Refusal(f"{refusal.what} from {owner}", refusal.why, refusal.fix, code=refusal.code) from refusal


def _key(request: Request) -> str:
    """What entries call a request: its analyst and their id, so that nobody can take an id that is somebody else's."""
    return request.request_id if request.analyst is None else f"{request.analyst}{_OF}{request.request_id}"


def _receipt(page: Page, key: str) -> Receipt | None:
    query = "SELECT body FROM entries WHERE kind = 'reserve' AND request_id = ?"
    row = page.connection.execute(query, (key,)).fetchone()
    return None if row is None else _read(row[0])


def _read(body: str) -> Receipt:
    entry: dict[str, Any] = json.loads(body)
    event, key = from_record(entry["event"]), entry["request_id"]
    told = digest(body.encode()), entry.get("asked", ""), key
    return Receipt(entry["analyst"], key.rpartition(_OF)[2], bytes.fromhex(entry["plan"]), event, *told)


def _own(page: Page, request: Request) -> Receipt | None:
    """What an analyst paid for under a request id, also where entries have ids alone, as the first ledgers did."""
    found = (_receipt(page, key) for key in (_key(request), request.request_id))
    return next((paid for paid in found if paid is not None and paid.analyst == request.analyst), None)


def _paid(page: Page, request: Request) -> Receipt | None:
    """What was paid for under this request id."""
    paid = _own(page, request)
    if paid is not None and paid.plan != request.plan:
        asked, fix = f"Request id {request.request_id}", "send a new one; what this one got, answer() gives"
        raise Refusal(asked, "was used for another question", fix, code="request_id_used")
    return paid


def _earlier(page: Page, request: Request) -> Receipt | None:
    """Who has an answer to this plan: the analyst, or else whoever had the first."""
    query = """SELECT request_id FROM entries WHERE kind = 'commit' AND plan = ?
               ORDER BY analyst IS ? DESC, sequence LIMIT 1"""
    row = page.connection.execute(query, (request.plan.hex(), request.analyst)).fetchone()
    return None if row is None else _receipt(page, row[0])


def _payload(page: Page, paid: Receipt, asked: Request | Receipt) -> bytes:
    """The committed answer. A debit without one fails for ever: whether and why it failed may depend on data."""
    query = """SELECT json_extract(body, '$.payload'), payload FROM entries
               LEFT JOIN payloads ON digest = json_extract(body, '$.payload')
               WHERE kind = 'commit' AND request_id = ?"""
    row = page.connection.execute(query, (paid.key,)).fetchone()
    if row is None:
        raise Failure(asked.request_id)
    name, payload = row
    if not isinstance(payload, bytes) or digest(payload) != name:
        _log.error("The stored answer to request %s is missing or was changed; restore a backup.", paid.request_id)
        raise Failure(asked.request_id)
    return payload
