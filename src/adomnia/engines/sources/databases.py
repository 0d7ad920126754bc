# ruff: noqa: S608 - SQL is what this module writes; names and paths are quoted
"""Tables of DuckDB and SQLite files, copied while the index is built: no engine is left with access to the files."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from adomnia.engines.dialect import text_literal
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Refusal

_SQLITE = b"SQLite format 3\x00"
_ATTACHED = '" attached"'
_BATCH = 100_000


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database: by how it begins, because any database may be called .db."""
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def describe_duckdb(connection: duckdb.DuckDBPyConnection, path: Path, table: str) -> list[tuple[str, str]]:
    """The names and types of the columns of a table."""
    with _attach(connection, path):
        _find_table(path, table, _list_tables(connection))
        rows = connection.execute(f"DESCRIBE {_ATTACHED}.main.{DUCKDB.quote(table)}").fetchall()
    return [(name, kind) for name, kind, *_ in rows]


def copy_duckdb(
    connection: duckdb.DuckDBPyConnection, path: Path, table: str, columns: Sequence[str], name: str
) -> str:
    """Copy a table into a temporary one; its columns are c0, c1, ..."""
    with _attach(connection, path):
        listed = ", ".join(f"{DUCKDB.quote(column)} AS c{place}" for place, column in enumerate(columns))
        rows = f"SELECT {listed} FROM {_ATTACHED}.main.{DUCKDB.quote(table)}"
        connection.execute(f"CREATE TEMP TABLE {DUCKDB.quote(name)} AS {rows}")
    return DUCKDB.quote(name)


def describe_sqlite(path: Path, table: str) -> list[tuple[str, str]]:
    """The names of the columns of a table. Its values may be of any type, so all are read as text."""
    with _open_sqlite(path) as database:
        listed = [str(name) for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        _find_table(path, table, listed)
        found = database.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    return [(str(name), "VARCHAR") for (name,) in found]


def copy_sqlite(
    connection: duckdb.DuckDBPyConnection, path: Path, table: str, columns: Sequence[str], name: str
) -> str:
    """Copy a table as texts into a temporary one; its columns are c0, c1, ..."""
    copy, view = DUCKDB.quote(name), f" rows of {name}"
    names = [f"c{place}" for place in range(len(columns))]
    connection.execute(f"CREATE TEMP TABLE {copy} ({', '.join(f'{each} VARCHAR' for each in names)})")
    with _open_sqlite(path) as database:
        listed = ", ".join(map(DUCKDB.quote, columns))
        rows = database.execute(f"SELECT {listed} FROM {DUCKDB.quote(table)}")
        while some := rows.fetchmany(_BATCH):
            texts = [pa.array(map(_as_text, column), pa.string()) for column in zip(*some, strict=True)]
            connection.register(view, pa.table(texts, names=names))
            connection.execute(f"INSERT INTO {copy} SELECT * FROM {DUCKDB.quote(view)}")
            connection.unregister(view)
    return copy


def _as_text(value: str | bytes | float | None) -> str | None:
    """A value as a CSV file would spell it: SQLite lets any row hold any type."""
    if isinstance(value, bytes):
        return _decode(value)
    return None if value is None else str(value)


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _list_tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = ' attached' AND schema_name = 'main'"
    return [str(name) for (name,) in connection.execute(tables).fetchall()]


def _find_table(path: Path, table: str, known: list[str]) -> None:
    if table.lower() not in (name.lower() for name in known):
        why = f"has no table {table}"
        raise Refusal(f"Source {path.name}", why, f'write table = "..." with one of: {", ".join(sorted(known))}')


@contextmanager
def _attach(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    connection.execute(f"ATTACH {text_literal(str(path))} AS {_ATTACHED} (READ_ONLY)")
    try:
        yield
    finally:
        connection.execute(f"DETACH {_ATTACHED}")


@contextmanager
def _open_sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.text_factory = _decode
        yield database
