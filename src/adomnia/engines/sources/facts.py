# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""What engines read of sources beside the index: headers, facts of public tables, and what a reading loses.

Private tables are never read for facts: their catalog comes first.
"""

from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa

from adomnia.catalog.facts import Facts
from adomnia.catalog.model import USUAL_CSV, CsvFormat, Place, Table
from adomnia.engines.contract import ColumnReading, index_name
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index import IndexWriter, TableSource
from adomnia.engines.index import count_readings as count
from adomnia.engines.index.build import count_repeats, write_public
from adomnia.engines.index.columns import columns_to_keep, render_reading
from adomnia.engines.sources.reading import (
    describe_source,
    file_source,
    find_source,
    frame_source,
    make_runner,
    name_source,
    open_reader,
    refuse_duplicates,
    unreadable_source,
)
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Moment, Quantity, Text
from adomnia.privacy.wall_time import read_seconds

MOST_ROWS = 10_000_000
_MOST_VALUES = 1_000_001  # one more than a category may have, so that too many are noticed
_SCHEMA = "memory.main"


def find_facts(data: object, table: Table) -> tuple[Facts, ...]:
    """The facts of every column that a public table declares; `data` is a table in memory, or its place."""
    with open_reader() as reader:
        if isinstance(data, Path | str):
            source = file_source(reader, data, table)
        else:
            source = frame_source(reader.connection, table.name, data)
        source.check(table)
        with suppress(duckdb.Error):
            return _facts(reader.connection, table, source)
    raise unreadable_source(source.name)


def _facts(connection: duckdb.DuckDBPyConnection, table: Table, source: TableSource) -> tuple[Facts, ...]:
    writer = IndexWriter(make_runner(connection), _SCHEMA, b"", DUCKDB)
    rows = writer.number(f"SELECT COUNT(*) FROM {source.relation}")
    if rows > MOST_ROWS:
        why = f"has more than {MOST_ROWS:,} rows, and a public table is read whole whenever its catalog is opened"
        raise Refusal(f"Source {source.name}", why, "leave out what questions do not need, or declare it private")
    columns = columns_to_keep(table.columns)
    if columns:
        write_public(writer, table, source)
    return tuple(
        # An id is not kept, so that nothing is known of it: it may be the same in all rows.
        _fact(connection, source, column, table.name, count_repeats(writer, table, column))
        if column in columns
        else Facts(rows)
        for column in table.columns
    )


def _fact(connection: duckdb.DuckDBPyConnection, source: TableSource, column: Column, table: str, often: int) -> Facts:
    written, name = f"{_SCHEMA}.{DUCKDB.quote(table)}", DUCKDB.quote(index_name(column.name))
    match column.kind:
        case Text(values=None):
            values = f"SELECT DISTINCT {name} FROM {written} WHERE {name} IS NOT NULL LIMIT {_MOST_VALUES}"
            return Facts(often, values=tuple(str(value) for (value,) in connection.execute(values).fetchall()))
        case Quantity():
            # From the source, where infinities are: clamped to other bounds they would be values like any other.
            ends = f"FROM (SELECT {render_reading(column, DUCKDB)} AS x FROM {source.relation}) WHERE NOT ISNAN(x)"
        case Day():
            inside = "BOOL_AND(x BETWEEN DATE '0001-01-01' AND DATE '9999-12-31')"  # what Python can hold
            ends = f"FROM (SELECT {name} AS x FROM {written}) HAVING {inside}"
        case Moment():
            seconds = connection.execute(f"SELECT MIN({name}), MAX({name}) FROM {written}").fetchall()[0]
            lower, upper = (None if end is None else read_seconds(end) for end in seconds)
            return Facts(often, lower, upper)
        case _:
            return Facts(often)
    found = connection.execute(f"SELECT MIN(x), MAX(x) {ends}").fetchall()
    return Facts(often, *found[0]) if found else Facts(often)


def read_header(place: Place, source_table: str | None = None, csv: CsvFormat = USUAL_CSV) -> dict[str, str]:
    """The names and types of a source's columns; a source of texts has no types."""
    with open_reader() as reader:
        found = find_source(reader, place, source_table, csv)
    refuse_duplicates(name_source(place, source_table), [name for name, _ in found.columns])
    return {name: "" if found.spelled else kind for name, kind in found.columns}


def check_header(place: Place, table: Table) -> None:
    """Refuse a source whose columns are not those that a table declares."""
    with open_reader() as reader:
        describe_source(reader, place, table).check(table)
        if isinstance(place, str):
            reader.snapshots.refuse_unreadable(place, table.source_table or "")


def count_readings(place: Place, table: Table) -> tuple[ColumnReading, ...]:
    """The readings of every declared column: exact counts of private rows, which only their owner may see."""
    with open_reader() as reader:
        writer = IndexWriter(make_runner(reader.connection), "memory.main", b"", DUCKDB)
        source = file_source(reader, place, table)
        source.check(table)
        with suppress(duckdb.Error):
            return count(writer, table, source)
    raise unreadable_source(source.name)  # out here it carries no cause, whose words may quote a row


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
