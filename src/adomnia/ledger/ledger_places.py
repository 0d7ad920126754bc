"""Where a ledger is: in memory, in a file, or in PostgreSQL (`postgres_place`)."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from struct import pack
from typing import Protocol

from adomnia.ledger.chain import Anchor, Head, MemoryAnchor
from adomnia.ledger.file_store import FileStore
from adomnia.ledger.files import in_use_refusal, is_in_use, put_in_place
from adomnia.ledger.records import Records, RecordStore
from adomnia.ledger.sqlite import connect_read_only
from adomnia.ledger.sqlite_records import SqliteRecords

MEMORY = ":memory:"


class SnapshotReader(Protocol):
    """What reads a ledger without keeping its writers from writing."""

    def snapshot(self) -> AbstractContextManager[Records]:
        """The ledger as it is now."""

    def close(self) -> None:
        """Let go of it."""


class Locks(Protocol):
    """Locks of subjects, which are numbers below 2**60, against other processes; at most until the process ends."""

    def hold(self, number: int) -> AbstractContextManager[None]:
        """Wait for the lock, and hold it."""

    def close(self) -> None:
        """Give up all of them."""


class MemoryLocks:
    """Nobody else can reach what is in memory."""

    def hold(self, number: int) -> AbstractContextManager[None]:  # noqa: ARG002
        return nullcontext()

    def close(self) -> None:
        """There is nothing to give up."""


class FileLocks:
    """Locks of bytes of an empty file. They belong to an open file and not to the process, whatever threads close."""

    def __init__(self, database: Path) -> None:
        self._path = f"{database}.lock"

    @contextmanager
    def hold(self, number: int) -> Iterator[None]:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW, pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, number, 1, 0))
            yield
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """They end with their holders."""


class LedgerPlace(Protocol):
    """Where a ledger is."""

    @property
    def anchor(self) -> Anchor | MemoryAnchor:
        """What remembers its newest entry on this machine."""

    def exists(self) -> bool:
        """Whether it was made."""

    def open_store(self) -> RecordStore:
        """Open it for payments."""

    def open_reader(self) -> SnapshotReader | None:
        """Open it for reading; None where only its writer can."""

    def open_locks(self) -> Locks:
        """Open the turns of those who use it."""


class LastingPlace(LedgerPlace, Protocol):
    """Where a ledger is that does not end with its process."""

    @property
    def anchor(self) -> Anchor:
        """A file."""

    def open_reader(self) -> SnapshotReader:
        """Open it for reading."""

    def check_unused(self) -> None:
        """Refuse while somebody is known to have it open."""

    def take_over(self, draft: Path, saved: Head) -> None:
        """Put the ledger of a file in its place, whose backup had this head; the old one is moved aside."""


class MemoryPlace:
    """A ledger that ends with the process."""

    @property
    def anchor(self) -> MemoryAnchor:
        """Nothing has ever been there: each ledger in memory is another."""
        return MemoryAnchor()

    def exists(self) -> bool:
        return False

    def open_store(self) -> FileStore:
        return FileStore(None)

    def open_reader(self) -> None:
        return None

    def open_locks(self) -> MemoryLocks:
        return MemoryLocks()


@dataclass(frozen=True)
class FilePlace:
    """A ledger in a file of SQLite."""

    path: Path

    @property
    def anchor(self) -> Anchor:
        return Anchor(self.path)

    def exists(self) -> bool:
        return self.path.is_file()

    def open_store(self) -> FileStore:
        return FileStore(self.path)

    def open_reader(self) -> "FilePlace":
        return self

    def open_locks(self) -> FileLocks:
        return FileLocks(self.path)

    def check_unused(self) -> None:
        """Refuse while a connection has the file open."""
        if is_in_use(self.path):
            raise in_use_refusal()

    def take_over(self, draft: Path, saved: Head) -> None:
        """Move the old files aside and the new ones to their names."""
        put_in_place(self.path, draft, saved)

    @contextmanager
    def snapshot(self) -> Iterator[SqliteRecords]:
        """The ledger as it is now."""
        with closing(connect_read_only(self.path)) as connection:
            yield SqliteRecords(connection)

    def close(self) -> None:
        """Each snapshot has a connection of its own."""


def find_place(named: str | Path | LedgerPlace) -> LedgerPlace:
    """The place that is meant by a path, or by ":memory:"."""
    if str(named) == MEMORY:
        return MemoryPlace()
    return FilePlace(Path(named).resolve()) if isinstance(named, str | Path) else named


def find_lasting_place(named: Path | LastingPlace) -> LastingPlace:
    """The same where nothing in memory can be meant."""
    return FilePlace(named.resolve()) if isinstance(named, Path) else named
