"""The files of a database under a running process: whether they are still the same, and closing without harm if not.

SQLite writes into the files it has opened, also after somebody removed or replaced them. Two processes then hold
different files for the same database and do not see each other. A restored file takes the place of the old ones, which
are moved aside and stay as evidence.
"""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from struct import pack
from threading import Lock

from adomnia.errors import Refusal
from adomnia.ledger.chain import Anchor, Head
from adomnia.ledger.failpoints import failpoint

_SUFFIXES = ("", "-wal", "-shm")
_SHARED_BYTES = 0x40000002, 510  # every connection of SQLite holds a read lock on these: the first, and how many
_descriptors: dict[tuple[int, int], int] = {}  # never closed: that would end all locks of SQLite in this process
_guard = Lock()
SUFFIXES = ("", "-wal", "-shm")  # of the files that are one database


class FilesReplacedError(OSError):
    """The files of a database are not those that were opened. Nothing was written; only opening them anew helps."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, "files removed or replaced")


def identify(
    path: Path, suffixes: tuple[str, ...] = _SUFFIXES, *, follow_links: bool = True
) -> tuple[tuple[int, int] | None, ...]:
    """Which files stand at the names of a database, of its log and of its shared memory; None where there is none."""
    return tuple(_number(f"{path}{suffix}", follow_links) for suffix in suffixes)


def identify_open(path: Path, suffixes: tuple[str, ...] = _SUFFIXES) -> tuple[tuple[int, int] | None, ...]:
    """Which files stand at the names of a database that was just opened, if this process has all of them open.

    SQLite has one shared memory for all connections of a process to a file: a new connection gets that of an older one,
    also if another has its name since, and would go by an index that is not of the log at its name.
    """
    files, opened = identify(path, suffixes), set()
    for descriptor in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names, not paths
        with suppress(OSError):  # closed meanwhile, by another thread
            found = os.fstat(int(descriptor))
            opened.add((found.st_dev, found.st_ino))
    if not opened.issuperset(files):
        raise FilesReplacedError
    return files


def close_leaving_log(connection: sqlite3.Connection, path: Path) -> None:
    """Close a connection as a kill would: what it takes for the log is neither copied into the database nor deleted.

    SQLite does both in the last connection to close, which it knows by a write lock. A read lock that does not belong
    to SQLite keeps it from having that. (A database that was moved away it leaves alone by itself.)
    """
    with _lock_shared_bytes(path, fcntl.F_RDLCK):
        connection.close()


def is_in_use(path: Path) -> bool:
    """Whether a connection of SQLite has the database open, in this process or in another one."""
    with _lock_shared_bytes(path, fcntl.F_WRLCK) as refused:
        return refused


@contextmanager
def _lock_shared_bytes(path: Path, kind: int) -> Iterator[bool]:
    """Try to lock what connections lock; gives whether one was in the way. Nobody uses what cannot be opened."""
    with _guard:
        descriptor = _open_for_good(path)
        refused = descriptor is not None and not _set_lock(descriptor, kind)
        try:
            yield refused
        finally:
            if descriptor is not None:
                _set_lock(descriptor, fcntl.F_UNLCK)


def _set_lock(descriptor: int, kind: int) -> bool:
    """A lock of the open file and not of the process, so that it also excludes SQLite in this process."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, pack("hhqqi4x", kind, os.SEEK_SET, *_SHARED_BYTES, 0))
    except BlockingIOError:
        return False
    return True


def _open_for_good(path: Path) -> int | None:
    """A descriptor that stays open as long as the process; each file needs one. None if it cannot be had."""
    number = _number(str(path))
    if number is not None and number not in _descriptors:
        with suppress(OSError):
            _descriptors[number] = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    return None if number is None else _descriptors.get(number)


def _number(path: str, follow_links: bool = True) -> tuple[int, int] | None:
    try:
        found = os.stat(path, follow_symlinks=follow_links)  # noqa: PTH116 - called often: a Path costs more than the call
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def put_in_place(path: Path, draft: Path, saved: Head) -> None:
    """Move the old files aside and the new ones to their names.

    There is an anchor all the time, and it remembers entries. So a ledger that is cut off between two steps opens only
    if it is the restored one, and restoring again is sound.
    """
    anchor, aside = Anchor(path), _find_free_name(path)
    if anchor.exists():
        os.link(anchor.path, Anchor(aside).path)
    else:
        anchor.create(saved)
    for suffix in SUFFIXES:
        old = Path(f"{path}{suffix}")
        if old.exists():
            old.rename(f"{aside}{suffix}")
    failpoint("old-moved")
    draft.rename(path)
    failpoint("draft-moved")
    anchor.create(Anchor(draft).read())


def in_use_refusal() -> Refusal:
    """The refusal to replace what others have open."""
    return Refusal("The ledger", "is in use", "stop every process that uses it, then restore again")


def _find_free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.replaced-{number}") for number in count(1))
    return next(name for name in names if not name.exists() and not Anchor(name).exists())
