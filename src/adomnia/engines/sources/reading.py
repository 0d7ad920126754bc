# ruff: noqa: S608 - SQL is what this module writes; names and paths are quoted
"""The owner's data as DuckDB reads it: files, databases, and tables of Arrow, pandas and Polars in memory."""

import csv
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from adomnia.catalog.model import CsvFormat, Place, Table
from adomnia.engines.contract import index_name
from adomnia.engines.duckdb_dialect import DUCKDB, file_name
from adomnia.engines.index import Run, TableSource
from adomnia.engines.sources import databases, text_files
from adomnia.engines.sources.files import list_files, refuse_open_database
from adomnia.engines.sources.snapshots import Snapshots
from adomnia.engines.sources.streams import Tell, stream_table
from adomnia.engines.sources.text_files import render_day, render_spelled
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
class SourceReader:
    """What sources are read with: a connection, a folder for copies, snapshots of databases, and who is told of them.

    `tell` hears the name of a table and how much of it has arrived, from 0 to 1.
    """

    connection: duckdb.DuckDBPyConnection
    scratch: Path
    snapshots: Snapshots
    tell: Callable[[str, float], None] = lambda _table, _share: None


@contextmanager
def open_reader() -> Iterator[SourceReader]:
    """A reader for a moment; what it read goes with it."""
    with duckdb.connect() as connection, TemporaryDirectory() as scratch, Snapshots() as snapshots:
        yield SourceReader(connection, Path(scratch), snapshots)


@dataclass(frozen=True)
class Found:
    """What a source holds: the names and types of all of its columns, and how to read some of them as c0, c1, ...

    `spelled` says that all are texts still to be read; `by_rows`, that the names are those that rows have, and one row
    may add another; `has_kin`, that other tables of its database have rows of it.
    """

    columns: tuple[tuple[str, str], ...]
    rows: Callable[[Sequence[int], Tell], str]
    spelled: bool = False
    by_rows: bool = False
    has_kin: bool = False


def file_source(reader: SourceReader, place: Place, table: Table) -> TableSource:
    """The rows of a table; copies that reading needs are made in a folder, or in temporary tables."""
    found, name = find_source(reader, place, table.source_table, table.csv), name_source(place, table.source_table)
    there = _find_columns(name, found, table)
    with suppress(*_FAULTS):
        rows = found.rows(list(there.values()), lambda share: reader.tell(table.name, share))
        read = [
            f"{_read(f'c{place}', column, table, found.columns[at][1], found.spelled)} "
            f"AS {DUCKDB.quote(index_name(column.name))}"
            for place, (column, at) in enumerate(there.items())
        ]
        types = {column.name: found.columns[at][1] for column, at in there.items()}
        return TableSource(name, f"(SELECT {', '.join(read)} FROM {rows})", types, DUCKDB, found.spelled)
    raise unreadable_source(name)  # out here it carries no cause, whose words may quote a row


def describe_source(reader: SourceReader, place: Place, table: Table) -> TableSource:
    """The declared columns that a source has and their types, without a row."""
    found, name = find_source(reader, place, table.source_table, table.csv), name_source(place, table.source_table)
    types = {column.name: found.columns[at][1] for column, at in _find_columns(name, found, table).items()}
    return TableSource(name, "", types, DUCKDB, found.spelled)


def name_source(place: Place, source_table: str | None) -> str:
    """What to call a source in a message."""
    return place.name if isinstance(place, Path) else str(source_table)


def find_source(reader: SourceReader, place: Place, source_table: str | None, declared: CsvFormat) -> Found:
    """What a source holds: of a database that is elsewhere, or by how the name of its file ends."""
    if not isinstance(place, Path):
        return _find_in_postgres(reader, place, source_table or "")
    files, ending = list_files(place), text_files.ending_of(place)
    with suppress(*_FAULTS):
        if ending in _DATABASES:
            return _find_in_database(reader, place, source_table or "")
        if ending in text_files.ENDINGS:
            return _find_in_csv(reader, place, declared)
        if ending in text_files.JSON_ENDINGS:
            return _find_in_json_lines(reader, place)
        return _find_in_parquet(reader, files)
    raise unreadable_source(place.name)  # out here it carries no cause, whose words may quote a row


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
    if text_files.ending_of(Path(name)) in text_files.ENDINGS:
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


def read_parquet_schema(files: list[Path]) -> pa.Schema:
    """The columns that all of some files have, of the same types."""
    first, *others = [pq.read_schema(file).remove_metadata() for file in files]
    for file, schema in zip(files[1:], others, strict=True):
        if schema.names != first.names or schema.types != first.types:
            why = f"has other columns, or columns of other types, than {files[0].name}"
            raise Refusal(f"Source {file.name}", why, "write all files of a source alike")
    return first


def _find_in_parquet(reader: SourceReader, files: list[Path]) -> Found:
    first = read_parquet_schema(files)
    rows = f"read_parquet([{', '.join(map(file_name, files))}], hive_partitioning = false)"
    kinds = [kind for _, kind in _describe(reader.connection, rows)]
    aliases = ", ".join(f"p{place}" for place in range(len(kinds)))

    def read(places: Sequence[int], _tell: Tell) -> str:
        listed = ", ".join(f"p{at} AS c{place}" for place, at in enumerate(places))
        return f"(SELECT {listed} FROM {rows} AS file({aliases}))"

    return Found(tuple(zip(first.names, kinds, strict=True)), read)


def _find_in_csv(reader: SourceReader, path: Path, declared: CsvFormat) -> Found:
    header = text_files.read_csv_header(path, declared)
    text_files.refuse_lost_header(path.name, header)

    def read(places: Sequence[int], _tell: Tell) -> str:
        listed = ", ".join(f"p{at} AS c{place}" for place, at in enumerate(places))
        return f"(SELECT {listed} FROM {text_files.render_csv(path, header, declared, reader.scratch)})"

    return Found(tuple((name, _TEXT) for name in header.names), read, spelled=True)


def _find_in_json_lines(reader: SourceReader, path: Path) -> Found:
    keys = tuple(text_files.read_keys(reader.connection, path))

    def read(places: Sequence[int], _tell: Tell) -> str:
        return text_files.render_json_lines(path, [keys[at][0] for at in places])

    return Found(keys, read, spelled=True, by_rows=True)


def _find_in_database(reader: SourceReader, path: Path, table: str) -> Found:
    connection = reader.connection
    refuse_open_database(path)
    of_sqlite = databases.is_sqlite(path)
    columns = (
        databases.describe_sqlite(path, table) if of_sqlite else databases.describe_duckdb(connection, path, table)
    )

    def read(places: Sequence[int], _tell: Tell) -> str:
        names, copy = [columns[at][0] for at in places], f" copy of {path.name} {table}"
        if of_sqlite:
            return databases.copy_sqlite(connection, path, table, names, copy)
        return databases.copy_duckdb(connection, path, table, names, copy)

    return Found(tuple(columns), read, spelled=of_sqlite)


def _find_in_postgres(reader: SourceReader, url: str, name: str) -> Found:
    table = reader.snapshots.find_table(url, name)
    held = tuple((column, kind.held) for column, kind in table.columns)

    def read(places: Sequence[int], tell: Tell) -> str:
        return stream_table(reader.connection, reader.snapshots, table, places, tell)

    return Found(held, read, has_kin=table.has_kin)


def _find_columns(source: str, found: Found, table: Table) -> dict[Column, int]:
    """The places of the declared columns that are there."""
    if table.public and found.has_kin:
        why = "is a part of another table, or has parts that are tables, and those may be about people"
        raise Refusal(f"Source {source}", why, "make it a table of its own, or a view of what is public")
    places = {column: _find_column(source, found, table, column) for column in table.columns}
    return {column: place for column, place in places.items() if place is not None}


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
