"""The tables that a file of DuckDB or SQLite holds."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import duckdb

from adomnia.engines.sources.databases import is_sqlite
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from pathlib import Path

_ENDINGS = frozenset({".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db"})


def is_database(path: Path) -> bool:
    """Whether a name is that of a database."""
    return path.suffix.lower() in _ENDINGS


def list_tables(path: Path) -> list[str]:
    """The tables of a database, by name."""
    with suppress(OSError, duckdb.Error, sqlite3.Error):
        found = _list_sqlite(path) if is_sqlite(path) else _list_duckdb(path)
        if found:
            return sorted(found)
    raise Refusal(f"File {path.name}", "is not a database with tables that can be read", "correct its name")


def _list_sqlite(path: Path) -> list[str]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        return [str(name) for (name,) in database.execute(names)]


def _list_duckdb(path: Path) -> list[str]:
    with duckdb.connect(str(path), read_only=True) as database:
        rows = database.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'").fetchall()
        return [str(name) for (name,) in rows]
