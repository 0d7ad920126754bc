"""The Parquet files of a folder, in memory: written from tables, and read again within bounds, whoever wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet, types

from adomnia.spreadsheets import defuse_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MOST_BYTES = 2**31  # of a file, and of a table in memory
_MOST_COLUMNS = 1_000
_MOST_ROWS = 2**27
_THRIFT_BYTES = 2**24  # of what a file says about itself
_VALUE = "value"
FAULTS = (pa.ArrowException, OSError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, MemoryError)
_PLAIN: tuple[Callable[[pa.DataType], bool], ...] = (
    types.is_string,
    types.is_boolean,
    types.is_integer,
    types.is_floating,
    types.is_date,
    types.is_timestamp,
    types.is_null,
)


def write_table(table: pa.Table) -> bytes:
    """A table as a Parquet file."""
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def write_csv(table: pa.Table) -> bytes:
    """A table as a CSV file with its names on top; no text of it is a formula to a spreadsheet."""
    sink = pa.BufferOutputStream()
    csv.write_csv(defuse_table(table), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def write_numbers(numbers: NDArray[np.generic]) -> bytes:
    """A column of integers or of numbers as a Parquet file."""
    return write_table(pa.table({_VALUE: pa.array(numbers)}))


def read_table(content: bytes) -> pa.Table:
    """The table of a Parquet file; a fault of FAULTS where it is none, or too large for what a release is."""
    file = _open(content)
    texts = [field.name for field in file.schema_arrow if types.is_string(field.type)]
    for field in file.schema_arrow:
        if not any(fits(field.type) for fits in _PLAIN):
            raise ValueError(f"Parquet columns must be of plain values, got {field.type}.")
    # Texts as places in the list of those that differ: a short file can hold a long text very often.
    table = _open(content, texts).read(use_threads=False)
    schema = file.schema_arrow
    columns = [_spell(table.column(place), schema.field(place).type) for place in range(table.num_columns)]
    return pa.table(columns, schema=schema)


def read_numbers(content: bytes, kind: type[np.generic]) -> NDArray[np.generic]:
    """The column of a Parquet file that `write_numbers` wrote."""
    file = _open(content)
    fits = types.is_int64 if kind is np.int64 else types.is_float64
    if file.schema_arrow.names != [_VALUE] or not fits(file.schema_arrow.field(0).type):
        raise ValueError(f"Parquet file must have one column {_VALUE} of {kind.__name__}.")
    column = file.read(use_threads=False).column(0)
    if column.null_count:
        raise ValueError("Parquet numbers must not be missing.")
    found: NDArray[np.generic] = column.to_numpy()
    return found


def _open(content: bytes, texts: list[str] | None = None) -> parquet.ParquetFile:
    file = parquet.ParquetFile(
        pa.BufferReader(content),
        read_dictionary=texts or None,
        thrift_string_size_limit=_THRIFT_BYTES,
        thrift_container_size_limit=_THRIFT_BYTES,
    )
    described = file.metadata
    if described.num_columns > _MOST_COLUMNS or described.num_rows > _MOST_ROWS:
        raise ValueError(f"Parquet file must have at most {_MOST_ROWS:,} rows of {_MOST_COLUMNS} columns.")
    groups = [described.row_group(place) for place in range(described.num_row_groups)]
    if sum(group.num_rows for group in groups) != described.num_rows:
        raise ValueError("Parquet file must have the rows that it says.")
    if described.num_rows * max(1, described.num_columns) * np.int64().itemsize > MOST_BYTES:
        raise ValueError(f"Parquet file must need at most {MOST_BYTES:,} bytes.")
    return file


def _spell(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column with texts in the places of places."""
    if not types.is_dictionary(column.type):
        return column
    longest = max((pc.max(pc.binary_length(each.dictionary)).as_py() or 0 for each in column.chunks), default=0)
    if longest * len(column) > MOST_BYTES:
        raise ValueError(f"Parquet texts must need at most {MOST_BYTES:,} bytes.")
    return column.cast(kind)
