# ruff: noqa: S608 - SQL is what this module writes; names and paths are quoted
"""The owner's data as DuckDB reads it: files and databases, and tables of Arrow, pandas and Polars in memory."""

import csv
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from adomnia.catalog.model import CsvFormat, Table
from adomnia.engines.contract import index_name
from adomnia.engines.duckdb import csv_files, databases, json_lines
from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.files import list_files, refuse_open_database
from adomnia.engines.duckdb.spellings import render_day, render_spelled
from adomnia.engines.duckdb.texts import file_name
from adomnia.engines.index import Run, TableSource
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day

QUIET = "SET enable_progress_bar = false"  # DuckDB's own, which appears wherever Python is interactive
_READING = (
    QUIET,
    "SET TimeZone = 'UTC'",  # a moment falls on the same day on every machine
    # The first lets the reader of CSV files do TRY_CAST, and fail. The second simplifies conditions by the least and
    # the greatest value of a column: those that Parquet files state leave NaN out, and it concludes that there is none.
    "SET disabled_optimizers = 'type_pushdown,statistics_propagation'",
)
_FAULTS = (duckdb.Error, sqlite3.Error, pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error)
_DATABASES = frozenset({".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db"})
_TEXT = "VARCHAR"
_MICROSECONDS = {"s": 10**6, "ms": 10**3}
_FAR = 4 * 10**18  # microseconds: beyond every calendar, and still a timestamp


@dataclass(frozen=True)
class Found:
    """What a source holds: the names and types of all of its columns, and how to read some of them as c0, c1, ...

    `spelled` says that all are texts still to be read; `by_rows`, that the names are those that rows have, and one row
    may add another.
    """

    columns: tuple[tuple[str, str], ...]
    rows: Callable[[Sequence[int], Path], str]
    spelled: bool = False
    by_rows: bool = False


def file_source(connection: duckdb.DuckDBPyConnection, path: Path, table: Table, scratch: Path) -> TableSource:
    """The rows of a table; copies that reading needs are made in the folder `scratch`."""
    found = find_source(connection, path, table.source_table, table.csv)
    places = {column: _find_column(path.name, found, table, column) for column in table.columns}
    there = {column: place for column, place in places.items() if place is not None}
    with suppress(*_FAULTS):
        rows = found.rows(list(there.values()), scratch)
        read = [
            f"{_read(f'c{place}', column, table, found.columns[at][1], found.spelled)} "
            f"AS {DUCKDB.quote(index_name(column.name))}"
            for place, (column, at) in enumerate(there.items())
        ]
        types = {column.name: found.columns[at][1] for column, at in there.items()}
        return TableSource(path.name, f"(SELECT {', '.join(read)} FROM {rows})", types, DUCKDB, found.spelled)
    raise unreadable_source(path.name)  # out here it carries no cause, whose words may quote a row


def describe_source(connection: duckdb.DuckDBPyConnection, path: Path, table: Table) -> TableSource:
    """The declared columns that a source has and their types, without a row."""
    found = find_source(connection, path, table.source_table, table.csv)
    places = {column.name: _find_column(path.name, found, table, column) for column in table.columns}
    types = {name: found.columns[place][1] for name, place in places.items() if place is not None}
    return TableSource(path.name, "", types, DUCKDB, found.spelled)


def find_source(
    connection: duckdb.DuckDBPyConnection, path: Path, source_table: str | None, declared: CsvFormat
) -> Found:
    """What a source holds, by how its name ends."""
    files, ending = list_files(path), csv_files.ending_of(path)
    with suppress(*_FAULTS):
        if ending in _DATABASES:
            return _find_in_database(connection, path, source_table or "")
        if ending in csv_files.ENDINGS:
            return _find_in_csv(path, declared)
        if ending in json_lines.ENDINGS:
            return _find_in_json_lines(connection, path)
        return _find_in_parquet(connection, files)
    raise unreadable_source(path.name)  # out here it carries no cause, whose words may quote a row


def frame_source(connection: duckdb.DuckDBPyConnection, name: str, frame: object) -> TableSource:
    """A table in memory: Arrow, pandas or Polars."""
    view = f" frame {name}"
    with suppress(duckdb.Error, pa.ArrowException, TypeError, ValueError):
        table = pa.table(frame)
        columns = [_in_microseconds(column) for column in table.columns]
        connection.register(view, pa.table(columns, [index_name(column) for column in table.column_names]))
        kinds = [kind for _, kind in _describe(connection, DUCKDB.quote(view))]
        return TableSource(name, DUCKDB.quote(view), dict(zip(table.column_names, kinds, strict=True)), DUCKDB)
    why = "cannot be read as a table: every column must hold values of one type"
    raise Refusal(f"Table {name}", why, "give a table of Arrow, pandas or Polars")


def _in_microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Moments of a time zone in coarser units, moved to where microseconds reach: DuckDB fails on a row beyond."""
    held = column.type
    if not pa.types.is_timestamp(held) or held.tz is None or held.unit not in _MICROSECONDS:
        return column
    each = _MICROSECONDS[held.unit]
    most = _FAR // each
    least = pc.max_element_wise(column.cast(pa.int64()), -most, skip_nulls=False)
    return pc.multiply(pc.min_element_wise(least, most, skip_nulls=False), each).cast(pa.timestamp("us", held.tz))


def unreadable_source(name: str) -> Refusal:
    """A source that is not what its name says."""
    fix = "check that it is what its name says, and that no other program is writing it"
    if csv_files.ending_of(Path(name)) in csv_files.ENDINGS:
        fix = (
            "check that every line has the columns of its header, ends as the header does and closes its quotes, and "
            'that its delimiter and encoding are declared, for example csv = { delimiter = ";", encoding = "latin-1" }'
        )
    return Refusal(f"Source {name}", "cannot be read", fix)


def make_runner(connection: duckdb.DuckDBPyConnection) -> Run:
    """Runs SQL on a connection that is made ready to read sources."""
    for setting in _READING:
        connection.execute(setting)

    def run(sql: str, *parameters: object) -> list[tuple[object, ...]]:
        return connection.execute(sql, list(parameters)).fetchall()

    return run


def _find_in_parquet(connection: duckdb.DuckDBPyConnection, files: list[Path]) -> Found:
    first, *others = [pq.read_schema(file).remove_metadata() for file in files]
    for file, schema in zip(files[1:], others, strict=True):
        if schema.names != first.names or schema.types != first.types:
            why = f"has other columns, or columns of other types, than {files[0].name}"
            raise Refusal(f"Source {file.name}", why, "write all files of a source alike")
    rows = f"read_parquet([{', '.join(map(file_name, files))}], hive_partitioning = false)"
    kinds = [kind for _, kind in _describe(connection, rows)]
    aliases = ", ".join(f"p{place}" for place in range(len(kinds)))

    def read(places: Sequence[int], _scratch: Path) -> str:
        listed = ", ".join(f"p{at} AS c{place}" for place, at in enumerate(places))
        return f"(SELECT {listed} FROM {rows} AS file({aliases}))"

    return Found(tuple(zip(first.names, kinds, strict=True)), read)


def _find_in_csv(path: Path, declared: CsvFormat) -> Found:
    header = csv_files.read_csv_header(path, declared)
    csv_files.refuse_lost_header(path.name, header)

    def read(places: Sequence[int], scratch: Path) -> str:
        listed = ", ".join(f"p{at} AS c{place}" for place, at in enumerate(places))
        return f"(SELECT {listed} FROM {csv_files.render_csv(path, header, declared, scratch)})"

    return Found(tuple((name, _TEXT) for name in header.names), read, spelled=True)


def _find_in_json_lines(connection: duckdb.DuckDBPyConnection, path: Path) -> Found:
    keys = tuple(json_lines.read_keys(connection, path))

    def read(places: Sequence[int], _scratch: Path) -> str:
        return json_lines.render_json_lines(path, [keys[at][0] for at in places])

    return Found(keys, read, spelled=True, by_rows=True)


def _find_in_database(connection: duckdb.DuckDBPyConnection, path: Path, table: str) -> Found:
    refuse_open_database(path)
    of_sqlite = databases.is_sqlite(path)
    columns = (
        databases.describe_sqlite(path, table) if of_sqlite else databases.describe_duckdb(connection, path, table)
    )

    def read(places: Sequence[int], _scratch: Path) -> str:
        names, copy = [columns[at][0] for at in places], f" copy of {path.name} {table}"
        if of_sqlite:
            return databases.copy_sqlite(connection, path, table, names, copy)
        return databases.copy_duckdb(connection, path, table, names, copy)

    return Found(tuple(columns), read, spelled=of_sqlite)


def _find_column(source: str, found: Found, table: Table, column: Column) -> int | None:
    """The place of a declared column: by its very name, or else by the only one that differs in case alone.

    Where rows have names, only by its very name: "age" in one row must not take the place of "Age" in all others.
    """
    called = table.source_column(column.name).name
    names = [name for name, _ in found.columns]
    exact = [place for place, name in enumerate(names) if name == called]
    folded = () if found.by_rows else enumerate(names)
    alike = exact or [place for place, name in folded if name.lower() == called.lower()]
    if len(alike) > 1:
        listed = " and ".join(f'"{names[place]}"' for place in alike)
        fix = "rename all but one in the file"
        if not exact:
            fix = f'say which one is meant: column = "{names[alike[0]]}" in the line of {column.name}'
        raise Refusal(f"Column {table.name}.{column.name}", f"could be any of the columns {listed} of {source}", fix)
    return alike[0] if alike else None


def refuse_duplicates(source: str, names: Sequence[str]) -> None:
    """Refuse a header in which a name stands twice."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise Refusal(f"Source {source}", f'has several columns called "{twice}"', "rename all but one in the file")


def _read(name: str, column: Column, table: Table, held: str, spelled: bool) -> str:
    days = table.source_column(column.name).format
    if spelled:
        return render_spelled(name, column, table.csv, days or table.csv.dates)
    return render_day(name, days) if days is not None and held == _TEXT and isinstance(column.kind, Day) else name


def _describe(connection: duckdb.DuckDBPyConnection, relation: str) -> list[tuple[str, str]]:
    return [(name, kind) for name, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()]
