"""Tables of Arrow, copied into PostgreSQL: public ones as the index keeps them, and tables in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from adomnia.engines.postgres.dialect import POSTGRES

if TYPE_CHECKING:
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
