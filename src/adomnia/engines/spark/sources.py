# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""The owner's tables as Spark reads them: Parquet files and folders, its own catalog, storage, and tables in memory."""

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from adomnia.catalog.model import EngineChoice, Place, Table, is_in_spark
from adomnia.engines.contract import index_name
from adomnia.engines.index import TableSource
from adomnia.engines.index.columns import categories_name
from adomnia.engines.limits import USUAL
from adomnia.engines.sources.files import list_files
from adomnia.engines.sources.reading import read_parquet_schema
from adomnia.engines.spark.dialect import MOST_CASES, READABLE, SPARK
from adomnia.engines.spark.lake_tables import describe, read_elsewhere
from adomnia.engines.spark.session import open_session
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from adomnia.engines.spark.pinning import Session

_PATTERN = re.compile(r"([*?\[\]{}\\])")
_HIDDEN = ("_", ".")
_TYPES: Mapping[pa.DataType, str] = {
    pa.null(): "VOID",
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.uint8(): "SMALLINT",
    pa.uint16(): "INTEGER",
    pa.uint32(): "BIGINT",
    pa.uint64(): "DECIMAL(20, 0)",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.string(): "STRING",
    pa.large_string(): "STRING",
}
_STORED: Mapping[pa.DataType, pa.DataType] = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.large_string(): pa.string(),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
}


def spark_type(held: pa.DataType) -> str:
    """What Spark calls a type of Arrow or Parquet; one that it has no word for, as Arrow does."""
    if pa.types.is_dictionary(held):
        return spark_type(held.value_type)
    if pa.types.is_decimal128(held):
        return f"DECIMAL({held.precision}, {held.scale})"
    if pa.types.is_timestamp(held) and held.unit != "ns":  # which Spark cannot read
        return "TIMESTAMP_NTZ" if held.tz is None else "TIMESTAMP"
    return _TYPES.get(held, str(held))


def file_source(session: "Session", place: Place, table: Table) -> TableSource:
    """The rows of a table in Parquet files, or where only Spark reads."""
    if isinstance(place, str) and is_in_spark(place):
        frame = read_elsewhere(session, place, table.source_table)
        return register(session, _find_columns(table.source_table or place, table, describe(frame)), frame)
    path = Path(place)
    files = list_files(path) if isinstance(place, Path) else [path]
    if any(file.suffix.lower() != ".parquet" for file in files):
        fix = 'convert it to Parquet, or write name = "duckdb" in [engine]'
        raise Refusal(f"Table {table.name}", "is not in files of Parquet, which is what Spark reads", fix)
    if hidden := next((file.resolve().name for file in files if file.resolve().name.startswith(_HIDDEN)), None):
        why = f"is called {hidden}, and Spark passes over what begins with {' or '.join(_HIDDEN)} without a word"
        raise Refusal(f"Source {path.name}", why, "give the file another name")
    schema = read_parquet_schema(files)
    found = _find_columns(path.name, table, {field.name: spark_type(field.type) for field in schema})
    readable = {
        column: found.types[own] for own, column in found.columns.items() if found.types[own].split("(")[0] in READABLE
    }
    frame = session.read.schema(", ".join(f"{SPARK.quote(name)} {kind}" for name, kind in readable.items())).parquet(
        *("file:" + escape(str(file.resolve())) for file in files)
    )
    return register(session, found, frame)


def escape(path: str) -> str:
    """A path that is read as it is written, whatever signs it has."""
    return _PATTERN.sub(r"\\\1", path)


def frame_source(session: "Session", table: Table, frame: object) -> TableSource:
    """A table in memory: Arrow, pandas or Polars."""
    try:
        rows = pa.table(frame)
        rows = pa.table([storable(column) for column in rows.columns], rows.column_names)
        sent = session.createDataFrame(rows)
    except (pa.ArrowException, TypeError, ValueError):  # whose words may quote a value
        sent = None
    if sent is None:
        why = "cannot be read as a table: every column must hold values of one type"
        raise Refusal(f"Table {table.name}", why, "give a table of Arrow, pandas or Polars")
    types = {field.name: spark_type(field.type) for field in rows.schema}
    return register(session, _Found(table.name, table, {name: name for name in types}, types), sent)


def storable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in the nearest type that Spark takes."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column.cast(_STORED.get(column.type, column.type))


@dataclass(frozen=True)
class _Found:
    """What a source has of a table: by the names of the catalog its own names of columns, and their types."""

    source: str
    table: Table
    columns: Mapping[str, str]
    types: Mapping[str, str]


def register(session: "Session", found: _Found, frame: "DataFrame") -> TableSource:
    """Name rows, so that SQL finds their declared columns under the names of the index, and the codes of categories.

    Names of views begin with a space, as no table does: a catalog of Spark may have any other.
    """
    table, view = found.table, SPARK.quote(f" source of {found.table.name}")
    frame.createOrReplaceTempView(view)
    read = [
        f"{_read(SPARK.quote(column), found.types[own])} AS {SPARK.quote(index_name(own))}"
        for own, column in found.columns.items()
    ]
    rows = f"(SELECT {', '.join(read)} FROM {view})"
    source = TableSource(found.source, rows, found.types, SPARK)
    source.check(table)
    for column in table.columns:
        if isinstance(column.kind, Text) and len(column.kind.values or ()) > MOST_CASES:
            rows = _with_codes(session, rows, table, column)
    return TableSource(found.source, f"{rows} AS rows", found.types, SPARK)


def _read(column: str, held: str) -> str:
    """A column as it is; of texts only those whose bytes are characters.

    Of others Spark cuts off more bytes than they have, which are those of another row, and no client can read them.
    """
    return f"TRY_VALIDATE_UTF8({column})" if held in SPARK.sources.texts else column


def _with_codes(session: "Session", rows: str, table: Table, column: Column) -> str:
    """Rows with the place of a category among its declared values: looked up, because there may be many."""
    assert isinstance(column.kind, Text)  # noqa: S101 - nothing else is a category
    values = column.kind.values or ()
    view = SPARK.quote(f" values of {table.name} {table.columns.index(column)}")
    codes = {"value": pa.array(values, pa.string()), "code": pa.array(range(len(values)), pa.int32())}
    session.createDataFrame(pa.table(codes)).createOrReplaceTempView(view)
    code, name = SPARK.quote(categories_name(column)), SPARK.quote(index_name(column.name))
    return (
        f"(SELECT /*+ BROADCAST(v) */ r.*, v.code AS {code} FROM {rows} AS r "
        f"LEFT JOIN {view} AS v ON TRY_CAST(r.{name} AS STRING) = v.value)"
    )


def _find_columns(source: str, table: Table, types: Mapping[str, str]) -> _Found:
    """The declared columns that are there."""
    found = {column.name: _find_column(source, list(types), table, column) for column in table.columns}
    there = {name: column for name, column in found.items() if column is not None}
    return _Found(source, table, there, {name: types[column] for name, column in there.items()})


def _find_column(source: str, names: list[str], table: Table, column: Column) -> str | None:
    """A declared column: by its very name, or else by the only one that differs in case alone."""
    called = table.source_column(column.name)
    if called.format is not None:
        why, fix = "has a format, and on Spark days are stored as such", "store it as a date, or use another engine"
        raise Refusal(f"Column {table.name}.{column.name}", why, fix)
    alike = [name for name in names if name == called.name] or [
        name for name in names if name.lower() == called.name.lower()
    ]
    if len(alike) > 1:
        listed = " and ".join(f'"{name}"' for name in alike)
        fix = f'say which one is meant: column = "{alike[0]}" in the line of {column.name}'
        raise Refusal(f"Column {table.name}.{column.name}", f"could be any of the columns {listed} of {source}", fix)
    return alike[0] if alike else None


def check_header(choice: EngineChoice, table: Table) -> None:
    """Refuse a table whose columns are not those that are declared."""
    with closing(open_session(choice.url, USUAL)) as own:
        file_source(own.session, table.source, table)
