"""What reading a table of the owner's loses, for the owner alone."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from adomnia.catalog.model import Table
from adomnia.engines.contract import ColumnReading
from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.sources import file_source, make_runner, unreadable_source
from adomnia.engines.index import IndexWriter
from adomnia.engines.index import count_readings as count


def count_readings(path: Path, table: Table) -> tuple[ColumnReading, ...]:
    """The readings of every declared column: exact counts of private rows, which only their owner may see."""
    with duckdb.connect() as connection, TemporaryDirectory() as scratch:
        writer = IndexWriter(make_runner(connection), "memory.main", b"", DUCKDB)
        source = file_source(connection, path, table, Path(scratch))
        source.check(table)
        with suppress(duckdb.Error):
            return count(writer, table, source)
    raise unreadable_source(path.name)  # out here it carries no cause, whose words may quote a row
