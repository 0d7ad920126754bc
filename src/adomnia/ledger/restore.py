"""Restoring: puts a backup in the ledger's place, marked, and with what may have been spent since it was made."""

import os
import shutil
import sqlite3
from collections.abc import Collection, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from adomnia.errors import Refusal
from adomnia.ledger.accounts import Account, encode_spent
from adomnia.ledger.audit import examine
from adomnia.ledger.chain import Anchor, Head
from adomnia.ledger.file_store import FileStore
from adomnia.ledger.files import SUFFIXES, identify
from adomnia.ledger.journal import Journal, Transaction, Work
from adomnia.ledger.ledger_places import LastingPlace, find_lasting_place
from adomnia.ledger.owner import declare_budgets
from adomnia.ledger.requests import now
from adomnia.ledger.schema import explain_errors
from adomnia.ledger.sqlite_records import SqliteRecords
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, round_down, round_up
from adomnia.privacy.events import Event, to_record
from adomnia.privacy.filters import Budget, Spent
from adomnia.privacy.losses import loss


@dataclass(frozen=True)
class Restoration:
    """What the owner says about a ledger that a backup replaces.

    `gap` has for an account, by its name in the ledger, the most that it may have spent after the backup was made
    (None: nothing). Of an account that is not named there, all that was left counts as spent. `heads` are later heads
    of the lost ledger, if somebody wrote them down. The budgets are those of the catalog now.
    """

    dataset: Budget
    analysts: Mapping[str, Budget]
    gap: Mapping[str, Event | None] = field(default_factory=dict)
    heads: tuple[Head, ...] = ()


def restore(named: Path | LastingPlace, backup: Path, restoration: Restoration) -> Head:
    """Put a backup in the place of a ledger, which is moved aside; gives the head of the restored ledger.

    The old anchor is locked meanwhile. Whoever still has the old files open then finds another one, and pays no more.
    """
    place = find_lasting_place(named)
    base = place.anchor.database
    draft = base.with_name(f"{base.name}.draft")
    with explain_errors():
        place.check_unused()
        with ExitStack() as held:
            heads = {*restoration.heads, *_lock_leftover(place.anchor, held)}
            _remove(draft)
            held.callback(_remove, draft)
            saved = _copy(backup, draft)
            head = _append(draft, partial(_mark, restoration=restoration, heads=heads))
            place.take_over(draft, saved)
            return head


def _lock_leftover(anchor: Anchor, held: ExitStack) -> list[Head]:
    """Lock the anchor of the lost ledger, and give its head; one that is lost or damaged knows none."""
    try:
        return [held.enter_context(anchor.lock()).head]
    except Refusal:
        return []


def _remove(draft: Path) -> None:
    """Remove what a restoration that was cut off has left, or this one does not need any more."""
    Anchor(draft).remove()
    for suffix in (*SUFFIXES, ".lock"):
        Path(f"{draft}{suffix}").unlink(missing_ok=True)


def _copy(backup: Path, draft: Path) -> Head:
    """Copy a backup, durably and with the log if it has one, and examine the copy; gives the head of the backup."""
    anchor = Anchor(backup).read()
    for suffix in ("", "-wal"):
        source, target = Path(f"{backup}{suffix}"), Path(f"{draft}{suffix}")
        if source.exists() or not suffix:
            with source.open("rb") as old, os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as new:
                shutil.copyfileobj(old, new)
                new.flush()
                os.fsync(new.fileno())
    with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
        head = examine(SqliteRecords(copy), anchor)
    Anchor(draft).create(head)
    return head


def _append(draft: Path, mark: Work) -> Head:
    """Append to a ledger that nobody else uses, and leave all of it in one file."""
    journal = Journal(FileStore(draft))
    try:
        journal.open(mark)
    finally:
        journal.close()
    if identify(draft)[1:] != (None, None):
        raise Refusal("The ledger", "could not be written to one file", "free some space, then restore again")
    return Anchor(draft).read()


def _mark(transaction: Transaction, restoration: Restoration, heads: Collection[Head]) -> None:
    """Declare the budgets of now, and record the restoration with what each account may have spent in the gap."""
    earlier = dict(transaction.accounts)
    declare_budgets(transaction, restoration.dataset, restoration.analysts)
    accounts = transaction.accounts
    for name in restoration.gap.keys() - accounts.keys():
        raise Refusal(f"Account {name}", "is not in the ledger", f"name one of these: {', '.join(sorted(accounts))}")
    gap, spent = {}, {}
    for name, account in accounts.items():
        gap[name] = _encode_gap(restoration.gap, name)
        spent[name] = encode_spent(_add_gap(restoration.gap, name, (earlier.get(name, account), account)))
    known = [str(head) for head in sorted(heads)]
    transaction.append("restored", at=now(), known=known, gap=gap, spent=spent)


def _encode_gap(gap: Mapping[str, Event | None], name: str) -> Any:  # noqa: ANN401 - whatever JSON can hold
    if name not in gap:
        return "all"
    event = gap[name]
    return None if event is None else to_record(event)


def _add_gap(gap: Mapping[str, Event | None], name: str, accounts: tuple[Account, ...]) -> Spent:
    """What an account has spent with its gap, given what it was in the backup and what it is now."""
    spent = accounts[0].spent
    if name not in gap:
        by_epsilon = spent.in_epsilon
        for account in accounts:
            spent = spent if account.filter is None else _exhaust(spent, account.filter.budget, by_epsilon)
        return spent
    event = gap[name]
    return spent if event is None else spent.plus(loss(event))


def _exhaust(spent: Spent, budget: Budget, by_epsilon: bool) -> Spent:
    """The least total that is not below what was spent, nor below anything that a budget may have admitted since.

    Spends that were admitted by their rhos may have had any sum of epsilons: that sum is of no use afterwards. Those
    that were admitted by their epsilons, if the backup still had their sum, may have had up to epsilon**2 / 2 of rho,
    which is more than the other branch takes.
    """
    rho = max(budget.rho, budget.epsilon**2 / 2) if by_epsilon else budget.rho
    return replace(
        spent,
        in_epsilon=spent.in_epsilon and not round_down(budget.rho, EPSILON_UNIT),
        epsilon_units=max(spent.epsilon_units, round_down(budget.epsilon, EPSILON_UNIT)),
        rho_units=max(spent.rho_units, round_up(rho, EPSILON_UNIT)),
        delta_units=max(spent.delta_units, round_down(budget.event_delta, DELTA_UNIT)),
    )
