"""The store in a SQLite file, whose processes notice when somebody takes its files away; docs/proofs/ledger.md."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from adomnia.errors import AdomniaError
from adomnia.ledger.anchor import Anchor, MemoryAnchor
from adomnia.ledger.chain import GENESIS
from adomnia.ledger.durable_file import DurableFile
from adomnia.ledger.failpoints import failpoint
from adomnia.ledger.files import FilesReplacedError, identify, identify_open
from adomnia.ledger.journal import check_anchor, find_newest, is_on_chain
from adomnia.ledger.records import Wanted
from adomnia.ledger.schema import LEDGER_FORMAT, PAYING_FORMAT, check_contents, check_existence, create_tables
from adomnia.ledger.sqlite import check_format, write_transaction
from adomnia.ledger.sqlite_records import SqliteRecords


class FileStore:
    """A ledger in a file, or in memory (None), which nobody else can reach. It shares no account with others."""

    shared = "", ""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.anchor: Anchor | MemoryAnchor = MemoryAnchor() if path is None else Anchor(path)
        self._files: tuple[tuple[int, int] | None, ...] = ()  # not known while they are being opened
        self._file = self._open_file()

    @property
    def anchors(self) -> tuple[Anchor | MemoryAnchor]:
        """One chain has one anchor."""
        return (self.anchor,)

    def create(self) -> None:
        """Make the anchor and the tables, if they are not there; if they are, nobody who pays waits for this."""
        failpoint("before-begin")
        if check_format(self._connection, LEDGER_FORMAT):
            with write_transaction(self._connection, LEDGER_FORMAT):
                create_tables(self._connection, self.anchor)
                failpoint("before-commit")
        self._remember_files()  # SQLite has read, so that it has all three open, and nobody tidies them up

    @contextmanager
    def write(self, *_foreseen: Sequence[int] | Sequence[Wanted]) -> Iterator[tuple[SqliteRecords]]:
        """The only write transaction there is, in any process, on the files that were opened."""
        failpoint("before-begin")
        with write_transaction(self._connection, PAYING_FORMAT):
            self.check_same()
            yield (SqliteRecords(self._connection),)
            failpoint("before-commit")

    @contextmanager
    def read(self) -> Iterator[tuple[SqliteRecords]]:
        """A snapshot, which keeps nobody from writing."""
        self._connection.execute("BEGIN")
        try:
            yield (SqliteRecords(self._connection),)
        finally:
            self._connection.execute("ROLLBACK")

    def check_same(self) -> None:
        """Raise an error if the files are not those that were opened."""
        files = self._files
        if files and self._identify() != files:
            raise FilesReplacedError

    def maintain(self) -> None:
        """Copy the log into the database, if it has grown."""
        if self._file.is_log_long():
            self._file.copy_log()

    def reopen(self) -> None:
        """Open the files that are there now. None is created in their place.

        What could not be opened as a whole is not kept open until the next try: another ledger of this process would
        get the same lost shared memory, and neither would ever open what is there.
        """
        if self._path is None:
            return
        self.close()
        if not self._path.exists():
            raise FilesReplacedError
        self._file = self._open_file()
        try:
            check_contents(self._connection)
            self._remember_files()
        except BaseException:
            self._file.abandon()
            raise

    def rewrite(self) -> None:
        """Write every page again, durably; what is in memory is as durable as it gets."""
        if self._path is not None:
            self._file.rewrite()

    def close(self) -> None:
        """Close the file; where others may have written what this process does not see, leave the log as it is."""
        if self._path is None:
            return self._file.close()
        with suppress(AdomniaError, OSError, sqlite3.Error), self.anchor.lock() as anchored:
            # Where the anchor's head is on the chain, this process sees all that was ever granted.
            if is_on_chain(SqliteRecords(self._connection), anchored.head):
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
        return isinstance(self.anchor, Anchor) and self.anchor.exists() and self.anchor.read() != GENESIS

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
        with self.anchor.lock() as anchored:
            self.check_same()
            records = SqliteRecords(connection)
            check_anchor(records, find_newest(records), anchored.head)
            yield
