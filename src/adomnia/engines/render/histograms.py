# ruff: noqa: S608 - SQL is what this module writes; names are quoted, text is bound
"""How many rows hold each value of a grid, in every cell: SQL in which the value, or its bucket, is one more key."""

from adomnia.engines.render.constants import integer
from adomnia.engines.render.relations import render_source, render_where
from adomnia.engines.render.scalars import Scalars
from adomnia.privacy.aggregates import Histogram
from adomnia.privacy.queries import Query


def render_histogram(query: Query, keys: list[str], scalars: Scalars) -> str:
    """The statement over rendered keys; values are counted from the first of the grid."""
    aggregate = query.aggregate
    assert isinstance(aggregate, Histogram)  # noqa: S101 - nothing else comes here
    grid = scalars.grid(aggregate.value, aggregate.domain)
    value = f"CAST({grid} AS {scalars.dialect.types.long.name}) - {integer(aggregate.domain.grid_lower)}"
    bucket = scalars.dialect.shifted.format(value, aggregate.shift)
    table, conditions = render_source(query.read, scalars)
    if aggregate.buckets is not None:
        conditions.append(f"(({bucket}) IN ({', '.join(map(integer, aggregate.buckets))}))")
    outputs = [*keys, bucket if aggregate.buckets is None else value]
    named = ", ".join(f"{output} AS k{place}" for place, output in enumerate(outputs))
    numbers = ", ".join(str(place + 1) for place in range(len(outputs)))
    return f"SELECT {named}, COUNT(*) AS m0 FROM {table}{render_where(conditions)} GROUP BY {numbers}"
