"""One transaction at a time: read on, let everybody in the group do their work, commit, anchor."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from adomnia.errors import AdomniaError
from adomnia.ledger.accounts import Accounts, fold
from adomnia.ledger.chain import GENESIS, Anchor, Head, broken, digest, followed, linked
from adomnia.ledger.failpoints import reach
from adomnia.ledger.schema import begin, connect, prepare

__all__ = ["Journal", "Page", "Work", "compare", "walked"]


def walked(connection: sqlite3.Connection, head: Head) -> Iterator[tuple[Head, dict[str, Any]]]:
    """The entries after a head, each with the head it makes."""
    rows = connection.execute("SELECT body FROM entries WHERE sequence > ? ORDER BY sequence", (head.sequence,))
    for (body,) in rows:
        head, entry = followed(head, body)
        yield head, entry


def on_chain(connection: sqlite3.Connection, head: Head) -> bool:
    """Whether the chain went through this head."""
    row = connection.execute("SELECT body FROM entries WHERE sequence = ?", (head.sequence,)).fetchone()
    return head == GENESIS or (row is not None and digest(row[0].encode()) == head.hash)


def compare(connection: sqlite3.Connection, head: Head, anchor: Head) -> None:
    """Refuse a chain, ending in `head`, that did not go through what the anchor remembers."""
    if anchor.sequence > head.sequence:
        ends = f"ends at entry {head.sequence}, but its anchor remembers entry {anchor.sequence}"
        raise broken(f"{ends}: entries were removed, or an older database was put back")
    if not on_chain(connection, anchor):
        raise broken(f"was changed: its entry {anchor.sequence} is not the one that its anchor remembers")


class Page:
    """A transaction in progress: where the chain ends, what the accounts hold, and how to write the next entry."""

    def __init__(self, connection: sqlite3.Connection, head: Head, accounts: Accounts) -> None:
        self.connection = connection
        self.head = head
        self.accounts = dict(accounts)

    def read_on(self) -> None:
        """Take in what other processes wrote since."""
        if not on_chain(self.connection, self.head):
            raise broken(f"lost or changed entry {self.head.sequence} while it was open")
        for head, entry in walked(self.connection, self.head):
            fold(self.accounts, entry)
            self.head = head

    def append(self, kind: str, **fields: Any) -> Head:  # noqa: ANN401 - whatever JSON can hold
        """Write one entry at the end of the chain."""
        body = linked(self.head, kind, fields)
        self.connection.execute("INSERT INTO entries (sequence, body) VALUES (?, ?)", (self.head.sequence + 1, body))
        self.head, entry = followed(self.head, body)
        fold(self.accounts, entry)
        return self.head


Work: TypeAlias = Callable[[Page], Any]


class Journal:
    """The connection, the anchor, and what this process knows of the chain."""

    def __init__(self, path: Path | None) -> None:
        self._anchor = None if path is None else Anchor(path)
        self._connection = connect(path)
        self._head = GENESIS
        self._accounts: Accounts = {}

    def open(self, first: Work) -> None:
        """Walk the whole chain, compare it with the anchor, and only then do the first work."""
        with _transaction(self._connection):
            prepare(self._connection, self._anchor)
        with self._page() as page:
            compare(self._connection, page.head, GENESIS if self._anchor is None else self._anchor.read())
            first(page)

    def run(self, works: Sequence[Work]) -> list[Any]:
        """Do all works in one durable transaction; a work that was refused gives the error as its outcome.

        Works refuse before they write, so a refused one leaves nothing behind. Any other error undoes them all.
        """
        with self._page() as page:
            return [_outcome(work, page) for work in works]

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _page(self) -> Iterator[Page]:
        with _transaction(self._connection):
            page = Page(self._connection, self._head, self._accounts)
            page.read_on()
            yield page
        reach("after-commit")
        moved, self._head, self._accounts = page.head != self._head, page.head, page.accounts
        if self._anchor is not None and moved:
            self._anchor.advance(page.head)
        reach("after-anchor")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    begin(connection)
    try:
        yield
        reach("before-commit")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _outcome(work: Work, page: Page) -> Any:  # noqa: ANN401 - whatever the work gives
    try:
        return work(page)
    except AdomniaError as error:
        return error
