"""The audit: checks every link, every admission and every total again, from the entries alone."""

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from adomnia.errors import Refusal
from adomnia.ledger.accounts import DATASET, Accounts, account_name, apply_entry, encode_spent
from adomnia.ledger.chain import GENESIS, Anchor, Head, damage_refusal, digest
from adomnia.ledger.journal import check_anchor, read_entries
from adomnia.privacy.events import Event, from_record
from adomnia.privacy.filters import Filter
from adomnia.privacy.losses import Loss, loss

__all__ = ["backup", "examine"]


def examine(connection: sqlite3.Connection, anchor: Head) -> Head:
    """Check the whole chain and that it goes through the anchor; gives its head, or refuses."""
    if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        raise damage_refusal("is damaged")
    head, audit = GENESIS, _Audit(connection)
    for head, entry in read_entries(connection, GENESIS):  # noqa: B007 - the last head is the result
        audit.check(entry)
    check_anchor(connection, head, anchor)
    return head


def backup(connection: sqlite3.Connection, target: Path) -> Head:
    """Copy a ledger as it is at this moment, examine the copy, and only then give it an anchor of its own."""
    anchor = Anchor(target)
    if target.exists() or anchor.path.exists():
        raise Refusal(f"Backup {target.name}", "exists already", "name a file that does not exist yet")
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(connection.serialize())
        file.flush()
        os.fsync(file.fileno())
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        head = examine(copy, GENESIS)
    anchor.create(head)
    return head


class _Audit:
    """What the entries so far add up to: accounts, debits and answers by request id."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._accounts: Accounts = {}
        self._debits: dict[str, Mapping[str, Any]] = {}
        self._answers: dict[str, str] = {}

    def check(self, entry: Mapping[str, Any]) -> None:
        try:
            adds_up = self._adds_up(entry)
        except (KeyError, TypeError, ValueError, AttributeError, Refusal):
            adds_up = False
        if not adds_up:
            raise damage_refusal(f"has an entry {entry['sequence']} that does not add up")
        apply_entry(self._accounts, entry)

    def _adds_up(self, entry: Mapping[str, Any]) -> bool:
        match entry["kind"]:
            case "reserve":
                return self._debit_adds_up(entry)
            case "commit":
                return self._answer_adds_up(entry)
            case "top-up":
                return Fraction(entry["epsilon"]) >= 0 and Fraction(entry["delta"]) >= 0
        return True

    def _debit_adds_up(self, entry: Mapping[str, Any]) -> bool:
        event, own = from_record(entry["event"]), account_name(entry["analyst"])
        payers = {own} if self._is_shared(entry) else {DATASET, own}
        filters = {name: self._accounts[name].filter for name in payers}
        add = _add_as_before if _is_old(entry) else _add
        totals = {name: add(may, event) for name, may in filters.items() if may is not None}
        first, whose = entry["request_id"] not in self._debits, entry["request_id"].rpartition("\n")[0]
        self._debits[entry["request_id"]] = entry
        named = whose in ("", entry["analyst"])  # the first ledgers had request ids without names
        return first and named and len(totals) == len(payers) and totals == entry["spent"]

    def _is_shared(self, entry: Mapping[str, Any]) -> bool:
        """Whether the dataset does not pay: only for an earlier answer to the same plan at the same cost."""
        if "shares" not in entry:
            return False
        source = self._debits[entry["shares"]]
        return entry["shares"] in self._answers and all(source[part] == entry[part] for part in ("plan", "event"))

    def _answer_adds_up(self, entry: Mapping[str, Any]) -> bool:
        debit, name = self._debits[entry["request_id"]], entry["payload"]
        first = entry["request_id"] not in self._answers
        self._answers[entry["request_id"]] = name
        same = "shares" not in debit or self._answers[debit["shares"]] == name
        row = self._connection.execute("SELECT payload FROM payloads WHERE digest = ?", (name,)).fetchone()
        kept = row is not None and digest(row[0]) == name
        return first and same and kept and all(debit[part] == entry[part] for part in ("analyst", "plan"))


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
