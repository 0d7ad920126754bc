"""What an index in PostgreSQL holds, and how one is opened in a test."""

from __future__ import annotations

import psycopg
from psycopg.rows import dict_row

from adomnia.engines.postgres.engine import Postgres
from engines.databases import catalog


def open_index(tmp_path, *tables, **options):
    """The engine over tables in PostgreSQL."""
    return Postgres.open(catalog(*tables, folder=tmp_path, **options), tmp_path / "state")


def read_index(engine, table):
    """All rows of a table of the index, as they lie there."""
    with psycopg.connect(engine._place.url, row_factory=dict_row) as connection:
        return connection.execute(f'SELECT * FROM {engine._place.quoted}."{table}"').fetchall()


def list_schemas(url):
    """The schemas of ours in a database."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'adomnia%' ORDER BY 1")
        return [name for (name,) in found]
