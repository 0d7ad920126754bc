"""From a result in Arrow to exact integers over all cells. Nothing here passes through a float."""

from itertools import count, islice

import numpy as np
import pyarrow as pa

from adomnia.engines.duckdb.keys import placed, with_keys
from adomnia.noise import Integers
from adomnia.privacy.aggregates import Histogram
from adomnia.privacy.queries import Query
from adomnia.privacy.vectors import Vector


def cells(result: pa.Table, queries: tuple[Query, ...]) -> tuple[Integers, ...]:
    """One array for each query, in the shape of its keys. Rows whose key is NULL belong to no cell."""
    keys = queries[0].keys
    result = with_keys(placed(result, keys), keys)
    if isinstance(queries[0].aggregate, Histogram):
        return (_counts(result.drop_null(), queries[0]),)
    names = [f"k{place}" for place in range(len(keys))]
    starts = [cells.start for cells in queries[0].cells]
    places = tuple(result[name].cast(pa.int64()).to_numpy() - first for name, first in zip(names, starts, strict=True))
    columns = (result[f"m{place}"] for place in count())
    return tuple(_laid_out(query, places, list(islice(columns, query.columns))) for query in queries)


def _counts(result: pa.Table, query: Query) -> Integers:
    """The cells, values and counts of a histogram, one below the other."""
    columns = [result[name].cast(pa.int64()).to_numpy() for name in result.column_names]
    starts = [cells.start for cells in query.cells]
    places = [column - first for column, first in zip(columns, starts, strict=False)]
    cell = np.ravel_multi_index(places, query.shape) if places else np.zeros(len(result), dtype=np.int64)
    return np.stack([cell, *columns[-2:]])


def _laid_out(query: Query, places: tuple[Integers, ...], columns: list[pa.ChunkedArray]) -> Integers:
    """An array over all cells; of a vector, with its entries innermost."""
    arrays = [_spread(query, places, column) for column in columns]
    if not isinstance(query.aggregate, Vector):
        return arrays[0]
    entries: Integers = np.stack(arrays, axis=-1)  # type: ignore[assignment]  # all of one type
    return entries


def _spread(query: Query, places: tuple[Integers, ...], column: pa.ChunkedArray) -> Integers:
    wide = pa.types.is_decimal(column.type)
    exact = np.zeros(query.shape, dtype=object if wide else np.int64)
    values = _wide(column) if wide else column.cast(pa.int64()).fill_null(0).to_numpy()
    exact[places] = values if places else values[0]
    return exact


def _wide(column: pa.ChunkedArray) -> Integers:
    """DECIMAL(38, 0) as Python integers: its two's complement halves, put together."""
    if column.type != pa.decimal128(38, 0):
        raise ValueError(f"Wide sums must be DECIMAL(38, 0), got {column.type}.")
    decimals = column.combine_chunks().fill_null(0)
    halves = np.frombuffer(decimals.buffers()[1], dtype="<i8").reshape(-1, 2)[decimals.offset :][: len(decimals)]
    joined: Integers = halves[:, 0].view(np.uint64).astype(object) + halves[:, 1].astype(object) * 2**64
    return joined
