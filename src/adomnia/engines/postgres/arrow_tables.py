"""Tables of Arrow, copied into PostgreSQL, and rows of PostgreSQL as Arrow, little by little.

Decimals stay exact, and nothing passes through a float.
"""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from adomnia.engines.postgres.dialect import POSTGRES
from adomnia.errors import Failure
from adomnia.postgres import driver

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    import psycopg


_BATCH = 10_000


def type_of(held: pa.DataType) -> str:
    """PostgreSQL's type for one of Arrow."""
    kinds = (
        (pa.types.is_null, "text"),
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_uint64, "numeric"),
        (pa.types.is_integer, "bigint"),
        (pa.types.is_floating, "double precision"),
        (pa.types.is_decimal, "numeric"),
        (pa.types.is_date, "date"),
        (lambda kind: pa.types.is_timestamp(kind) and kind.tz is not None, "timestamp with time zone"),
        (pa.types.is_timestamp, "timestamp without time zone"),
    )
    return next((name for fits, name in kinds if fits(held)), "text")


def source_type(held: pa.DataType) -> str:
    """What a column of Arrow is as a source: nothing is known of one without a value."""
    return POSTGRES.sources.empty if pa.types.is_null(held) else type_of(held)


def copy_table(session: psycopg.Connection[Any], name: str, rows: pa.Table, *, kept: bool = True) -> None:
    """Make a table, whose name is quoted, and copy all rows into it; one that is not `kept` ends with the build."""
    kinds = [type_of(field.type) for field in rows.schema]
    columns = [
        f"{POSTGRES.quote(field.name)} {kind}{' COLLATE ' + POSTGRES.quote('C') if kind == 'text' else ''}"
        for field, kind in zip(rows.schema, kinds, strict=True)
    ]
    session.execute(f"CREATE {'' if kept else 'UNLOGGED '}TABLE {name} ({', '.join(columns)})")
    with session.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
        for batch in rows.to_batches(_BATCH):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                copy.write_row(row)


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
