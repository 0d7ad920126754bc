"""The journal: runs a group of requests in one transaction, then moves the anchor to the newest entry."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from adomnia.errors import AdomniaError, Refusal
from adomnia.ledger.accounts import Accounts, apply_entry, encode_accounts
from adomnia.ledger.anchor import Anchor, MemoryAnchor
from adomnia.ledger.chain import GENESIS, Head, damage_refusal, decode_entry, digest, encode_entry
from adomnia.ledger.durable_file import DurableFile
from adomnia.ledger.failpoints import reach
from adomnia.ledger.files import FilesReplacedError, identify, identify_open
from adomnia.ledger.schema import LEDGER_FORMAT, check_contents, check_existence, create_tables
from adomnia.ledger.sqlite import check_format, write_transaction

__all__ = ["Journal", "Transaction", "Work", "check_anchor", "find_newest", "is_on_chain", "read_entries"]

_CHECKPOINT_EVERY = 4096  # entries, or as many as there are accounts: what an open reads, and what checkpoints weigh
_NO_END = 2**63 - 1


def read_entries(
    connection: sqlite3.Connection, head: Head, last: int = _NO_END
) -> Iterator[tuple[Head, dict[str, Any]]]:
    """Read the entries after a head, each with the head that it makes; refuses one that does not follow."""
    query = "SELECT body FROM entries WHERE sequence > ? AND sequence <= ? ORDER BY sequence"
    for (body,) in connection.execute(query, (head.sequence, last)):
        head, entry = decode_entry(head, body)
        yield head, entry


def find_newest(connection: sqlite3.Connection) -> Head:
    """Find the end of the chain."""
    row = connection.execute("SELECT sequence, body FROM entries ORDER BY sequence DESC LIMIT 1").fetchone()
    return GENESIS if row is None else Head(row[0], digest(row[1].encode()))


def is_on_chain(connection: sqlite3.Connection, head: Head) -> bool:
    """Whether the chain goes through this head."""
    row = connection.execute("SELECT body FROM entries WHERE sequence = ?", (head.sequence,)).fetchone()
    return head == GENESIS or (row is not None and digest(row[0].encode()) == head.hash)


def check_anchor(connection: sqlite3.Connection, head: Head, anchor: Head) -> None:
    """Refuse a chain, which ends at `head`, unless it goes through the head that the anchor remembers."""
    if anchor.sequence > head.sequence or not is_on_chain(connection, anchor):
        raise _fork_refusal(head, anchor)


def _fork_refusal(head: Head, anchor: Head) -> Refusal:
    """The refusal of a chain that leads to `head` and not through the head that the anchor remembers."""
    if anchor.sequence <= head.sequence:
        return damage_refusal(f"was changed: its entry {anchor.sequence} is not the one that its anchor remembers")
    ends = f"ends at entry {head.sequence}, but its anchor remembers entry {anchor.sequence}"
    causes = "entries were removed, an older database was put back, or another process writes to other files"
    return damage_refusal(f"{ends}: {causes}")


def _find_start(connection: sqlite3.Connection, anchor: Head) -> Head:
    """Find the place before the newest checkpoint that the anchor vouches for; without one, the beginning.

    A checkpoint after the anchor would be believed without anybody's word.
    """
    query = """SELECT sequence - 1, json_extract(body, '$.previous') FROM entries
               WHERE sequence <= ? AND kind = 'checkpoint' ORDER BY sequence DESC LIMIT 1"""
    row = connection.execute(query, (anchor.sequence,)).fetchone()
    return GENESIS if row is None else Head(*row)


@dataclass
class Position:
    """A place in the chain, the accounts there, and the number of the newest checkpoint up to it."""

    head: Head = GENESIS
    accounts: Accounts = field(default_factory=dict)
    checkpoint: int = 0


class Transaction:
    """A transaction in progress: the end of the chain, the accounts at that point, and a way to append entries."""

    def __init__(self, connection: sqlite3.Connection, position: Position) -> None:
        self.connection = connection
        self.head = position.head
        self.accounts = dict(position.accounts)
        self._checkpoint = position.checkpoint

    @property
    def position(self) -> Position:
        """Where the transaction stands now."""
        return Position(self.head, self.accounts, self._checkpoint)

    def follow(self, anchor: Head) -> None:
        """Read the chain from where it was left to the anchor, by hash: an entry of another branch is not that one."""
        if anchor.sequence < self.head.sequence:
            raise damage_refusal(f"had entry {self.head.sequence}, but its anchor went back to entry {anchor.sequence}")
        if not is_on_chain(self.connection, self.head):
            raise damage_refusal(f"lost or changed entry {self.head.sequence}")
        self._read(anchor.sequence)
        if self.head != anchor:
            raise _fork_refusal(self.head, anchor)

    def catch_up(self, anchor: Head) -> None:
        """Read the entries that other processes have written since; refuses unless they lead through the anchor."""
        self.follow(anchor)
        self._read()

    def _read(self, last: int = _NO_END) -> None:
        for head, entry in read_entries(self.connection, self.head, last):
            self._apply(head, entry)

    def append(self, kind: str, **fields: Any) -> Head:  # noqa: ANN401 - whatever JSON can hold
        """Write one entry at the end of the chain."""
        body = encode_entry(self.head, kind, fields)
        self.connection.execute("INSERT INTO entries (sequence, body) VALUES (?, ?)", (self.head.sequence + 1, body))
        self._apply(*decode_entry(self.head, body))
        return self.head

    def keep_checkpoint(self) -> None:
        """State all accounts in an entry, if that was long ago: the next open reads the chain from there."""
        if self.head.sequence - self._checkpoint >= max(_CHECKPOINT_EVERY, len(self.accounts)):
            self.append("checkpoint", accounts=encode_accounts(self.accounts))

    def _apply(self, head: Head, entry: dict[str, Any]) -> None:
        apply_entry(self.accounts, entry)
        self.head = head
        if entry["kind"] == "checkpoint":
            self._checkpoint = head.sequence


Work: TypeAlias = Callable[[Transaction], Any]


class Journal:
    """The connection, the anchor, and how far this process has read the chain."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._anchor = MemoryAnchor() if path is None else Anchor(path)
        self._files: tuple[tuple[int, int] | None, ...] = ()  # not known while they are being opened
        self._file = self._open_file()
        self._position = Position()

    def open(self, first: Work) -> None:
        """Read the chain from a checkpoint to its anchor, keeping nobody from writing; then do the first work."""
        with self._transact():
            create_tables(self._connection, self._anchor)
            self._remember_files()  # from now on SQLite has all three open, and nobody tidies them up
        self._position = self._read_chain()
        with self._transaction() as transaction:
            first(transaction)

    def run(self, works: Sequence[Work]) -> list[Any]:
        """Do all works in one durable transaction; a work that was refused gives the error as its outcome.

        Works refuse before they write, so a refused one leaves nothing behind. Any other error undoes them all.
        """
        with self._transaction() as transaction:
            return [_do(work, transaction) for work in works]

    def maintain(self) -> None:
        """What is due after a transaction, and concerns no caller."""
        if self._file.is_log_long():
            self._file.copy_log()

    def recover(self, doubtful: bool) -> None:
        """Find out whether the file can be written again; after an error that left doubt, write all of it again first.

        The chain must still go through the last entry that this process knows, and through the anchor.
        """
        if doubtful and self._path is not None:
            self.close()
            self._open_again(self._path)
            self._file.rewrite()
        self._file.probe()
        with self._transaction():
            pass

    def close(self) -> None:
        """Close the file; where others may have written what this process does not see, leave the log as it is."""
        if self._path is None:
            return self._file.close()
        with suppress(AdomniaError, OSError, sqlite3.Error), self._anchor.lock() as anchored:
            if is_on_chain(self._connection, anchored.head):  # then this process sees all that was ever granted
                if self._identify() == self._files:
                    return self._file.close()
                if self._has_last_log(self._path):
                    self._file.save_log()
        return self._file.abandon()

    @property
    def _connection(self) -> sqlite3.Connection:
        return self._file.connection

    def _open_file(self) -> DurableFile:
        """Open the file, unless it is gone: SQLite would make an empty one, and delete the log that belongs to it."""
        if self._path is not None and self._remembers_entries():
            check_existence(self._path)
        self._files = ()
        return DurableFile(self._path, LEDGER_FORMAT, self._hold)

    def _remembers_entries(self) -> bool:
        """Whether there is an anchor, and it remembers an entry."""
        return isinstance(self._anchor, Anchor) and self._anchor.exists() and self._anchor.read() != GENESIS

    def _open_again(self, path: Path) -> None:
        """Open the files that are there now, and read on in them to the anchor. None is created in their place."""
        if not path.exists():
            raise FilesReplacedError
        self._file = self._open_file()
        check_contents(self._connection)
        self._remember_files()
        self._position = self._read_chain(self._position)

    def _has_last_log(self, path: Path) -> bool:
        """Whether the log of this process has lost its name and nobody wrote another one: it may be the only copy.

        What stands at the name of the log is nobody's or empty. Whoever made it would have written into it, had they
        found a chain that goes through the anchor.
        """
        database, log, _ = self._identify()
        own_log_is_lost = self._files[:1] == (database,) and self._files[1] != log
        return own_log_is_lost and (log is None or Path(f"{path}-wal").stat().st_size == 0)

    def _identify(self) -> tuple[tuple[int, int] | None, ...]:
        return () if self._path is None else identify(self._path)

    def _remember_files(self) -> None:
        self._files = () if self._path is None else identify_open(self._path)

    def _check_files(self) -> None:
        """Raise an error if the files are not those that were opened."""
        if self._files and self._identify() != self._files:
            raise FilesReplacedError

    @contextmanager
    def _hold(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Hold the anchor while the log is copied or everything is written again; nobody pays meanwhile.

        With a log that is not everybody's, or behind the anchor, that would destroy what others were granted.
        """
        if check_format(connection, LEDGER_FORMAT):  # no entry, and perhaps no anchor yet
            if self._remembers_entries():
                check_contents(connection)
            yield
            return
        with self._anchor.lock() as anchored:
            self._check_files()
            check_anchor(connection, find_newest(connection), anchored.head)
            yield

    def _read_chain(self, start: Position | None = None) -> Position:
        """Read on to the anchor in a snapshot, from a place that is known or from the newest checkpoint."""
        anchor = self._anchor.read()  # before the entries: read after them, it could be ahead of them
        self._connection.execute("BEGIN")
        try:
            start = start or Position(_find_start(self._connection, anchor))
            transaction = Transaction(self._connection, start)
            transaction.follow(anchor)
        finally:
            self._connection.execute("ROLLBACK")
        return transaction.position

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        """A transaction that has read the whole chain; once it is durable, the anchor remembers its end.

        Nobody hears of what was granted before the anchor does, and nobody else can move the anchor meanwhile.
        """
        with self._anchor.lock() as anchored:
            with self._transact():
                self._check_files()
                transaction = Transaction(self._connection, self._position)
                transaction.catch_up(anchored.head)
                yield transaction
                transaction.keep_checkpoint()
            reach("after-commit")
            if transaction.head != anchored.head:
                anchored.advance(transaction.head)
            self._position = transaction.position
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
