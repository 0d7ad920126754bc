"""The file behind it all: SQLite, for many threads of many processes at once."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.ledger.schema import touch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from adomnia.server.access.clock import Clock

__all__ = ["Database", "Page", "at_once"]

_BUSY_SECONDS = 10.0
_POLL_SECONDS = 0.001
_KEPT_SECONDS = 60.0  # how often the time is written down where nothing else changes
_APPLICATION = 0x41644163  # "AdAc"
_FORMAT = 1
_SCHEMA = (
    """CREATE TABLE users (
        name TEXT PRIMARY KEY, role TEXT NOT NULL, password TEXT, created REAL NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE tokens (
        id TEXT PRIMARY KEY, user TEXT NOT NULL, digest BLOB NOT NULL, label TEXT NOT NULL,
        created REAL NOT NULL, expires REAL, revoked INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID""",
    """CREATE TABLE visits (
        id TEXT PRIMARY KEY, user TEXT NOT NULL, digest BLOB NOT NULL, expires REAL NOT NULL, used REAL NOT NULL
    ) WITHOUT ROWID""",
    "CREATE TABLE links (user TEXT PRIMARY KEY, id TEXT NOT NULL, digest BLOB NOT NULL, expires REAL NOT NULL)",
    "CREATE TABLE attempts (id INTEGER PRIMARY KEY, at REAL NOT NULL, name BLOB, address BLOB NOT NULL)",
    "CREATE TABLE clock (latest REAL NOT NULL)",
    "INSERT INTO clock VALUES (0)",
    "CREATE INDEX tokens_of ON tokens (user)",
    "CREATE INDEX visits_of ON visits (user)",
    "CREATE UNIQUE INDEX link_ids ON links (id)",
    "CREATE INDEX attempts_on ON attempts (name)",
    "CREATE INDEX attempts_from ON attempts (address)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_FORMAT}",
)

_WHAT = "The file of users, access.sqlite,"
_RESTORE = "put back a backup of it, or move it away and add the users again"
_TROUBLES = {
    sqlite3.SQLITE_FULL: ("has no room left on its disk", "free some space, then try again", "access"),
    sqlite3.SQLITE_BUSY: ("is locked by another program", "wait for that program or end it, then try again", "busy"),
    sqlite3.SQLITE_READONLY: ("may not be written", "let this process write it and its folder", "access"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened or created", "let this process write its folder", "access"),
    sqlite3.SQLITE_NOTADB: ("is not a database", _RESTORE, "access"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", _RESTORE, "access"),
    sqlite3.SQLITE_ERROR: ("has not the tables it was made with", _RESTORE, "access"),
}
_UNKNOWN = ("cannot be used because of an error that only the log names", "find the cause in the log", "access")
_log = logging.getLogger("adomnia.access")


@dataclass(frozen=True)
class Page:
    """The file inside a transaction that is the only one to write, and the time at which it began."""

    connection: sqlite3.Connection
    now: float

    def run(self, statement: str, *values: object) -> int:
        """Change rows; how many were changed."""
        return self.connection.execute(statement, values).rowcount

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """The first row, if there is one."""
        found: tuple[Any, ...] | None = self.connection.execute(statement, values).fetchone()
        return found


def at_once(work: Callable[[], None]) -> None:
    work()


class Database:
    """Two connections: reading never waits for those who write, here or in another process.

    `later` is given what need not be written before anything else happens.
    """

    def __init__(self, path: Path, clock: Clock, later: Callable[[Callable[[], None]], object] = at_once) -> None:
        self._clock, self._later = clock, later
        self._noted: set[str] = set()
        self._reading, self._writing = Lock(), Lock()
        with _explained():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            touch(path)
            self._writer = _connect(path)
            try:
                _prepare(self._writer)
                self._reader = _connect(path)
            except BaseException:
                self._writer.close()
                raise

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What a query finds, as it is at this moment in all processes."""
        with _explained(), self._reading:
            return self._reader.execute(statement, values).fetchall()

    def one(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        found = self.rows(statement, *values)
        return found[0] if found else None

    @contextmanager
    def change(self) -> Iterator[Page]:
        """A transaction, whole or not at all, and durable at its end; it writes down the time."""
        with _explained(), self._writing:
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            try:
                latest = connection.execute("SELECT latest FROM clock").fetchone()[0]
                page = Page(connection, self._clock.now(latest))
                connection.execute("UPDATE clock SET latest = ?", (page.now,))
                yield page
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def now(self, latest: float) -> float:
        """The time, given the latest one on record; written down once a minute."""
        now = self._clock.now(latest)
        if now - latest >= _KEPT_SECONDS:
            self.keep_time()
        return now

    def keep_time(self) -> None:
        """Have the time written down, so that what has expired by now stays so."""
        self.note("time", lambda _page: None)

    def note(self, name: str, write: Callable[[Page], None]) -> None:
        """Have something written down that nobody waits for, not twice at a time."""
        if name not in self._noted:
            self._noted.add(name)
            self._later(lambda: self._write(name, write))

    def _write(self, name: str, write: Callable[[Page], None]) -> None:
        try:
            with suppress(Refusal), self.change() as page:  # the log has it, and the next request notes it again
                write(page)
        finally:
            self._noted.discard(name)

    def close(self) -> None:
        """Let go of the file."""
        with self._reading, self._writing:
            self._reader.close()
            self._writer.close()


@contextmanager
def _explained() -> Iterator[None]:
    """What goes wrong with the file as something an owner can mend; the log has SQLite's name for it."""
    try:
        yield
    except sqlite3.Error as error:
        _log.error("access.sqlite: %s", getattr(error, "sqlite_errorname", type(error).__name__))
        # The rest of an extended code is a detail.
        why, fix, code = _TROUBLES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, _UNKNOWN)
        raise Refusal(_WHAT, why, fix, code=code) from error
    except OSError as error:
        why, fix, code = _TROUBLES[sqlite3.SQLITE_CANTOPEN]
        raise Refusal(_WHAT, why, fix, code=code) from error


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = FULL")  # a token that was revoked stays so after a power cut
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    """Create the tables where there are none; leave what is not ours as it was."""
    connection.execute("BEGIN")  # one view of the file: another process may be creating it
    _is_new(connection)
    connection.execute("COMMIT")
    _patiently(connection, "PRAGMA journal_mode = WAL")
    _patiently(connection, "BEGIN IMMEDIATE")
    try:
        if _is_new(connection):
            for statement in _SCHEMA:
                connection.execute(statement)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_new(connection: sqlite3.Connection) -> bool:
    facts = "application_id", "user_version", "schema_version"
    application, version, changes = (_patiently(connection, f"PRAGMA {fact}") for fact in facts)
    if application == _APPLICATION and version != _FORMAT:
        why = f"has format {version}, not {_FORMAT}"
        raise Refusal(_WHAT, why, "open it with the version that wrote it", code="access")
    if application != _APPLICATION and (application or version or changes):
        raise Refusal(_WHAT, "is another program's database", _RESTORE, code="access")
    return bool(application != _APPLICATION)


def _patiently(connection: sqlite3.Connection, statement: str) -> Any:  # noqa: ANN401 - whatever a pragma may be
    """The first value of a statement for which SQLite itself does not always wait."""
    deadline = monotonic() + _BUSY_SECONDS
    while True:
        try:
            row = connection.execute(statement).fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() >= deadline:
                raise
            sleep(_POLL_SECONDS)
        else:
            return row and row[0]
