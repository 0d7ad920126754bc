"""Copies of a ledger between PostgreSQL and a file of SQLite, which is what backups are, wherever the ledger is."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

from adomnia.ledger import sqlite
from adomnia.ledger.postgres_schema import Connection, create_tables, find_format, lock_number, write_statements
from adomnia.ledger.records import Records
from adomnia.ledger.schema import LEDGER_FORMAT
from adomnia.ledger.sqlite_records import SqliteRecords

_COPIED = {
    "entries": "sequence, body, kind, analyst, request_id, plan",
    "payloads": "digest, payload",
    "storage": "analyst, bytes",
}
_LONGEST = 50
_FEW = 16  # stored answers of a round trip: one may have megabytes


def save_copy(records: Records, connection: Connection, schema: str, target: Path) -> None:
    """Write all of a ledger durably into a new file of SQLite."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))  # nobody has it open as a database yet
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        copy.execute("PRAGMA synchronous = FULL")
        copy.execute("BEGIN IMMEDIATE")
        sqlite.create_tables(copy, LEDGER_FORMAT)
        bodies = enumerate(records.read_bodies(0), start=1)
        copy.executemany("INSERT INTO entries (sequence, body) VALUES (?, ?)", bodies)
        copy.executemany("INSERT INTO payloads VALUES (?, ?)", _list_stored(connection, schema))
        SqliteRecords(copy).prepare_storage()
        counts = connection.execute(write_statements(schema)["counts"]).fetchall()
        copy.executemany("INSERT INTO storage VALUES (?, ?)", counts)
        copy.execute("COMMIT")


def load_copy(connection: Connection, schema: str, dataset: str, source: Path) -> None:
    """Load a file into a new schema, inside a transaction; one that is there is moved aside."""
    connection.execute("SELECT pg_catalog.pg_advisory_xact_lock(%s)", (lock_number(schema),))
    if find_format(connection, schema, dataset):
        connection.execute(f"ALTER SCHEMA {schema} RENAME TO {_find_free_name(connection, schema)}")
    create_tables(connection, schema, dataset)
    with closing(sqlite3.connect(source, isolation_level=None)) as copy:
        for table, columns in _COPIED.items():
            with connection.cursor().copy(f"COPY {schema}.{table} ({columns}) FROM STDIN") as rows:
                for row in copy.execute(f"SELECT {columns} FROM {table}"):  # noqa: S608 - our own names
                    rows.write_row(row)


def _find_free_name(connection: Connection, schema: str) -> str:
    """What an old schema is called from now on: nothing reads it."""
    names = (f"{schema[:_LONGEST]}_replaced_{number}" for number in count(1))
    is_free = "SELECT pg_catalog.to_regnamespace(%s) IS NULL"
    return next(name for name in names if connection.execute(is_free, (name,)).fetchone()[0])


def _list_stored(connection: Connection, schema: str) -> Iterator[tuple[str, bytes]]:
    """All stored answers with their hashes, a few at a time."""
    name = ""
    while rows := connection.execute(write_statements(schema)["stored"], (name, _FEW)).fetchall():
        yield from ((name, bytes(payload)) for name, payload in rows)
        name = rows[-1][0]
