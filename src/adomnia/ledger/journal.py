"""The journal: runs a group of requests in one transaction, then moves the anchor to the newest entry."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from adomnia.errors import AdomniaError
from adomnia.ledger.accounts import Accounts, apply_entry
from adomnia.ledger.chain import GENESIS, Anchor, Head, damage_refusal, decode_entry, digest, encode_entry
from adomnia.ledger.durable_file import DurableFile
from adomnia.ledger.failpoints import reach
from adomnia.ledger.schema import LEDGER_FORMAT, create_tables
from adomnia.ledger.sqlite import write_transaction

__all__ = ["Journal", "Transaction", "Work", "check_anchor", "read_entries"]


def read_entries(connection: sqlite3.Connection, head: Head) -> Iterator[tuple[Head, dict[str, Any]]]:
    """Read the entries after a head, each with the head that it makes; refuses one that does not follow."""
    rows = connection.execute("SELECT body FROM entries WHERE sequence > ? ORDER BY sequence", (head.sequence,))
    for (body,) in rows:
        head, entry = decode_entry(head, body)
        yield head, entry


def is_on_chain(connection: sqlite3.Connection, head: Head) -> bool:
    """Whether the chain goes through this head."""
    row = connection.execute("SELECT body FROM entries WHERE sequence = ?", (head.sequence,)).fetchone()
    return head == GENESIS or (row is not None and digest(row[0].encode()) == head.hash)


def check_anchor(connection: sqlite3.Connection, head: Head, anchor: Head) -> None:
    """Refuse a chain, which ends at `head`, unless it goes through the head that the anchor remembers."""
    if anchor.sequence > head.sequence:
        ends = f"ends at entry {head.sequence}, but its anchor remembers entry {anchor.sequence}"
        raise damage_refusal(f"{ends}: entries were removed, or an older database was put back")
    if not is_on_chain(connection, anchor):
        raise damage_refusal(f"was changed: its entry {anchor.sequence} is not the one that its anchor remembers")


class Transaction:
    """A transaction in progress: the end of the chain, the accounts at that point, and a way to append entries."""

    def __init__(self, connection: sqlite3.Connection, head: Head, accounts: Accounts) -> None:
        self.connection = connection
        self.head = head
        self.accounts = dict(accounts)

    def catch_up(self) -> None:
        """Read the entries that other processes have written since."""
        if not is_on_chain(self.connection, self.head):
            raise damage_refusal(f"lost or changed entry {self.head.sequence} while it was open")
        for head, entry in read_entries(self.connection, self.head):
            apply_entry(self.accounts, entry)
            self.head = head

    def append(self, kind: str, **fields: Any) -> Head:  # noqa: ANN401 - whatever JSON can hold
        """Write one entry at the end of the chain."""
        body = encode_entry(self.head, kind, fields)
        self.connection.execute("INSERT INTO entries (sequence, body) VALUES (?, ?)", (self.head.sequence + 1, body))
        self.head, entry = decode_entry(self.head, body)
        apply_entry(self.accounts, entry)
        return self.head


Work: TypeAlias = Callable[[Transaction], Any]


class Journal:
    """The connection, the anchor, and how far this process has read the chain."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._anchor = None if path is None else Anchor(path)
        self._file = DurableFile(path, LEDGER_FORMAT)
        self._head = GENESIS
        self._accounts: Accounts = {}

    def open(self, first: Work) -> None:
        """Read the whole chain, check it against the anchor, and only then do the first work."""
        with self._transact():
            create_tables(self._connection, self._anchor)
        with self._transaction() as transaction:
            self._check_anchor(transaction)
            first(transaction)

    def run(self, works: Sequence[Work]) -> list[Any]:
        """Do all works in one durable transaction; a work that was refused gives the error as its outcome.

        Works refuse before they write, so a refused one leaves nothing behind. Any other error undoes them all.
        """
        with self._transaction() as transaction:
            return [_do(work, transaction) for work in works]

    def maintain(self) -> None:
        """What is due after a transaction, and concerns no caller."""
        self._file.copy_log()

    def recover(self, doubtful: bool) -> None:
        """Find out whether the file can be written again; after an error that left doubt, write all of it again first.

        The chain must still go through the last entry that this process knows, and through the anchor.
        """
        if doubtful and self._path is not None:
            self._file.close()
            self._file = DurableFile(self._path, LEDGER_FORMAT)
            self._file.rewrite()
        self._file.probe()
        with self._transaction() as transaction:
            self._check_anchor(transaction)

    def close(self) -> None:
        self._file.close()

    @property
    def _connection(self) -> sqlite3.Connection:
        return self._file.connection

    def _check_anchor(self, transaction: Transaction) -> None:
        check_anchor(self._connection, transaction.head, GENESIS if self._anchor is None else self._anchor.read())

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        """A transaction that has read the whole chain; once it is durable, the anchor remembers its end."""
        with self._transact():
            transaction = Transaction(self._connection, self._head, self._accounts)
            transaction.catch_up()
            yield transaction
        reach("after-commit")
        moved = transaction.head != self._head
        self._head, self._accounts = transaction.head, transaction.accounts
        if self._anchor is not None and moved:
            self._anchor.advance(transaction.head)
        reach("after-anchor")

    @contextmanager
    def _transact(self) -> Iterator[None]:
        reach("before-begin")
        with write_transaction(self._connection, LEDGER_FORMAT):
            yield
            reach("before-commit")


def _do(work: Work, transaction: Transaction) -> Any:  # noqa: ANN401 - whatever the work gives
    try:
        return work(transaction)
    except AdomniaError as error:
        return error
