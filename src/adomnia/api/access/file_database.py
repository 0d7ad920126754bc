"""The file access.sqlite: its tables, reading them, and changing them in transactions."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adomnia.anchored_file import MARKS, AnchoredFile, Memory
from adomnia.api.access.database import AccessTransaction, Database, run_now
from adomnia.ledger.sqlite import FileFormat, Trouble, explain_error, name_error, name_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from adomnia.api.access.database import Clock

_CODE = "access"
_RESTORE = "put back a backup of it, or move it away and add the users again"
# Files of version 1 that were made before there were shares get the table when they are opened.
_SHARES = (
    """CREATE TABLE IF NOT EXISTS shares (
        id TEXT PRIMARY KEY, user TEXT NOT NULL, digest BLOB NOT NULL, request_id TEXT NOT NULL, created REAL NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS shares_of ON shares (user)",
)
_TABLES = (
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
    *_SHARES,
    MARKS,
)
_TROUBLES = {
    sqlite3.SQLITE_FULL: Trouble("has no room left on its disk", "free some space, then try again", _CODE),
    sqlite3.SQLITE_BUSY: Trouble(
        "is locked by another program", "wait for that program or end it, then try again", "busy"
    ),
    sqlite3.SQLITE_READONLY: Trouble("may not be written", "let this process write it and its folder", _CODE),
    sqlite3.SQLITE_CANTOPEN: Trouble("cannot be opened or created", "let this process write its folder", _CODE),
    sqlite3.SQLITE_PROTOCOL: Trouble(
        "was moved, removed or replaced by an older copy, or an old -wal file was put beside it",
        "put back the file that was last in use; docs/access.md says how to go on with an older one",
        _CODE,
    ),
    sqlite3.SQLITE_NOTADB: Trouble("is not a database", _RESTORE, _CODE),
    sqlite3.SQLITE_CORRUPT: Trouble("is damaged", _RESTORE, _CODE),
    sqlite3.SQLITE_ERROR: Trouble("has not the tables it was made with", _RESTORE, _CODE),
}
ACCESS_FORMAT = FileFormat(
    name="The file of users, access.sqlite,",
    application_id=0x41644163,  # "AdAc"
    version=2,
    tables=_TABLES,
    upgrades={1: (*_SHARES, MARKS)},
    troubles=_TROUBLES,
    unknown_trouble=Trouble(
        "cannot be used because of an error that only the log names", "find the cause in the log", _CODE
    ),
    fix_if_foreign=_RESTORE,
    code=_CODE,
    busy_seconds=10.0,
)
_log = logging.getLogger("adomnia.access")


class FileDatabase(Database):
    """The open file, with one connection for reading and one for writing."""

    def __init__(self, path: Path, clock: Clock, defer: Callable[[Callable[[], None]], object] = run_now) -> None:
        super().__init__(clock, defer)
        self._told: str | None = None  # the error that the log has since the last success
        with self._explain_errors():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            memory = Memory()  # one for both: else whoever only tries to sign in could write on into an older copy
            self._writer = AnchoredFile(path, ACCESS_FORMAT, memory=memory)
            try:
                self._reader = AnchoredFile(path, ACCESS_FORMAT, memory=memory)
            except BaseException:
                self._writer.close()
                raise

    def may_wait(self) -> bool:
        """Only while somebody writes, or if the file has to be opened again."""
        return self._reader.may_wait()

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """All rows of a query, including what other processes have committed."""
        with self._explain_errors():
            return self._reader.read(lambda connection: connection.execute(statement, values).fetchall())

    @contextmanager
    def transaction(self) -> Iterator[AccessTransaction]:
        """A write transaction, undone as a whole if it fails and durable at its end; it also records the time."""
        with self._explain_errors(), self._writer.write() as connection:
            latest = connection.execute("SELECT latest FROM clock").fetchone()[0]
            transaction = AccessTransaction(connection.execute, self._clock.now(latest))
            transaction.run("UPDATE clock SET latest = ?", transaction.now)
            yield transaction

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
        self._writer.close()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Turn errors of the file into ones for the owner; the log has their names, each once until it is over."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            name = name_error(error)
            if name != self._told:
                _log.error("The file of users is in trouble: %s, %s", name, name_file(error, "access.sqlite"))
            self._told = name
            raise explain_error(error, ACCESS_FORMAT) from error
        self._told = None
