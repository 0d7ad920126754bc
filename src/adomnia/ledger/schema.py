"""The ledger's tables, one of entries and one of answers, and what their errors mean to an owner."""

import sqlite3

from adomnia.errors import Refusal
from adomnia.ledger import sqlite
from adomnia.ledger.anchor import Anchor, MemoryAnchor
from adomnia.ledger.chain import GENESIS, damage_refusal
from adomnia.ledger.failpoints import reach
from adomnia.ledger.sqlite import FileFormat, Trouble

__all__ = ["LEDGER_FORMAT", "create_tables", "explain_error"]

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
_REOPEN = "then open it again"
_TROUBLES = {
    sqlite3.SQLITE_FULL: Trouble("has no room left on its disk", "free some space, then ask again"),
    sqlite3.SQLITE_BUSY: Trouble("is locked by another program", "wait for that program or end it, then ask again"),
    sqlite3.SQLITE_READONLY: Trouble("may not be written", f"let this process write it and its folder, {_REOPEN}"),
    sqlite3.SQLITE_CANTOPEN: Trouble("cannot be opened or created", f"let this process write its folder, {_REOPEN}"),
    sqlite3.SQLITE_NOTADB: Trouble("is not a database", "name the file of a ledger, or one that does not exist yet"),
    sqlite3.SQLITE_CORRUPT: Trouble("is damaged", "restore the newest backup: `adomnia ledger restore`"),
}
LEDGER_FORMAT = FileFormat(
    name="The ledger",
    application_id=0x41644F6D,  # "AdOm"
    version=1,
    tables=_TABLES,
    troubles=_TROUBLES,
    unknown_trouble=Trouble("stopped after an error that only its log names", f"find the cause in the log, {_REOPEN}"),
    fix_if_foreign="name a file that does not exist yet",
)


def explain_error(error: Exception) -> Refusal:
    """Turn an error of the ledger's file into a refusal for the owner."""
    return sqlite.explain_error(error, LEDGER_FORMAT)


def create_tables(connection: sqlite3.Connection, anchor: Anchor | MemoryAnchor) -> None:
    """Create the tables of an empty ledger, inside a transaction and after the anchor."""
    if not sqlite.is_new(connection, LEDGER_FORMAT):
        return
    if isinstance(anchor, Anchor) and not anchor.exists():
        anchor.create(GENESIS)
    if anchor.read() != GENESIS:
        raise damage_refusal("is empty, but its anchor remembers entries")
    sqlite.create_tables(connection, LEDGER_FORMAT)
    reach("schema-created")
