"""What owners and auditors may read of the ledger: who paid how much, when, and what it all came to.

Neither answers nor salts: with those, whoever holds a receipt could confirm guesses about the entries beside it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.ledger.chain import GENESIS, Head, digest
from adomnia.ledger.journal import read_entries
from adomnia.ledger.schema import explain_error
from adomnia.ledger.sqlite import connect_read_only
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.events import from_record
from adomnia.privacy.filters import Spent
from adomnia.privacy.losses import loss
from adomnia.session.curator import LEDGER, STATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Amounts", "Entry", "entries", "ledger_path", "snapshot"]


@dataclass(frozen=True)
class Amounts:
    """Exact amounts as texts; without an epsilon what was spent is not pure."""

    epsilon: str | None
    rho: str | None
    delta: str


@dataclass(frozen=True)
class Entry:
    """One entry: a debit has its cost and the totals of who paid, a change of budgets has what they are or gained."""

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


def ledger_path(folder: Path) -> Path:
    """The database of a folder's ledger, which the first question makes."""
    path = (folder / STATE / LEDGER).resolve()
    if not path.is_file():
        raise Refusal(f"Folder {folder}", "has no ledger", "name a folder whose data was asked about before")
    return path


@contextmanager
def snapshot(path: Path) -> Iterator[sqlite3.Connection]:
    """A ledger as it is at this moment; nothing is written, and questions go on meanwhile."""
    try:
        with closing(connect_read_only(path)) as connection:
            yield connection
    except (sqlite3.Error, OSError) as error:
        raise explain_error(error) from error


def entries(connection: sqlite3.Connection, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
    """The entries after a number, oldest first, each checked to follow from the one before it."""
    for head, entry in islice(read_entries(connection, _head(connection, after)), limit):
        yield _entry(head, entry)


def _head(connection: sqlite3.Connection, sequence: int) -> Head:
    """Where the chain was after so many entries; beyond its end nothing follows."""
    row = connection.execute("SELECT body FROM entries WHERE sequence = ?", (sequence,)).fetchone()
    if row is not None:
        return Head(sequence, digest(row[0].encode()))
    return GENESIS._replace(sequence=max(sequence, 0))


def _entry(head: Head, entry: Mapping[str, Any]) -> Entry:
    return Entry(
        sequence=head.sequence,
        kind=entry["kind"],
        hash=head.hash,
        at=entry.get("at"),
        analyst=entry.get("analyst"),
        request_id=entry["request_id"].rpartition("\n")[2] if "request_id" in entry else None,
        cost=_cost(entry["event"]) if "event" in entry else None,
        totals={account: _spent(total) for account, total in entry.get("spent", {}).items()},
        budgets=_budgets(entry),
        reason=entry.get("reason"),
    )


def _cost(event: Mapping[str, Any]) -> Amounts:
    """As the accounts count it, in whole units: exact sums of many parts can have thousands of digits."""
    paid = Spent().plus(loss(from_record(event)))
    return _counted(paid.pure, paid.epsilon_units, paid.rho_units, paid.delta_units)


def _spent(total: Mapping[str, Any]) -> Amounts:
    return _counted(total["pure"], int(total["epsilon"]), int(total["rho"]), int(total["delta"]))


def _counted(pure: bool, epsilon: int, rho: int, delta: int) -> Amounts:
    spent = str(epsilon * EPSILON_UNIT) if pure else None
    return Amounts(spent, str(rho * EPSILON_UNIT), str(delta * DELTA_UNIT))


def _budgets(entry: Mapping[str, Any]) -> dict[str, Amounts | None]:
    changed = {entry["account"]: entry} if entry["kind"] == "top-up" else entry.get("budgets", {})
    return {account: None if amounts is None else _budget(amounts) for account, amounts in changed.items()}


def _budget(amounts: Mapping[str, Any]) -> Amounts:
    return Amounts(str(Fraction(amounts["epsilon"])), None, str(Fraction(amounts["delta"])))
