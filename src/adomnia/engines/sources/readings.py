"""What reading a table of the owner's loses, for the owner alone."""

from contextlib import suppress

import duckdb

from adomnia.catalog.model import Place, Table
from adomnia.engines.contract import ColumnReading
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index import IndexWriter
from adomnia.engines.index import count_readings as count
from adomnia.engines.sources.reading import file_source, make_runner, open_reader, unreadable_source


def count_readings(place: Place, table: Table) -> tuple[ColumnReading, ...]:
    """The readings of every declared column: exact counts of private rows, which only their owner may see."""
    with open_reader() as reader:
        writer = IndexWriter(make_runner(reader.connection), "memory.main", b"", DUCKDB)
        source = file_source(reader, place, table)
        source.check(table)
        with suppress(duckdb.Error):
            return count(writer, table, source)
    raise unreadable_source(source.name)  # out here it carries no cause, whose words may quote a row
