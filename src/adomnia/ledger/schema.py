"""The SQLite side: one table of entries, one of answers, and what its errors mean to an owner."""

import errno
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from adomnia.errors import Refusal
from adomnia.ledger.chain import GENESIS, Anchor, broken
from adomnia.ledger.failpoints import reach

__all__ = ["begin", "connect", "explained", "passes", "prepare", "reading", "touch"]

BUSY_SECONDS = 30.0
_POLL_SECONDS = 0.0005  # SQLite's own waiting sleeps up to 100 ms, a hundred times as long as a transaction takes

_APPLICATION = 0x41644F6D  # "AdOm"
_FORMAT = 1

# What entries are looked up by is derived from their text and stored nowhere else: one truth, and it is hashed.
_SCHEMA = (
    """CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY,
        body TEXT NOT NULL,
        kind TEXT AS (json_extract(body, '$.kind')),
        analyst TEXT AS (json_extract(body, '$.analyst')),
        request_id TEXT AS (json_extract(body, '$.request_id')),
        plan TEXT AS (json_extract(body, '$.plan'))
    )""",
    "CREATE UNIQUE INDEX debits ON entries (request_id) WHERE kind = 'reserve'",
    "CREATE UNIQUE INDEX answers ON entries (request_id) WHERE kind = 'commit'",
    "CREATE INDEX plans ON entries (plan) WHERE kind = 'commit'",
    "CREATE INDEX analysts ON entries (analyst) WHERE kind = 'commit'",
    "CREATE TABLE payloads (digest TEXT PRIMARY KEY, payload BLOB NOT NULL)",
    "CREATE TRIGGER entries_stay BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END",
    "CREATE TRIGGER entries_keep BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END",
    "CREATE TRIGGER payloads_stay BEFORE DELETE ON payloads BEGIN SELECT RAISE(ABORT, 'append only'); END",
    "CREATE TRIGGER payloads_keep BEFORE UPDATE ON payloads BEGIN SELECT RAISE(ABORT, 'append only'); END",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_FORMAT}",
)

_ASK_AGAIN = {
    sqlite3.SQLITE_FULL: ("has no room left on its disk", "free some space, then ask again"),
    sqlite3.SQLITE_BUSY: ("is locked by another program", "wait for that program or end it, then ask again"),
}
_OPEN_AGAIN = {
    sqlite3.SQLITE_READONLY: (
        "may not be written",
        "let this process write it and its folder, then open it again",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened or created",
        "let this process write its folder, then open it again",
    ),
    sqlite3.SQLITE_NOTADB: ("is not a database", "name the file of a ledger, or one that does not exist yet"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "put back the newest backup of the database together with its anchor"),
}
_ERRNO = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), sqlite3.SQLITE_FULL),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), sqlite3.SQLITE_READONLY),
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.EISDIR), sqlite3.SQLITE_CANTOPEN),
}
_UNKNOWN = ("stopped after an error that only its log names", "find the cause in the log, then open it again")


def explained(error: Exception) -> Refusal:
    """What to tell the owner; an error's own text is for the log alone."""
    if isinstance(error, Refusal):
        return Refusal(error.what, error.why, error.fix, code=error.code)
    why, fix = {**_ASK_AGAIN, **_OPEN_AGAIN}.get(_code(error), _UNKNOWN)
    return Refusal("The ledger", why, fix)


def passes(error: Exception) -> bool:
    """Whether nothing was written and trying again is sound; after a failed fsync, say, it is not."""
    return isinstance(error, sqlite3.Error) and _code(error) in _ASK_AGAIN


def _code(error: Exception) -> int:
    if isinstance(error, OSError):
        return _ERRNO.get(error.errno or 0, 0)
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF  # the rest of an extended code is a detail


def connect(path: Path | None) -> sqlite3.Connection:
    """A connection that commits durably; None is a ledger in memory. Whoever uses it sees to one thread at a time."""
    if path is None:
        return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    touch(path)
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        _make_durable(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def touch(path: Path) -> None:
    """See to a file for its owner alone; SQLite gives its other files the same mode.

    Never through a descriptor: closing one would end every lock that SQLite holds on the file for this process, and the
    next process to leave would take the log away under it.
    """
    with suppress(FileExistsError):
        os.mknod(path)
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=True):
        raise PermissionError(errno.EACCES, "may not be written")


def _make_durable(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")  # one view of the file: another process may be creating it
    _is_new(connection)  # before the first change: what is not a ledger stays as it was
    connection.execute("COMMIT")
    if _patiently(connection, "PRAGMA journal_mode = WAL") != "wal":
        # In the other modes a power cut can undo a transaction that was reported as done.
        raise Refusal("The ledger", "is on a disk that cannot keep a write-ahead log", "put it on a local disk")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # of effect on macOS alone, where an fsync does not reach the disk


def reading(path: Path) -> sqlite3.Connection:
    """A connection that sees the ledger as it is at its first query, and cannot write."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection.execute("BEGIN")
    return connection


def begin(connection: sqlite3.Connection) -> None:
    """Start the only write transaction there is, in any process."""
    reach("before-begin")
    _patiently(connection, "BEGIN IMMEDIATE")


def prepare(connection: sqlite3.Connection, anchor: Anchor | None) -> None:
    """Create the tables where there are none, inside a transaction and after the anchor."""
    if not _is_new(connection):
        return
    if anchor is not None and not anchor.path.exists():
        anchor.create(GENESIS)
    if anchor is not None and anchor.read() != GENESIS:
        raise broken("is empty, but its anchor remembers entries")
    for statement in _SCHEMA:
        connection.execute(statement)
    reach("schema-created")


def _is_new(connection: sqlite3.Connection) -> bool:
    facts = "application_id", "user_version", "schema_version"
    application, version, changes = (_patiently(connection, f"PRAGMA {fact}") for fact in facts)
    if application == _APPLICATION and version != _FORMAT:
        raise Refusal("The ledger", f"has format {version}, not {_FORMAT}", "open it with the version that wrote it")
    if application != _APPLICATION and (application or version or changes):
        raise Refusal("The ledger", "is another program's database", "name a file that does not exist yet")
    return bool(application != _APPLICATION)


def _patiently(connection: sqlite3.Connection, statement: str) -> Any:  # noqa: ANN401 - whatever a pragma may be
    """The first value that a statement gives which may have to wait for another process."""
    deadline = monotonic() + BUSY_SECONDS
    while True:
        try:
            row = connection.execute(statement).fetchone()
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or monotonic() >= deadline:
                raise
            sleep(_POLL_SECONDS)
        else:
            return row and row[0]
