"""From rows of PostgreSQL to Arrow, little by little. Decimals stay exact, and nothing passes through a float."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from adomnia.errors import Failure
from adomnia.postgres import driver

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    import psycopg

BATCH = 4096
# What statements give, by the number of the type in PostgreSQL's catalog.
_TYPES = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    25: pa.string(),
    701: pa.float64(),
    1082: pa.date32(),
    1700: pa.decimal128(38, 0),
}


def read_batches(cursor: psycopg.Cursor[Any], text: str, parameters: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a statement, some at a time: what is not read yet is on the server, or on its way."""
    rows = cursor.stream(text, parameters, size=BATCH if driver().capabilities.has_stream_chunked() else 1)
    with closing(cast("Generator[tuple[Any, ...]]", rows)):
        while batch := list(islice(rows, BATCH)):
            yield batch


def read_table(cursor: psycopg.Cursor[Any], text: str, parameters: Sequence[str], most_bytes: int) -> pa.Table | None:
    """All rows of a statement, None if there are none; a Failure as soon as they take more memory than they may."""
    batches: list[pa.RecordBatch] = []
    size = 0
    for rows in read_batches(cursor, text, parameters):
        schema = batches[0].schema if batches else _schema(cursor)
        columns = zip(*rows, strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        batches.append(pa.record_batch(arrays, schema=schema))
        size += batches[-1].nbytes
        if size > most_bytes:
            raise Failure()
    return pa.Table.from_batches(batches) if batches else None


def _schema(cursor: psycopg.Cursor[Any]) -> pa.Schema:
    return pa.schema([(column.name, _TYPES[column.type_code]) for column in cursor.description or ()])
