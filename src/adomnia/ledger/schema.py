"""The ledger's tables, one of entries and one of answers, and what their errors mean to an owner."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import sqlite
from adomnia.ledger.chain import GENESIS, Anchor, MemoryAnchor, damage_refusal
from adomnia.ledger.failpoints import failpoint
from adomnia.ledger.files import FilesReplacedError
from adomnia.ledger.records import StoreError
from adomnia.ledger.sqlite import FileFormat, Trouble

ERRORS = (sqlite3.Error, OSError, StoreError)  # of what a ledger is kept in

# What entries are looked up by is derived from their text and stored nowhere else: one truth, and it is hashed.
_TABLES = (
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
)
LEDGER_FILE = "ledger.sqlite"  # what the log calls it, wherever it is
_AGAIN = "then ask again"
_TROUBLES = {
    sqlite3.SQLITE_FULL: Trouble("has no room left on its disk", f"free some space, {_AGAIN}"),
    sqlite3.SQLITE_BUSY: Trouble("is locked by another program", f"wait for that program or end it, {_AGAIN}"),
    sqlite3.SQLITE_READONLY: Trouble("may not be written", f"let this process write it and its folder, {_AGAIN}"),
    sqlite3.SQLITE_CANTOPEN: Trouble("cannot be opened or created", f"let this process write its folder, {_AGAIN}"),
    sqlite3.SQLITE_IOERR: Trouble("cannot be read or written", f"see the log and repair its disk, {_AGAIN}"),
    sqlite3.SQLITE_PROTOCOL: Trouble(
        "had its files removed or replaced while it was open",
        f"let nobody touch the files of a ledger in use, {_AGAIN}",
    ),
    sqlite3.SQLITE_NOTADB: Trouble("is not a database", "name the file of a ledger, or one that does not exist yet"),
    sqlite3.SQLITE_CORRUPT: Trouble("is damaged", "restore the newest backup: `adomnia ledger restore`"),
}
LEDGER_FORMAT = FileFormat(
    name="The ledger",
    application_id=0x41644F6D,  # "AdOm"
    version=1,
    tables=_TABLES,
    troubles=_TROUBLES,
    unknown_trouble=Trouble("met an error that only its log names", f"find the cause in the log, {_AGAIN}"),
    fix_if_foreign="name a file that does not exist yet",
)
# Whoever pays holds the anchor: who keeps a payment from SQLite's own lock is another program, and rarely a quick one.
PAYING_FORMAT = replace(LEDGER_FORMAT, busy_seconds=1.0)


def explain_error(error: Exception) -> Unavailable:
    """Turn an error of what the ledger is kept in into one for its owner."""
    if isinstance(error, StoreError):
        return Unavailable(LEDGER_FORMAT.name, *error.trouble)
    return sqlite.explain_error(error, LEDGER_FORMAT)


@contextmanager
def explain_errors() -> Iterator[None]:
    """Raise errors of what the ledger is kept in as those for its owner."""
    try:
        yield
    except ERRORS as error:
        raise explain_error(error) from error


def name_error(error: Exception) -> str:
    """The name of an error for the log, such as SQLITE_IOERR_FSYNC, ENOSPC or DiskFull."""
    return error.name if isinstance(error, StoreError) else sqlite.name_error(error)


def name_file(error: Exception) -> str:
    """Where an error was met: the file that it is about, without its folder, or the server."""
    return "PostgreSQL" if isinstance(error, StoreError) else sqlite.name_file(error, LEDGER_FILE)


def is_transient(error: Exception) -> bool:
    """Whether nothing was written, and trying again is sound as things are."""
    return error.transient if isinstance(error, StoreError) else sqlite.is_transient(error)


def is_full(error: Exception) -> bool:
    """Whether there was no room; what needs less may still find some, and what is there can be read."""
    return error.full if isinstance(error, StoreError) else sqlite.is_full(error)


def is_unwritten(error: Exception) -> bool:
    """Whether nothing was written, so that trying again is sound, perhaps after opening it anew."""
    return (
        (isinstance(error, StoreError) and error.unwritten)
        or is_transient(error)
        or isinstance(error, FilesReplacedError)
    )


def leaves_doubt(error: Exception) -> bool:
    """Whether it has to be opened anew, and found out what is durable, before anything is granted."""
    return isinstance(error, ERRORS) and not is_transient(error)


def create_tables(connection: sqlite3.Connection, anchor: Anchor | MemoryAnchor) -> None:
    """Create the tables of an empty ledger, inside a transaction and after the anchor."""
    if not sqlite.is_new(connection, LEDGER_FORMAT):
        return
    if isinstance(anchor, Anchor) and not anchor.exists():
        anchor.create(GENESIS)
    if anchor.read() != GENESIS:
        raise empty_refusal()
    sqlite.create_tables(connection, LEDGER_FORMAT)
    failpoint("schema-created")


def check_existence(path: Path) -> None:
    """Refuse a database that is gone, although its anchor remembers entries."""
    if not path.exists() or not path.stat().st_size:
        raise empty_refusal()


def check_contents(connection: sqlite3.Connection) -> None:
    """Refuse a database that has no tables, although its anchor remembers entries."""
    if sqlite.is_new(connection, LEDGER_FORMAT):
        raise empty_refusal()


def empty_refusal() -> Refusal:
    """The refusal of a ledger that is gone, although its anchor remembers entries."""
    return damage_refusal("is empty, but its anchor remembers entries")
