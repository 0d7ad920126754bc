"""The columns of a file, and whether they are those that the catalog declares; no row is read."""

from pathlib import Path

import duckdb

from adomnia.catalog.model import Table
from adomnia.engines.duckdb.sources import file_source


def read_header(path: Path) -> dict[str, str]:
    """The names and types of a file's columns; a CSV file has no types."""
    with duckdb.connect() as connection:
        source = file_source(connection, path)
    return {name: "" if source.spelled else kind for name, kind in source.types.items()}


def check_header(path: Path, table: Table) -> None:
    """Refuse a file whose columns are not those that a table declares."""
    with duckdb.connect() as connection:
        file_source(connection, path).check(table)
