"""The tables of a ledger in PostgreSQL, and the statements that find their rows by an index.

They are in a schema of their own, append-only, which says what it is and whose. What requests are looked up by stands
in columns beside the text of an entry; `check` compares them with the text.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from typing import Any, TypeAlias

from adomnia.errors import Refusal
from adomnia.ledger.failpoints import failpoint
from adomnia.ledger.records import StoreError
from adomnia.ledger.schema import LEDGER_FORMAT
from adomnia.ledger.sqlite import Trouble
from adomnia.postgres import driver

Connection: TypeAlias = Any  # psycopg.Connection: the driver is imported where there is a URL, and only there

_APPLICATION = "Ad Omnia, ledger"
_NAME = re.compile("[a-z_][a-z0-9_]{0,62}")
_TABLES = """
CREATE SCHEMA {schema};
CREATE TABLE {schema}.format (application text NOT NULL, version integer NOT NULL, dataset text NOT NULL);
CREATE TABLE {schema}.entries (
    sequence bigint PRIMARY KEY,
    body text NOT NULL,
    kind text NOT NULL COLLATE "C",
    analyst text COLLATE "C",
    request_id text COLLATE "C",
    plan text COLLATE "C"
);
CREATE UNIQUE INDEX requests ON {schema}.entries (request_id, kind);
CREATE INDEX plans ON {schema}.entries (plan, sequence) WHERE kind = 'commit';
CREATE INDEX analysts ON {schema}.entries (analyst, sequence) WHERE kind = 'commit';
CREATE TABLE {schema}.payloads (digest text PRIMARY KEY COLLATE "C", payload bytea NOT NULL);
CREATE TABLE {schema}.storage (analyst text PRIMARY KEY COLLATE "C", bytes bigint NOT NULL);
CREATE FUNCTION {schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'append only'; END $$;
CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.entries
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change();
CREATE TRIGGER payloads_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.payloads
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change();
"""
# Where these are not as the connection asked for them, somebody in between has not passed that on.
_PINNED = {"search_path": "pg_catalog", "default_transaction_isolation": "read committed"}
_DURABLE = {"fsync": "on", "synchronous_commit": "on", "server_encoding": "UTF8"}
_STATEMENTS = {
    "bodies": """SELECT sequence, body FROM {s}.entries WHERE sequence > %s AND sequence <= %s
                 ORDER BY sequence LIMIT %s""",
    "newest": "SELECT sequence, body FROM {s}.entries ORDER BY sequence DESC LIMIT 1",
    "checkpoint": """SELECT sequence, body FROM {s}.entries WHERE sequence <= %s AND kind = 'checkpoint'
                     ORDER BY sequence DESC LIMIT 1""",
    "requests": """SELECT kind, request_id, sequence, body FROM {s}.entries
                   WHERE request_id = ANY(%b::text[]) AND kind IN ('reserve', 'commit')""",
    "answered": """SELECT asked.plan, asked.analyst, found.request_id
                   FROM unnest(%b::text[], %b::text[]) AS asked (plan, analyst) CROSS JOIN LATERAL (
                       SELECT request_id FROM {s}.entries AS kept WHERE kind = 'commit' AND kept.plan = asked.plan
                       ORDER BY (kept.analyst IS NOT DISTINCT FROM asked.analyst) DESC, sequence LIMIT 1) AS found""",
    "touch": "UPDATE {s}.format SET version = version",
    "payload": "SELECT payload FROM {s}.payloads WHERE digest = %s",
    "payloads": "SELECT COUNT(*) FROM {s}.payloads",
    "restorations": "SELECT body FROM {s}.entries WHERE kind = 'restored' ORDER BY sequence",
    "page": """SELECT kept.sequence, debits.body FROM {s}.entries AS kept
               JOIN {s}.entries AS debits ON debits.kind = 'reserve' AND debits.request_id = kept.request_id
               WHERE kept.kind = 'commit' AND kept.analyst = %s AND kept.sequence > %s
               ORDER BY kept.sequence LIMIT %s""",
    "latest": """SELECT kept.sequence, debits.body FROM {s}.entries AS kept
                 JOIN {s}.entries AS debits ON debits.kind = 'reserve' AND debits.request_id = kept.request_id
                 WHERE kept.kind = 'commit' AND kept.analyst = %s AND kept.sequence > %s
                 ORDER BY kept.sequence DESC LIMIT %s""",
    "unanswered": """SELECT body FROM {s}.entries AS debits
                     WHERE kind = 'reserve' AND request_id > %s AND request_id < %s AND NOT EXISTS (
                         SELECT 1 FROM {s}.entries AS kept
                         WHERE kept.kind = 'commit' AND kept.request_id = debits.request_id
                     ) ORDER BY sequence DESC LIMIT %s""",
    "debits": """SELECT body FROM {s}.entries
                 WHERE kind = 'reserve' AND request_id > %s AND request_id < %s ORDER BY sequence LIMIT %s""",
    "answers": "SELECT COUNT(*) FROM {s}.entries WHERE kind = 'commit' AND analyst = %s",
    "storage": "SELECT analyst, bytes FROM {s}.storage WHERE analyst = ANY(%b::text[])",
    "rows": """SELECT sequence, body, kind, analyst, request_id, plan FROM {s}.entries
               WHERE sequence > %s ORDER BY sequence LIMIT %s""",
    "stored": "SELECT digest, payload FROM {s}.payloads WHERE digest > %s ORDER BY digest LIMIT %s",
    "counts": "SELECT analyst, bytes FROM {s}.storage",
    "add_entries": """INSERT INTO {s}.entries (sequence, body, kind, analyst, request_id, plan)
                      SELECT * FROM unnest(%b::bigint[], %b::text[], %b::text[], %b::text[], %b::text[], %b::text[])""",
    "add_payloads": """INSERT INTO {s}.payloads SELECT * FROM unnest(%b::text[], %b::bytea[])
                       ON CONFLICT DO NOTHING""",
    "add_storage": """INSERT INTO {s}.storage SELECT * FROM unnest(%b::text[], %b::bigint[])
                      ON CONFLICT (analyst) DO UPDATE SET bytes = excluded.bytes""",
}
_AGAIN = "then ask again"
UNREACHABLE = Trouble(
    "cannot be reached in its database",
    f"see that PostgreSQL runs, can be reached and takes more connections, {_AGAIN}",
)
_FULL = Trouble("has no room left in its database", f"free some space on the disk of PostgreSQL, {_AGAIN}")
_BUSY = Trouble("is locked by another program", f"wait for that program or end it, {_AGAIN}")
_READ_ONLY = Trouble(
    "may not be written", f"give its role all rights to its schema, on a server that takes writes, {_AGAIN}"
)
_UNKNOWN = Trouble("met an error that only its log names", f"find the cause in the log, {_AGAIN}")
_LATE = "55P03"
_TROUBLES = {"53": _FULL, _LATE: _BUSY, "57014": _BUSY, "40": _BUSY, "42501": _READ_ONLY, "25006": _READ_ONLY}
_LOST = ("08", "57P", "25P03")  # the connection is gone, or about to be


def check_schema_name(name: str) -> None:
    """Refuse a name that would have to be quoted."""
    if _NAME.fullmatch(name) is None or name.startswith("pg_"):
        fix = "use up to 63 small letters, digits and _, not beginning with a digit or pg_"
        raise Refusal(f"Schema {name!r}", "is no name for the schema of a ledger", fix)


def lock_number(*about: str) -> int:
    """The number of the advisory lock of a subject: 64 bits of a hash, as PostgreSQL counts them."""
    return int.from_bytes(sha256("\n".join(("adomnia ledger", *about)).encode()).digest()[:8], signed=True)


def check_server(connection: Connection) -> None:
    """Refuse a server that reports transactions as done which a power cut can undo, or that cannot keep any text."""
    for setting, needed in (*_PINNED.items(), *_DURABLE.items()):
        (found,) = connection.execute("SELECT pg_catalog.current_setting(%s)", (setting,)).fetchone()
        if found != needed and setting in _PINNED:
            why = "is behind a pooler that does not pass on the settings of a connection, nor its locks"
            raise Refusal("The ledger", why, "let the URL lead to PostgreSQL itself")
        if found != needed:
            why = f"is on a PostgreSQL whose {setting} is {found}, with which entries can be lost"
            raise Refusal("The ledger", why, f"use a server, and a database, with {setting} = {needed}")


def find_format(connection: Connection, schema: str, dataset: str) -> bool:
    """Whether there is a ledger in a schema; refuses one of another program, version or dataset."""
    (there,) = connection.execute("SELECT pg_catalog.to_regnamespace(%s) IS NOT NULL", (schema,)).fetchone()
    if not there:
        return False
    (ours,) = connection.execute("SELECT pg_catalog.to_regclass(%s) IS NOT NULL", (f"{schema}.format",)).fetchone()
    query = f"SELECT application, version, dataset FROM {schema}.format"  # noqa: S608 - a checked name
    row = connection.execute(query).fetchone() if ours else None
    if row is None or row[0] != _APPLICATION:
        fix = "name a schema that does not exist yet: schema = ... under [ledger]"
        raise Refusal("The ledger", f"cannot be in the schema {schema}, which is another program's", fix)
    if row[1] != LEDGER_FORMAT.version:
        why, fix = f"has format {row[1]}, not {LEDGER_FORMAT.version}", "open it with the version that wrote it"
        raise Refusal("The ledger", why, fix)
    if row[2] != dataset:
        why = f"in the schema {schema} belongs to the dataset {row[2]!r}, not to {dataset!r}"
        raise Refusal("The ledger", why, "name another schema: schema = ... under [ledger]")
    return True


def create_tables(connection: Connection, schema: str, dataset: str) -> None:
    """Create the tables of a new ledger, inside a transaction and after the anchor."""
    for statement in re.split(r";\n(?=CREATE|$)", _TABLES.format(schema=schema).strip() + "\n"):
        if statement:
            connection.execute(statement)
    values = _APPLICATION, LEDGER_FORMAT.version, dataset
    connection.execute(f"INSERT INTO {schema}.format VALUES (%s, %s, %s)", values)  # noqa: S608
    failpoint("schema-created")


@cache
def write_statements(schema: str) -> dict[str, str]:
    """The statements for the ledger in a schema."""
    return {name: text.format(s=schema) for name, text in _STATEMENTS.items()}


def is_lost(error: Exception, connection: Connection) -> bool:
    """Whether an error ended the connection; a wait that was too long counts, because nothing can follow it."""
    state = getattr(error, "sqlstate", None)
    return state is None or state.startswith(_LOST) or connection.closed


def is_late(error: Exception) -> bool:
    """Whether a lock was waited for in vain."""
    return getattr(error, "sqlstate", None) == _LATE


def _translate(error: Exception, connection: Connection) -> StoreError:
    """The error of the store. Nothing was written: the transaction was undone, or the server undoes it."""
    name, state = type(error).__name__, getattr(error, "sqlstate", None) or ""
    if is_lost(error, connection):
        return StoreError(name, UNREACHABLE)
    trouble = next((trouble for start, trouble in _TROUBLES.items() if state.startswith(start)), _UNKNOWN)
    return StoreError(name, trouble, transient=trouble in (_FULL, _BUSY), full=trouble is _FULL)


@contextmanager
def translate_errors(find_connection: Callable[[], Connection]) -> Iterator[None]:
    """Raise errors of the driver as those of the store, without their words: not even as a cause."""
    told = None
    try:
        yield
    except driver().Error as error:
        told = _translate(error, find_connection())
    if told is not None:
        raise told
