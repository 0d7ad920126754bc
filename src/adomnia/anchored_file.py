"""A SQLite file that processes share, and an anchor beside it: what was reported as done is never undone unnoticed.

The file has a rollback journal and no write-ahead log: what was committed is in the file itself, and SQLite's other
files may be removed at any time. The anchor names the newest change. Whoever reads or writes compares the two, so that
nobody goes by a file that lacks a change; docs/decisions/0034-users-have-a-rollback-journal-and-an-anchor.md.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger.chain import lock_open_file
from adomnia.ledger.files import FilesReplacedError, identify, identify_open
from adomnia.ledger.sqlite import (
    check_writable,
    connect_checked,
    create_tables,
    execute_patiently,
    is_busy,
    is_new,
    leaves_doubt,
    retry_while_busy,
    upgrade_tables,
    write_transaction,
)
from adomnia.noise import SystemBits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adomnia.ledger.sqlite import FileFormat

MARKS = "CREATE TABLE marks (number INTEGER PRIMARY KEY, name TEXT NOT NULL)"
"""The table of the newest changes, which every format of such a file has."""
_KEPT = 1000  # changes: so long can a process find out that a copy went its own way
_ANCHOR, _JOURNAL, _LOG = ".anchor", "-journal", "-wal"
_NAMES = ("", _ANCHOR, _LOG)  # the last is nobody's: SQLite would take it for newer than the file
_LINE = re.compile(r"([0-9]{20}) ([0-9a-f]{32})\n")
_Result = TypeVar("_Result")


class Mark(NamedTuple):
    """A change of the file: its number, and a random name, which no change of another copy has."""

    number: int
    name: str


_NOTHING = Mark(0, "")  # what an anchor says that was just made


class Memory:
    """The newest change that a process has seen; all its connections to one file go by the same."""

    def __init__(self) -> None:
        self.newest = _NOTHING


class AnchoredFile:
    """A connection to the file, used by one thread at a time, and opened again when its files are not the same.

    `prepare` is called in a transaction whenever the file is opened. Nothing is made in the place of a file that is
    gone: its anchor, or this process, remembers that there was one.
    """

    def __init__(
        self,
        path: Path,
        file_format: FileFormat,
        prepare: Callable[[sqlite3.Connection], None] = lambda _: None,
        memory: Memory | None = None,
    ) -> None:
        self._path, self._format, self._prepare = path, file_format, prepare
        self._anchor = _Anchor(Path(f"{path}{_ANCHOR}"))
        self._lock, self._ended, self._memory = Lock(), False, memory or Memory()
        self._files: tuple[tuple[int, int] | None, ...] = ()
        self._connection: sqlite3.Connection | None = None
        self._connect()

    def may_wait(self) -> bool:
        """Whether reading may have to wait: somebody is just writing, or the file has to be opened again."""
        return self._identify(_JOURNAL) != (*self._files, None)

    def read(self, look: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Look at a snapshot that has every change which was reported as done before."""
        return retry_while_busy(lambda: self._read(look), self._format)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """The only write transaction there is, in any process: durable and in the anchor at its end, or an error."""
        with self._lock, self._letting_go():
            connection = self._connect()
            with self._anchor.lock() as anchor:
                with write_transaction(connection, self._format):
                    newest = self._compare(connection, _read_marks(connection), anchor.mark)
                    anchor.advance(newest)  # before the next change, so that the file is never two ahead of it
                    self._check_files()
                    check_writable(self._path)
                    yield connection
                    mark = _add_mark(connection, newest)
                self._check_files()  # else it went into a file that nobody will find again
                anchor.advance(mark)
                self._memory.newest = mark

    def rewrite(self) -> None:
        """Write the whole file anew: rows in the order of their keys, whenever they came, and nothing that was deleted.

        No change comes of it, so the anchor stays where it is. Who is killed while it lasts leaves the file as it was.
        """
        with self._lock, self._letting_go():
            connection = self._connect()
            with self._anchor.lock() as anchor:
                self._compare(connection, _read_marks(connection), anchor.mark)
                check_writable(self._path)
                connection.execute("PRAGMA temp_store = MEMORY")  # the copy is in no other file meanwhile
                execute_patiently(connection, self._format, "VACUUM")
                self._check_files()

    def close(self) -> None:
        """Close the file for good."""
        with self._lock:
            self._ended = True
            self._let_go()

    def _read(self, look: Callable[[sqlite3.Connection], _Result]) -> _Result:
        with self._lock, self._letting_go():
            connection = self._connect()
            connection.execute("BEGIN")
            try:
                marks = _read_marks(connection)
                # Nobody commits while this transaction lasts, so the anchor cannot have gone past these marks.
                self._compare(connection, marks, self._anchor.read())
                return look(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _connect(self) -> sqlite3.Connection:
        """The connection to the files that stand at their names now."""
        if self._ended:
            raise sqlite3.ProgrammingError("closed")
        if self._connection is not None and self._identify() != self._files:
            self._let_go()
        if self._connection is None:
            self._open()
        assert self._connection is not None  # noqa: S101 - for the type checker
        return self._connection

    def _open(self) -> None:
        if self._path.is_symlink():  # SQLite would look for a journal and a log beside the file that it leads to
            why, fix = "is a symbolic link", "put the file itself in its place"
            raise Unavailable(self._format.name, why, fix, self._format.code)
        with self._anchor.lock() as anchor:
            is_first = max(anchor.mark, self._memory.newest) == _NOTHING
            database, _, log = self._identify()
            if not is_first and (database is None or log is not None):
                raise FilesReplacedError
            connection = connect_checked(self._path, self._format, _keep_journal)
            try:
                with write_transaction(connection, self._format):
                    _make_tables(connection, self._format)
                    marks = _read_marks(connection) or [_add_mark(connection, _NOTHING)]
                    newest = self._compare(connection, marks, anchor.mark)
                    self._prepare(connection)
                identify_open(self._path, ("",))
                anchor.advance(newest)
            except BaseException:
                connection.close()
                raise
            self._connection, self._files = connection, self._identify()

    def _compare(self, connection: sqlite3.Connection, marks: list[Mark], anchored: Mark) -> Mark:
        """The newest change; an error if the anchor, or this process, knows of one that the file does not have."""
        newest = marks[0] if marks else _NOTHING
        is_behind = anchored not in {*marks, _NOTHING}
        if is_behind or _lacks(connection, newest, self._memory.newest):
            raise FilesReplacedError
        self._memory.newest = newest
        return newest

    def _check_files(self) -> None:
        if self._identify() != self._files:
            raise FilesReplacedError

    def _identify(self, *others: str) -> tuple[tuple[int, int] | None, ...]:
        return identify(self._path, (*_NAMES, *others), follow_links=False)

    @contextmanager
    def _letting_go(self) -> Iterator[None]:
        """Let go of a connection whose state nobody knows after an error."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if leaves_doubt(error):
                self._let_go()
            raise

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._files = None, ()


class _LockedAnchor:
    """The anchor while nobody else may move it: the change that it names."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor, self._path = descriptor, path
        self._check()
        self.mark = _decode(os.pread(descriptor, 100, 0))

    def advance(self, mark: Mark) -> None:
        """Name a later change, durably; in place and in equally many bytes, so that a kill cannot leave half of it."""
        if mark != self.mark:
            os.pwrite(self._descriptor, f"{mark.number:020d} {mark.name}\n".encode(), 0)
        self._check()
        self.mark = mark

    def _check(self) -> None:
        """Raise an error if another file has its name: others would lock and read that one."""
        found = os.fstat(self._descriptor)
        if identify(self._path, ("",)) != ((found.st_dev, found.st_ino),):
            raise FilesReplacedError


class _Anchor:
    """A file beside the database that names its newest change, or the one before while that is being reported.

    Without it the database is taken as it is, and it is made again: alone it cannot tell that both were put back.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Mark:
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise FilesReplacedError from None
        try:
            return _decode(os.read(descriptor, 100))
        finally:
            os.close(descriptor)

    @contextmanager
    def lock(self) -> Iterator[_LockedAnchor]:
        """Hold it against every other thread and process."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_DSYNC, 0o600)
        with lock_open_file(descriptor):
            yield _LockedAnchor(descriptor, self._path)


def _decode(content: bytes) -> Mark:
    match = _LINE.fullmatch(content.decode("ascii", "replace"))
    if match is None and content:
        raise FilesReplacedError
    return _NOTHING if match is None else Mark(int(match[1]), match[2])


def _keep_journal(connection: sqlite3.Connection, file_format: FileFormat) -> None:
    """Let commits be durable with a rollback journal; a file of an earlier version has a log until then."""
    try:
        execute_patiently(connection, file_format, "PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        if is_busy(error):
            why, fix = "is still open in an earlier version of this program", "end that one, then try again"
            raise Refusal(file_format.name, why, fix, code=file_format.code) from error
        raise
    # Also wait until the disk knows that the journal is gone: it would undo the change after a power cut.
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA fullfsync = ON")  # of effect on macOS alone, where an fsync does not reach the disk


def _make_tables(connection: sqlite3.Connection, file_format: FileFormat) -> None:
    if is_new(connection, file_format):
        create_tables(connection, file_format)
    else:
        upgrade_tables(connection, file_format)


def _read_marks(connection: sqlite3.Connection) -> list[Mark]:
    """The newest change and the one before it."""
    rows = connection.execute("SELECT number, name FROM marks ORDER BY number DESC LIMIT 2").fetchall()
    return [Mark(*row) for row in rows]


def _lacks(connection: sqlite3.Connection, newest: Mark, seen: Mark) -> bool:
    """Whether a file does not have a change; of one that is too long ago to be kept nobody knows."""
    if newest.number <= seen.number:
        return newest != seen
    named = connection.execute("SELECT name FROM marks WHERE number = ?", (seen.number,)).fetchone()
    return named not in {None, (seen.name,)}


def _add_mark(connection: sqlite3.Connection, newest: Mark) -> Mark:
    mark = Mark(newest.number + 1, SystemBits().words(2).tobytes().hex())
    connection.execute("INSERT INTO marks VALUES (?, ?)", mark)
    connection.execute("DELETE FROM marks WHERE number <= ?", (mark.number - _KEPT,))
    return mark
