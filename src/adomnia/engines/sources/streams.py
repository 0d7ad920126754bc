# ruff: noqa: S608 - SQL is what this module writes; names are quoted
"""Rows that stream from PostgreSQL into a temporary table, some megabytes at a time: no table is held in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import RawIOBase

import duckdb
import pyarrow as pa
from pyarrow import csv

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.limits import disk_trouble, memory_trouble
from adomnia.engines.sources.snapshots import ForeignTable, ForeignType, Snapshots, explain_faults

_BLOCK = 4 * 2**20
_MOST_BYTES = 150_000  # of a value: a number may have as many digits, a text fewer, and a row must fit into a block

Tell = Callable[[float], None]


def stream_table(
    connection: duckdb.DuckDBPyConnection, snapshots: Snapshots, table: ForeignTable, places: Sequence[int], tell: Tell
) -> str:
    """Copy columns of a table into a temporary one, as c0, c1, ...; `tell` hears how much is done, from 0 to 1."""
    kinds = [table.columns[at][1] for at in places]
    name, view = DUCKDB.quote(f" stream of {table.name} in {table.url}"), " arriving"
    columns = ", ".join(f"c{place} {kind.stored}" for place, kind in enumerate(kinds))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")
    arrived = 0
    for batch in _receive(snapshots, table, places, kinds):
        connection.register(view, batch)
        _keep(connection, f"INSERT INTO {name} SELECT * FROM {DUCKDB.quote(view)}")
        connection.unregister(view)
        arrived += batch.num_rows
        tell(min(arrived / table.rows, 1.0) if table.rows > 0 else 0.0)
    return name


def _keep(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    try:
        connection.execute(statement)
    except duckdb.OutOfMemoryException:
        fault = memory_trouble()
    except duckdb.Error:
        fault = disk_trouble()
    else:
        return
    raise fault  # out here it carries no cause


def _receive(
    snapshots: Snapshots, table: ForeignTable, places: Sequence[int], kinds: Sequence[ForeignType]
) -> Iterator[pa.Table]:
    statement = f"COPY ({table.select(places)}) TO STDOUT (FORMAT csv, HEADER)"
    with (
        explain_faults(table.url, table.name),
        snapshots.connection(table.url).cursor() as cursor,
        cursor.copy(statement) as rows,
    ):
        yield from _parse(_Stream(rows), kinds)


def _parse(stream: "_Stream", kinds: Sequence[ForeignType]) -> Iterator[pa.Table]:
    """Tables of a few megabytes each."""
    block = _BLOCK + _MOST_BYTES * len(kinds)
    types = {f"c{place}": kind.carried for place, kind in enumerate(kinds)}
    batches = csv.open_csv(
        pa.PythonFile(stream, mode="r"),
        read_options=csv.ReadOptions(use_threads=False, block_size=block),
        # A row of one column that is missing is an empty line.
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            true_values=["t"],
            false_values=["f"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    for batch in batches:
        arrays = [_reread(column, kind) for column, kind in zip(batch.columns, kinds, strict=True)]
        yield pa.table(arrays, names=list(types))


def _reread(column: pa.Array, kind: ForeignType) -> pa.Array:
    return column if kind.read is None else column.view(kind.read)


class _Stream(RawIOBase):
    """The messages of a COPY as a file; each of them is about a row."""

    def __init__(self, messages: Iterable[bytes | bytearray | memoryview]) -> None:
        self._messages, self._left = iter(messages), b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts, length = [self._left], len(self._left)
        while size < 0 or length < size:
            message = next(self._messages, None)
            if message is None:
                break
            parts.append(bytes(message))
            length += len(message)
        joined = b"".join(parts)
        end = length if size < 0 else size
        self._left = joined[end:]
        return joined[:end]
