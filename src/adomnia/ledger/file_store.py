"""The store in a SQLite file, whose processes notice when somebody takes its files away; docs/proofs/ledger.md.

After each step of the open file, all that it shows is known to be on the disk; section 10 says why each is needed.
"""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from struct import pack
from time import monotonic, sleep
from typing import TypeAlias

from adomnia.errors import AdomniaError
from adomnia.ledger.chain import GENESIS, Anchor, MemoryAnchor
from adomnia.ledger.failpoints import failpoint
from adomnia.ledger.files import FilesReplacedError, close_leaving_log, identify, identify_open
from adomnia.ledger.journal import check_anchor, find_newest, is_on_chain
from adomnia.ledger.records import Wanted
from adomnia.ledger.schema import LEDGER_FORMAT, PAYING_FORMAT, check_contents, check_existence, create_tables
from adomnia.ledger.sqlite import FileFormat, check_format, connect, execute_patiently, write_transaction
from adomnia.ledger.sqlite_records import SqliteRecords

Guard: TypeAlias = Callable[[sqlite3.Connection], AbstractContextManager[object]]

_PAYING, _OPENING = 2**61, 2**61 + 1  # bytes of the lock file, beyond those that questions lock
_POLL_SECONDS = 0.005
_LOG_BYTES = 4 * 2**20  # of the write-ahead log, after which it is copied into the database ...
_LOG_TRANSACTIONS = 100  # ... or after so many


class DurableFile:
    """A connection to the ledger, and a lock that says to others that this process pays from it.

    Whoever pays first empties the log: a process that ended may have left in it what no disk has. `guard` is entered
    for every step that copies or writes: it refuses where that would harm others, and keeps them away meanwhile.
    """

    def __init__(self, path: Path | None, file_format: FileFormat, guard: Guard) -> None:
        self._path, self._format, self._guard = path, file_format, guard
        self._transactions = self._log_bytes = 0
        if path is None:
            self.connection = connect(None, file_format)
            return
        # Opened before the database, so that a process that dies loses this lock before its locks on the database.
        self._lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._open(path)
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self, path: Path) -> None:
        with self._opening_alone():
            self.connection = connect(path, self._format)
            try:
                self.connection.execute("PRAGMA wal_autocheckpoint = 0")  # SQLite would not tell of its errors
                if _try_lock(self._lock, fcntl.F_WRLCK, _PAYING):  # nobody else pays
                    self._empty_log(self._guard)
                _try_lock(self._lock, fcntl.F_RDLCK, _PAYING)
            except BaseException:
                close_leaving_log(self.connection, path)
                raise

    def rewrite(self) -> None:
        """Write every page again and wait until the disk has it; the log is empty afterwards.

        The checkpoint alone would leave out what an earlier one copied without waiting for the disk.
        """
        with self._guard(self.connection):
            execute_patiently(self.connection, self._format, "VACUUM")
        self._empty_log(self._guard)

    def is_log_long(self) -> bool:
        """Count one more transaction; whether the log should be copied into the database now.

        A log that is missing is not: whoever pays next notices.
        """
        if self._path is None:
            return False
        self._transactions += 1
        try:
            size = os.stat(f"{self._path}-wal").st_size  # noqa: PTH116 - after every payment, and a Path takes its time
        except FileNotFoundError:
            return False
        if self._transactions < _LOG_TRANSACTIONS and size - self._log_bytes < _LOG_BYTES:
            return False
        self._transactions, self._log_bytes = 0, size
        return True

    def copy_log(self) -> None:
        """Copy the log into the database, as far as readers let it; raises what goes wrong."""
        with self._guard(self.connection):
            self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def save_log(self) -> None:
        """Copy a log into the database that has lost its name, so that nobody else can; the caller guards it."""
        self._empty_log(nullcontext)

    def close(self) -> None:
        """Close it; the lock first, so that whoever sees it knows that the connection is open."""
        self._unlock()
        self.connection.close()

    def abandon(self) -> None:
        """Close it as a kill would, with a log that is perhaps not everybody's: that is neither copied nor deleted."""
        assert self._path is not None  # noqa: S101 - nobody shares what is in memory
        self._unlock()
        close_leaving_log(self.connection, self._path)

    def _unlock(self) -> None:
        if self._path is not None and self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _empty_log(self, guard: Guard) -> None:
        """Copy all of the log into the database, wait until the disk has it, and cut the log to nothing.

        The guard is left between two tries: a reader with a long snapshot does not keep others from paying.
        """
        deadline = monotonic() + self._format.busy_seconds
        while True:
            with guard(self.connection):
                kept = execute_patiently(self.connection, self._format, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
            if not kept:
                return
            if monotonic() >= deadline:
                raise TimeoutError(errno.ETIMEDOUT, "readers keep its log")
            sleep(_POLL_SECONDS)

    @contextmanager
    def _opening_alone(self) -> Iterator[None]:
        deadline = monotonic() + self._format.busy_seconds
        while not _try_lock(self._lock, fcntl.F_WRLCK, _OPENING):
            if monotonic() >= deadline:
                raise TimeoutError(errno.ETIMEDOUT, "another process keeps opening it")
            sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            _try_lock(self._lock, fcntl.F_UNLCK, _OPENING)


def _try_lock(descriptor: int, kind: int, place: int) -> bool:
    """Lock one byte, change its lock, or unlock it; False if another process has it."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, pack("hhqqi4x", kind, os.SEEK_SET, place, 1, 0))
    except (BlockingIOError, PermissionError):
        return False
    return True


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
