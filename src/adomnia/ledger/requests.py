"""Requests to spend: free if the answer was paid for before, else both budgets are debited before any data is read."""

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable
from adomnia.ledger.accounts import DATASET, account_name, encode_spent
from adomnia.ledger.chain import damage_refusal, digest
from adomnia.ledger.failpoints import failpoint
from adomnia.ledger.journal import Lifetime, Transaction
from adomnia.ledger.records import Storage, Wanted, charge
from adomnia.privacy.events import Event, from_record, to_record
from adomnia.privacy.filters import Filter, Left, Spent
from adomnia.privacy.losses import Loss, covers, loss

_MAX_LENGTH = 200
_DATASET_PREFIX = "dataset:"  # of the dataset's own request ids, and of nobody else's
_SEPARATOR = "\n"  # between an analyst and their request id in an entry: neither can hold one
_log = logging.getLogger("adomnia.ledger")


@dataclass(frozen=True)
class SpendRequest:
    """A question to be paid for: who asks (None: the dataset itself), its id, its plan, and the most it may cost.

    `asked` is the text of the question, in ASCII, for readers of the ledger. `storage` is what it may fill of it.
    `source` is the key of a debit whose answer alone is wanted, at the expense of the personal budget alone. `seen` is
    the number of the entry with the analyst's newest answer that was looked at; with a newer one nothing is paid. With
    `check_first` nothing is paid for the answer of another analyst: whoever asks decides, and pays for it as `source`.
    """

    analyst: str | None
    request_id: str
    plan: bytes
    event: Event
    personal_only: bool = False
    asked: str = ""
    storage: Storage | None = None
    source: str = ""
    seen: int | None = None
    check_first: bool = False

    @property
    def wanted(self) -> Wanted:
        """What is looked up to decide about it."""
        return Wanted(self.analyst, list_keys(self.analyst, self.request_id), self.plan.hex())

    def __post_init__(self) -> None:
        if not isinstance(self.request_id, str):
            raise TypeError(f"SpendRequest request_id must be text, got {self.request_id!r}.")
        if not self.request_id.isprintable() or not 0 < len(self.request_id) <= _MAX_LENGTH:
            why = f"is not 1 to {_MAX_LENGTH} printable characters"
            what = f"Request id {self.request_id[:_MAX_LENGTH]!r}"
            raise Refusal(what, why, "send another request id", code="request_id")
        if self.request_id.startswith(_DATASET_PREFIX) != (self.analyst is None):
            who = self.analyst or "the dataset"
            why = f"does not belong to {who}: its own begin with {_DATASET_PREFIX}, and only they do"
            raise Refusal(f"Request id {self.request_id}", why, "send another request id", code="request_id")
        if not isinstance(self.asked, str) or not self.asked.isascii():
            raise ValueError(f"SpendRequest asked must be ASCII text, got {self.asked!r}.")
        if not isinstance(self.plan, bytes) or not 0 < len(self.plan) <= _MAX_LENGTH:
            raise ValueError(f"SpendRequest plan must be 1 to {_MAX_LENGTH} bytes, got {self.plan!r}.")
        # What is no event, or cannot be written, must fail here, and not the whole group it would be written with.
        loss(self.event)
        to_record(self.event)


@dataclass(frozen=True)
class Receipt:
    """Proof of a debit: who (None: the dataset alone) paid how much for what, and the hash of the debit's entry.

    That entry was written before data was read: one written afterwards would tell how long the question ran.
    """

    analyst: str | None
    request_id: str
    plan: bytes
    event: Event
    hash: str
    asked: str = ""
    key: str = field(default="", compare=False, repr=False)  # what entries call the request
    at: str = field(default="", compare=False, repr=False)  # when the debit was written, where the ledger tells
    shared: bool = field(default=False, compare=False, repr=False)  # whether it paid for another analyst's answer


class NewerAnswer(AdomniaError):
    """The analyst has got an answer since those that were looked at: nothing was paid."""


@dataclass(frozen=True)
class KeptAnswer:
    """What its payer has left after an answer, the number of its entry, and of the one with their answer before it.

    0: this process has read of no answer before it.
    """

    left: Left
    number: int
    before: int


@dataclass(frozen=True)
class StoredAnswer:
    """An answer that was committed earlier, the receipt of the debit that paid for it, and what its payer has left."""

    payload: bytes
    receipt: Receipt
    left: Left | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class UnpaidAnswer:
    """Another analyst's answer that would be shared, and the receipt of their debit: nothing was paid for it yet.

    Until it is, only what does not depend on its numbers may be used of `payload`, and none of it may be shown. It is
    no exception: their tracebacks would hold on to the payload until the next collection, free and beyond every count.
    """

    payload: bytes = field(repr=False)
    receipt: Receipt


def now() -> str:
    """The time for an entry, for its readers only: nothing is ever decided by the clock."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def find_filter(transaction: Transaction, analyst: str | None) -> Filter:
    """Find the filter of an analyst, or of the dataset (None), or refuse."""
    account = transaction.accounts.get(account_name(analyst))
    allowed = None if account is None else account.filter
    if allowed is None:
        fix = "have the owner add them under [analysts]"
        raise Refusal(f"Analyst {analyst}", "is not in the catalog", fix, code="unknown_analyst")
    return allowed


def reserve(transaction: Transaction, request: SpendRequest) -> Receipt | StoredAnswer | UnpaidAnswer:
    """Find the answer if it was paid for; else debit, and give the receipt with which the question may run once."""
    find_filter(transaction, request.analyst)
    if request.seen is not None and transaction.answered.get(request.analyst, 0) > request.seen:
        raise NewerAnswer
    earlier = _find_paid(transaction, request) or _find_earlier(transaction, request)
    if earlier is not None and earlier.analyst == request.analyst:
        return _read_answer(transaction, earlier, request)
    if request.source:
        earlier = _find_source(transaction, request)
    if earlier is not None and covers(request.event, earlier.event):
        return _share(transaction, request, earlier)
    if request.personal_only or request.source:
        why = "has no answer yet that could be shared, so the personal budget alone does not pay for it"
        raise Refusal("This question", why, "ask it as a new question", code="not_shared")
    return _debit(transaction, request, request.event, analysts=dict.fromkeys((request.analyst, None)))


def commit(transaction: Transaction, receipt: Receipt, payload: bytes) -> KeptAnswer:
    """Store the answer to a question that was paid for."""
    name, before = digest(payload), transaction.answered.get(receipt.analyst, 0)
    transaction.records.add_payload(name, payload)
    # No time of day: together with the debit's it would tell how long the question ran.
    transaction.append("commit", analyst=receipt.analyst, request_id=receipt.key, plan=receipt.plan.hex(), payload=name)
    failpoint("answer-written")
    left = transaction.accounts[account_name(receipt.analyst)].left()
    return KeptAnswer(left, transaction.head.sequence, before)


def find_answer_by_id(transaction: Transaction, request: SpendRequest) -> StoredAnswer | None:
    """Find the answer that an analyst got under a request id; a Failure if it was paid for and has no answer."""
    find_filter(transaction, request.analyst)
    paid = _find_own(transaction, request)
    return None if paid is None else _read_answer(transaction, paid, paid)


def find_answer(transaction: Transaction, request: SpendRequest) -> StoredAnswer | None:
    """Find the answer that an analyst got under this request id, or for this plan under another, at any price."""
    earlier = _find_paid(transaction, request) or _find_earlier(transaction, request)
    if earlier is None or earlier.analyst != request.analyst:
        return None
    return _read_answer(transaction, earlier, request)


def _share(transaction: Transaction, request: SpendRequest, earlier: Receipt) -> StoredAnswer | UnpaidAnswer:
    """Give another analyst's answer: the dataset has paid for it already, so only the personal budget pays now."""
    payload = _read_payload(transaction, earlier, request)
    if request.check_first:
        return UnpaidAnswer(payload, earlier)
    receipt = _debit(transaction, request, earlier.event, analysts=(request.analyst,), shares=earlier.key)
    return StoredAnswer(payload, receipt, commit(transaction, receipt, payload).left)


def _debit(
    transaction: Transaction,
    request: SpendRequest,
    event: Event,
    analysts: Iterable[str | None],
    **source: str,
) -> Receipt:
    _check_lifetime(transaction)
    cost = loss(event)
    spent, at = {analyst: _charge(transaction, analyst, cost) for analyst in analysts}, now()
    lifetime = transaction.lifetime if None in spent else None
    shared = {} if lifetime is None else _charge_lifetime(lifetime, event)
    if request.storage is not None and request.analyst is not None:
        charge(transaction.records, request.analyst, request.storage)
    head = transaction.append(
        "reserve",
        at=at,
        analyst=request.analyst,
        request_id=_key(request),
        plan=request.plan.hex(),
        asked=request.asked,
        event=to_record(event),
        spent={account_name(name): encode_spent(total) for name, total in spent.items()},
        **source,
    )
    if lifetime is not None:
        key = f"{lifetime.dataset}{_SEPARATOR}{head.hash}"  # a salted hash: other owners may read it
        own = {"analyst": lifetime.dataset, "request_id": key, "plan": "", "event": to_record(event), "spent": shared}
        lifetime.chain.append("reserve", at=at, asked="", **own)
    failpoint("reserve-written")
    rest = head.hash, request.asked, _key(request), at, bool(source)
    return Receipt(request.analyst, request.request_id, request.plan, event, *rest)


def _charge(transaction: Transaction, analyst: str | None, cost: Loss) -> Spent:
    """What an account has spent once it has paid for an event; a Refusal if its filter does not admit that."""
    try:
        return find_filter(transaction, analyst).after_loss(cost).spent
    except Refusal as refusal:
        owner = "the dataset's budget" if analyst is None else f"the budget of {analyst}"
        raise Refusal(f"{refusal.what} from {owner}", refusal.why, refusal.fix, code=refusal.code) from refusal


def _check_lifetime(transaction: Transaction) -> None:
    """Refuse to pay where a newer catalog, of another host or process, names another account to pay from as well."""
    known = None if transaction.lifetime is None else transaction.lifetime.name
    if transaction.accounts[DATASET].lifetime != known:
        why = "is paid from another lifetime account by now than this process knows of"
        raise Unavailable("The ledger", why, "copy the newest catalog.toml to this host, and start it again")


def _charge_lifetime(lifetime: Lifetime, event: Event) -> dict[str, Any]:
    """The new totals of the account that several datasets share: that of all people, and this dataset's part of it."""
    try:
        payers = {name: find_filter(lifetime.chain, name).after(event).spent for name in (lifetime.dataset, None)}
    except Refusal as refusal:
        what = f"{refusal.what} from the lifetime budget that {lifetime.dataset} shares with other datasets"
        raise Refusal(what, refusal.why, refusal.fix, code=refusal.code) from refusal
    return {account_name(name): encode_spent(total) for name, total in payers.items()}


def _key(request: SpendRequest) -> str:
    """The name of a request in entries: analyst and request id, so that nobody can use up another analyst's id."""
    return list_keys(request.analyst, request.request_id)[0]


def list_keys(analyst: str | None, request_id: str) -> tuple[str, ...]:
    """The names that a request may have in entries: the first ledgers had ids without the analyst's name."""
    return (request_id,) if analyst is None else (f"{analyst}{_SEPARATOR}{request_id}", request_id)


def _find_receipt(transaction: Transaction, key: str) -> Receipt | None:
    row = transaction.records.find_debit(key)
    return None if row is None else decode_receipt(_check_link(transaction, *row))


def _check_link(transaction: Transaction, sequence: int, body: str) -> str:
    """Refuse an entry that the next one does not follow: opening reads only those since the newest checkpoint."""
    newest = sequence == transaction.head.sequence
    if digest(body.encode()) != (transaction.head.hash if newest else transaction.records.find_previous(sequence + 1)):
        raise damage_refusal(f"was changed: entry {sequence + 1} does not follow from the one before it")
    return body


def decode_receipt(body: str) -> Receipt:
    """Read the receipt of a debit from the text of its entry."""
    entry: dict[str, Any] = json.loads(body)
    event, key = from_record(entry["event"]), entry["request_id"]
    rest = digest(body.encode()), entry.get("asked", ""), key, entry.get("at", ""), "shares" in entry
    return Receipt(entry["analyst"], key.rpartition(_SEPARATOR)[2], bytes.fromhex(entry["plan"]), event, *rest)


def _find_own(transaction: Transaction, request: SpendRequest) -> Receipt | None:
    """Find what an analyst paid for under a request id."""
    found = (_find_receipt(transaction, key) for key in list_keys(request.analyst, request.request_id))
    return next((paid for paid in found if paid is not None and paid.analyst == request.analyst), None)


def _find_paid(transaction: Transaction, request: SpendRequest) -> Receipt | None:
    """Find what was paid for under this request id; refuses an id that was used for another plan."""
    paid = _find_own(transaction, request)
    if paid is not None and paid.plan != request.plan:
        what, fix = f"Request id {request.request_id}", "send a new one; what this one got, answer() gives"
        raise Refusal(what, "was used for another question", fix, code="request_id_used")
    return paid


def _find_earlier(transaction: Transaction, request: SpendRequest) -> Receipt | None:
    """Find the receipt of an answer to this plan: the analyst's own, or else the first of anybody."""
    key = transaction.records.find_answered(request.plan.hex(), request.analyst)
    return None if key is None else _find_receipt(transaction, key)


def _find_source(transaction: Transaction, request: SpendRequest) -> Receipt | None:
    """Find the debit whose answer is wanted, if it paid for this plan and has one.

    Where policies set prices, one plan can have several answers: whoever pays less than the first cost gets another.
    """
    kept = transaction.records.find_commit(request.source)
    same = kept is not None and json.loads(kept[1])["plan"] == request.plan.hex()
    return _find_receipt(transaction, request.source) if same else None


def _read_answer(transaction: Transaction, paid: Receipt, asked: SpendRequest | Receipt) -> StoredAnswer:
    """Read an answer, and what its payer has left: one transaction is enough for whoever shows both."""
    payload = _read_payload(transaction, paid, asked)
    return StoredAnswer(payload, paid, transaction.accounts[account_name(paid.analyst)].left())


def _read_payload(transaction: Transaction, paid: Receipt, asked: SpendRequest | Receipt) -> bytes:
    """Read the committed answer. A debit without one fails for ever: whether and why it failed may depend on data."""
    row = transaction.records.find_commit(paid.key)
    if row is None:
        raise Failure(asked.request_id)
    name = json.loads(_check_link(transaction, *row))["payload"]
    payload = transaction.records.find_payload(name)
    if not isinstance(payload, bytes) or digest(payload) != name:
        _log.error("The stored answer to request %s is missing or was changed; restore a backup.", paid.request_id)
        raise Failure(asked.request_id)
    return payload
