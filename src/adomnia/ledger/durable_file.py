"""The open file of a ledger, and the steps after which everything that it shows is known to be on the disk.

docs/proofs/ledger.md, section 10, says why each of them is needed.
"""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from struct import pack
from time import monotonic, sleep
from typing import TypeAlias

from adomnia.ledger.files import close_leaving_log
from adomnia.ledger.sqlite import FileFormat, connect, execute_patiently

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
