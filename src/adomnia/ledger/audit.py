"""The audit: checks every link, every admission and every total again, from the entries alone."""

import json
import os
import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from adomnia.errors import Refusal
from adomnia.ledger.accounts import DATASET, Account, Accounts, account_name, apply_entry, decode_spent, encode_spent
from adomnia.ledger.chain import GENESIS, Anchor, Head, damage_refusal, digest
from adomnia.ledger.journal import check_anchor, is_on_chain, read_entries
from adomnia.ledger.records import Records
from adomnia.ledger.sqlite_records import SqliteRecords
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.events import Event, from_record
from adomnia.privacy.filters import Filter, Spent
from adomnia.privacy.losses import Loss, loss

_LOST = "it was set back since, or is another branch"


def examine(records: Records, anchor: Head) -> Head:
    """Check the whole chain and that it goes through the anchor; gives its head, or refuses."""
    records.check()
    head, audit = GENESIS, _Audit(records)
    for head, entry in read_entries(records, GENESIS):  # noqa: B007 - the last head is the result
        audit.check(entry)
    check_anchor(records, head, anchor)
    audit.check_answers()
    return head


def check_witnesses(records: Records, heads: Collection[Head], receipts: Collection[str]) -> None:
    """Refuse a ledger that does not know a head or a receipt which it gave out: what it was then is lost or forked."""
    for head in heads:
        if not is_on_chain(records, head):
            raise damage_refusal(f"does not go through the head {head}: {_LOST}")
    missing = set(receipts)
    for head, entry in read_entries(records, GENESIS) if missing else ():
        if entry["kind"] == "reserve":
            missing.discard(head.hash)
    if missing:
        raise damage_refusal(
            f"has no debit with the receipt {min(missing)}: it was set back since, or is another branch"
        )


def list_restorations(records: Records) -> list[tuple[int, str]]:
    """List when backups were put in the ledger's place: the numbers of the entries that say so, and their times."""
    return [(entry["sequence"], entry["at"]) for entry in map(json.loads, records.list_restorations())]


def backup(records: Records, target: Path) -> Head:
    """Copy a ledger as it is at this moment, examine the copy, and only then give it an anchor and its name."""
    anchor, draft = Anchor(target), target.with_name(f"{target.name}.new")
    if target.exists() or anchor.exists():
        raise Refusal(f"Backup {target.name}", "exists already", "name a file that does not exist yet")
    try:
        records.save(draft)
        with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
            head = examine(SqliteRecords(copy), GENESIS)
        anchor.create(head)
        os.link(draft, target)  # unlike a rename it never replaces a file
    except BaseException:
        anchor.remove()
        raise
    finally:
        draft.unlink(missing_ok=True)
    return head


class _Audit:
    """What the entries so far add up to: accounts, and by request id the number of its debit and its answer's hash."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._accounts: Accounts = {}
        self._debits: dict[str, int] = {}
        self._answers: dict[str, str] = {}

    def check(self, entry: Mapping[str, Any]) -> None:
        try:
            adds_up = self._adds_up(entry)
        except (KeyError, TypeError, ValueError, AttributeError, Refusal):
            adds_up = False
        if not adds_up:
            raise damage_refusal(f"has an entry {entry['sequence']} that does not add up")
        apply_entry(self._accounts, entry)

    def check_answers(self) -> None:
        """Refuse answers that no entry names: they were given out in a branch whose entries are lost."""
        if self._records.count_payloads() > len(set(self._answers.values())):
            raise damage_refusal("has stored answers whose entries are lost")

    def _adds_up(self, entry: Mapping[str, Any]) -> bool:
        match entry["kind"]:
            case "reserve":
                return self._debit_adds_up(entry)
            case "commit":
                return self._answer_adds_up(entry)
            case "top-up":
                return Fraction(entry["epsilon"]) >= 0 and Fraction(entry["delta"]) >= 0
            case "counted":
                totals = {name: self._accounts[name].spent for name in (entry["account"], DATASET)}
                cost = loss(from_record(entry["event"]))
                grown = {name: encode_spent(total.plus(cost)) for name, total in totals.items()}
                return bool(grown == entry["spent"])
            case "restored":
                named = entry["gap"].keys() == entry["spent"].keys() == self._accounts.keys()
                return named and all(_gap_adds_up(entry, name, account) for name, account in self._accounts.items())
        return True

    def _debit_adds_up(self, entry: Mapping[str, Any]) -> bool:
        event, own = from_record(entry["event"]), account_name(entry["analyst"])
        payers = {own} if self._is_shared(entry) else {DATASET, own}
        filters = {name: self._accounts[name].filter for name in payers}
        add = _add_as_before if _is_old(entry) else _add
        totals = {name: add(may, event) for name, may in filters.items() if may is not None}
        first, whose = entry["request_id"] not in self._debits, entry["request_id"].rpartition("\n")[0]
        self._debits[entry["request_id"]] = entry["sequence"]
        named = whose in ("", entry["analyst"])  # the first ledgers had request ids without names
        return first and named and len(totals) == len(payers) and totals == entry["spent"]

    def _is_shared(self, entry: Mapping[str, Any]) -> bool:
        """Whether the dataset does not pay: only for an earlier answer to the same plan at the same cost."""
        if "shares" not in entry:
            return False
        source = self._read_debit(entry["shares"])
        return entry["shares"] in self._answers and all(source[part] == entry[part] for part in ("plan", "event"))

    def _answer_adds_up(self, entry: Mapping[str, Any]) -> bool:
        debit, name = self._read_debit(entry["request_id"]), entry["payload"]
        first = entry["request_id"] not in self._answers
        self._answers[entry["request_id"]] = name
        same = "shares" not in debit or self._answers[debit["shares"]] == name
        payload = self._records.find_payload(name)
        kept = payload is not None and digest(payload) == name
        return first and same and kept and all(debit[part] == entry[part] for part in ("analyst", "plan"))

    def _read_debit(self, key: str) -> dict[str, Any]:
        """Read an entry again that was checked before: a million of them would not fit into memory."""
        entry: dict[str, Any] = json.loads(self._records.find_body(self._debits[key]) or "")
        return entry


def _gap_adds_up(entry: Mapping[str, Any], name: str, account: Account) -> bool:
    """Whether a restored account has what the owner said it may have spent; all of it, where they said nothing."""
    before, after, gap = account.spent, decode_spent(entry["spent"][name]), entry["gap"][name]
    if gap == "all":
        units = "epsilon_units", "rho_units", "delta_units"
        grown = all(getattr(after, unit) >= getattr(before, unit) for unit in units)
        nothing_left = not any(replace(account, spent=after).left())
        return grown and nothing_left and (account.filter is None or _covers_gap(account.filter, after))
    return after == (before if gap is None else before.plus(loss(from_record(gap))))


def _covers_gap(account: Filter, after: Spent) -> bool:
    """Whether a total suits whichever branch of the filter admitted the gap: each may exceed the other's sum."""
    budget, before = account.budget, account.spent
    by_rho = not (budget.rho and after.in_epsilon)
    by_epsilon = not before.in_epsilon or after.rho_units * EPSILON_UNIT >= budget.epsilon**2 / 2
    return by_rho and by_epsilon


def _is_old(entry: Mapping[str, Any]) -> bool:
    """Whether a debit is of a version that counted the epsilons of pure events only."""
    return all("in_epsilon" not in total for total in entry["spent"].values())


def _add(account: Filter, event: Event) -> dict[str, Any]:
    """The new total of an account that pays for an event; a Refusal if it may not."""
    return encode_spent(account.after(event).spent)


def _add_as_before(account: Filter, event: Event) -> dict[str, Any]:
    """The same as those versions did it: what had a delta had no epsilon, and ended the sum of epsilons."""
    cost, spent = loss(event), account.spent
    known = replace(account, spent=replace(spent, in_epsilon=spent.pure))
    total = encode_spent(known.after_loss(Loss(cost.epsilon if cost.pure else None, cost.rho, cost.delta)).spent)
    return {name: total[name] for name in ("epsilon", "rho", "delta", "pure")}
