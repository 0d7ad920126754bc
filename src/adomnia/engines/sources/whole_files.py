# ruff: noqa: S608 - SQL is what this module writes, from a file name that is quoted
"""Text files as tables in memory: every value a text, read as the index reads it."""

from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa

from adomnia.catalog.model import USUAL_CSV
from adomnia.engines.sources.reading import find_source, make_runner, open_reader, refuse_duplicates, unreadable_source


def read_texts(path: Path) -> pa.Table:
    """All columns of a CSV file, as texts."""
    with open_reader() as reader:
        make_runner(reader.connection)
        found = find_source(reader, path, None, USUAL_CSV)
        names = [name for name, _ in found.columns]
        refuse_duplicates(path.name, names)
        with suppress(duckdb.Error, pa.ArrowException, OSError):
            rows = found.rows(range(len(names)), lambda _share: None)
            read: pa.Table = reader.connection.sql(f"SELECT * FROM {rows}").to_arrow_table()
            return pa.table([column.cast(pa.string()) for column in read.columns], names=names)
    raise unreadable_source(path.name)  # out here it carries no cause, whose words may quote a row
