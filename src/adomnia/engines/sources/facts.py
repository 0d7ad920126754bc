# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""What a public table shows of its columns. Private ones are never read for this: their catalog comes first."""

from contextlib import suppress
from pathlib import Path

import duckdb

from adomnia.catalog.facts import Facts
from adomnia.catalog.model import Table
from adomnia.engines.contract import index_name
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index import IndexWriter, TableSource
from adomnia.engines.index.columns import columns_to_keep, render_reading
from adomnia.engines.index.public import count_repeats, write_public
from adomnia.engines.sources.reading import file_source, frame_source, make_runner, open_reader, unreadable_source
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
