# ruff: noqa: S608 - SQL is what this module writes; names and paths are quoted
"""The owner's data as DuckDB reads it: Parquet and CSV files, and tables of Arrow, pandas and Polars in memory."""

import csv
import re
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.index import Run, TableSource
from adomnia.errors import Refusal

QUIET = "SET enable_progress_bar = false"  # DuckDB's own, which appears wherever Python is interactive
_READING = (
    QUIET,
    "SET TimeZone = 'UTC'",  # a moment falls on the same day on every machine
    # The first lets the reader of CSV files do TRY_CAST, and fail. The second simplifies conditions by the least and
    # the greatest value of a column: those that Parquet files state leave NaN out, and it concludes that there is none.
    "SET disabled_optimizers = 'type_pushdown,statistics_propagation'",
)
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def file_source(connection: duckdb.DuckDBPyConnection, path: Path) -> TableSource:
    """A Parquet, CSV or TSV file."""
    if not path.is_file():
        raise Refusal(f"Source {path.name}", "is not a file that can be read", "name one file in the catalog")
    spelled = path.suffix.lower() in _DELIMITERS
    with suppress(duckdb.Error, OSError, UnicodeDecodeError, csv.Error):
        relation = _csv(path) if spelled else f"read_parquet({_file_name(path)})"
        return TableSource(path.name, relation, _types(connection, relation), DUCKDB, spelled)
    raise unreadable_source(path.name)  # out here it carries no cause, whose words may quote a row


def frame_source(connection: duckdb.DuckDBPyConnection, name: str, frame: object) -> TableSource:
    """A table in memory: Arrow, pandas or Polars."""
    view = f" frame {name}"
    with suppress(duckdb.Error, pa.ArrowException, TypeError, ValueError):
        connection.register(view, pa.table(frame))
        return TableSource(name, DUCKDB.quote(view), _types(connection, DUCKDB.quote(view)), DUCKDB)
    why = "cannot be read as a table: every column must hold values of one type"
    raise Refusal(f"Table {name}", why, "give a table of Arrow, pandas or Polars")


def unreadable_source(name: str) -> Refusal:
    """A source that is not what its name says."""
    return Refusal(
        f"Source {name}", "cannot be read", "check that it is a Parquet file or a CSV file in UTF-8 with a header"
    )


def make_runner(connection: duckdb.DuckDBPyConnection) -> Run:
    """Runs SQL on a connection that is made ready to read sources."""
    for setting in _READING:
        connection.execute(setting)

    def run(sql: str, *parameters: object) -> list[tuple[object, ...]]:
        return connection.execute(sql, list(parameters)).fetchall()

    return run


def _types(connection: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    return {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()}


def _csv(path: Path) -> str:
    """Nothing is guessed: which delimiter or type a sniffer finds would depend on the rows."""
    delimiter = _DELIMITERS[path.suffix.lower()]
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file, delimiter=delimiter), [])
    columns = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in header)
    return (
        f"read_csv({_file_name(path)}, auto_detect = false, header = true, delim = {text_literal(delimiter)}, "
        f"quote = '\"', escape = '\"', columns = {{{columns}}})"
    )


def _file_name(path: Path) -> str:
    """This one file, even if its name would match others."""
    return text_literal(re.sub(r"([*?\[])", r"[\1]", str(path)))


def text_literal(text: str) -> str:
    """A text constant where none can be bound: in names of files."""
    return "'" + text.replace("'", "''") + "'"
