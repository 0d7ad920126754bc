"""From a result in Arrow to exact integers over all cells. Nothing here passes through a float."""

from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adomnia.noise import Integers
from adomnia.privacy.queries import Query


def cells(result: pa.Table, queries: tuple[Query, ...]) -> tuple[Integers, ...]:
    """One array for each query, in the shape of its keys. Rows whose key is NULL belong to no cell."""
    names = [f"k{place}" for place in range(len(queries[0].keys))]
    if names:
        result = result.filter(reduce(pc.and_, (result[name].is_valid() for name in names)))
    places = tuple(result[name].cast(pa.int64()).to_numpy() for name in names)
    return tuple(_spread(query, places, result[f"m{place}"]) for place, query in enumerate(queries))


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
