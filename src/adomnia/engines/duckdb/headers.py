"""The columns of a source, and whether they are those that the catalog declares; no value is read."""

from pathlib import Path

import duckdb

from adomnia.catalog.model import USUAL_CSV, CsvFormat, Table
from adomnia.engines.duckdb.sources import describe_source, find_source, refuse_duplicates


def read_header(path: Path, source_table: str | None = None, csv: CsvFormat = USUAL_CSV) -> dict[str, str]:
    """The names and types of a source's columns; a source of texts has no types."""
    with duckdb.connect() as connection:
        found = find_source(connection, path, source_table, csv)
    refuse_duplicates(path.name, [name for name, _ in found.columns])
    return {name: "" if found.spelled else kind for name, kind in found.columns}


def check_header(path: Path, table: Table) -> None:
    """Refuse a source whose columns are not those that a table declares."""
    with duckdb.connect() as connection:
        describe_source(connection, path, table).check(table)
