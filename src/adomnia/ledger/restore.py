"""Restoring: puts a backup in the ledger's place, marked, and with what may have been spent since it was made."""

import os
import shutil
import sqlite3
from collections.abc import Collection, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from adomnia.errors import Refusal
from adomnia.ledger.accounts import Account, encode_spent
from adomnia.ledger.anchor import Anchor
from adomnia.ledger.audit import examine
from adomnia.ledger.chain import Head
from adomnia.ledger.failpoints import reach
from adomnia.ledger.files import identify, is_in_use
from adomnia.ledger.journal import Journal, Transaction, Work
from adomnia.ledger.owner import declare
from adomnia.ledger.requests import now
from adomnia.ledger.schema import explain_error
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, round_down
from adomnia.privacy.events import Event, to_record
from adomnia.privacy.filters import Budget, Spent
from adomnia.privacy.losses import loss

__all__ = ["Restoration", "restore"]

_SUFFIXES = ("", "-wal", "-shm")  # of the files that are one database


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


def restore(path: Path, backup: Path, restoration: Restoration) -> Head:
    """Put a backup in the place of a ledger, which is moved aside; gives the head of the restored ledger.

    The old anchor is locked meanwhile. Whoever still has the old files open then finds another one, and pays no more.
    """
    if is_in_use(path):
        raise Refusal("The ledger", "is in use", "stop every process that uses it, then restore again")
    draft = path.with_name(f"{path.name}.draft")
    try:
        with ExitStack() as held:
            heads = {*restoration.heads, *_lock_leftover(Anchor(path), held)}
            _remove(draft)
            held.callback(_remove, draft)
            saved = _copy(backup, draft)
            head = _append(draft, partial(_mark, restoration=restoration, heads=heads))
            _put_in_place(path, draft, saved)
            return head
    except (sqlite3.Error, OSError) as error:
        raise explain_error(error) from error


def _lock_leftover(anchor: Anchor, held: ExitStack) -> list[Head]:
    """Lock the anchor of the lost ledger, and give its head; one that is lost or damaged knows none."""
    try:
        return [held.enter_context(anchor.lock()).head]
    except Refusal:
        return []


def _remove(draft: Path) -> None:
    """Remove what a restoration that was cut off has left, or this one does not need any more."""
    Anchor(draft).remove()
    for suffix in (*_SUFFIXES, ".lock"):
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
        head = examine(copy, anchor)
    Anchor(draft).create(head)
    return head


def _append(draft: Path, mark: Work) -> Head:
    """Append to a ledger that nobody else uses, and leave all of it in one file."""
    journal = Journal(draft)
    try:
        journal.open(mark)
    finally:
        journal.close()
    if identify(draft)[1:] != (None, None):
        raise Refusal("The ledger", "could not be written to one file", "free some space, then restore again")
    return Anchor(draft).read()


def _put_in_place(path: Path, draft: Path, saved: Head) -> None:
    """Move the old files aside and the new ones to their names.

    There is an anchor all the time, and it remembers entries. So a ledger that is cut off between two steps opens only
    if it is the restored one, and restoring again is sound.
    """
    anchor, aside = Anchor(path), _find_free_name(path)
    if anchor.exists():
        os.link(anchor.path, Anchor(aside).path)
    else:
        anchor.create(saved)
    for suffix in _SUFFIXES:
        old = Path(f"{path}{suffix}")
        if old.exists():
            old.rename(f"{aside}{suffix}")
    reach("old-moved")
    draft.rename(path)
    reach("draft-moved")
    anchor.create(Anchor(draft).read())


def _find_free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.replaced-{number}") for number in count(1))
    return next(name for name in names if not name.exists() and not Anchor(name).exists())


def _mark(transaction: Transaction, restoration: Restoration, heads: Collection[Head]) -> None:
    """Declare the budgets of now, and record the restoration with what each account may have spent in the gap."""
    earlier = dict(transaction.accounts)
    declare(transaction, restoration.dataset, restoration.analysts)
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
        for account in accounts:
            spent = spent if account.filter is None else _exhaust(spent, account.filter.budget)
        return spent
    event = gap[name]
    return spent if event is None else spent.plus(loss(event))


def _exhaust(spent: Spent, budget: Budget) -> Spent:
    """The least total that is not below what was spent, and of which a budget admits no more.

    Spends that were admitted by their rhos may have had any sum of epsilons: that sum is of no use afterwards.
    """
    return replace(
        spent,
        in_epsilon=spent.in_epsilon and not round_down(budget.rho, EPSILON_UNIT),
        epsilon_units=max(spent.epsilon_units, round_down(budget.epsilon, EPSILON_UNIT)),
        rho_units=max(spent.rho_units, round_down(budget.rho, EPSILON_UNIT)),
        delta_units=max(spent.delta_units, round_down(budget.event_delta, DELTA_UNIT)),
    )
