"""From a result to exact integers over all cells. Nothing here passes through a float."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from itertools import accumulate
from math import prod
from operator import index
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adomnia.noise import Integers
from adomnia.privacy.keys import AnyKey, Bucket, Names, is_open
from adomnia.privacy.queries import Query

_LONG = 2**63 - 1  # the largest of 64 bits, in every engine
_HISTOGRAM_ROWS = 3  # cells, values and counts
MOST_ROWS = 256  # that are quicker as Python objects than as an Arrow table


def are_few(queries: tuple[Query, ...]) -> bool:
    """Whether public facts say that a result has few rows, all of them integers."""
    first = queries[0]
    few = prod(first.shape) <= MOST_ROWS and not any(map(is_open, first.keys))
    return few and first.form != "histogram"


def are_counts(queries: tuple[Query, ...]) -> bool:
    """Whether a result is the counts of a histogram, and all keys before its values are integers too."""
    first = queries[0]
    return first.form == "histogram" and not any(map(is_open, first.keys))


def read_counts(columns: Mapping[str, Integers], queries: tuple[Query, ...]) -> tuple[Integers, ...]:
    """The counts of a histogram from its columns in NumPy, where a NULL is masked. Such rows belong to no cell."""
    if not all(np.can_cast(column.dtype, np.int64) for column in columns.values()):
        raise ValueError("Histogram columns must be integers of 64 bits, got others.")
    known = ~np.any([np.ma.getmaskarray(column) for column in columns.values()], axis=0)
    return (_count_cells([np.asarray(column, dtype=np.int64)[known] for column in columns.values()], queries[0]),)


def read_rows(names: Sequence[str], rows: list[tuple[Any, ...]], queries: tuple[Query, ...]) -> tuple[Integers, ...]:
    """One array for each query, in the shape of its keys. Rows whose key is NULL belong to no cell."""
    keys = sum(name.startswith("k") for name in names)
    known = [row for row in rows if None not in row[:keys]]
    numbered = zip(queries, _number_columns(queries), strict=True)
    wide = {f"m{number}" for query, numbers in numbered if _is_wide(query) for number in numbers}
    columns = {
        # A value that does not fit is an error: the type is that of the query, whatever the rows hold.
        name: np.array([_integer(row[place]) for row in known], dtype=object if name in wide else np.int64)
        for place, name in enumerate(names)
    }
    return _lay_out(columns, queries)


def read_cells(result: pa.Table, queries: tuple[Query, ...]) -> tuple[Integers, ...]:
    """The same from an Arrow table."""
    keys = queries[0].keys
    result = drop_missing_keys(number_found_keys(result, keys), keys)
    if queries[0].form == "histogram":
        known = result.drop_null()
        return (_count_cells([known[name].cast(pa.int64()).to_numpy() for name in known.column_names], queries[0]),)
    return _lay_out({name: _integers(result[name]) for name in result.column_names}, queries)


def read_nothing(queries: tuple[Query, ...]) -> tuple[Integers, ...]:
    """The same of a result without a row, of which an engine may not even tell the columns."""
    if queries[0].form == "histogram":
        return (np.zeros((_HISTOGRAM_ROWS, 0), dtype=np.int64),)
    return tuple(np.zeros(query.result_shape, dtype=object if _is_wide(query) else np.int64) for query in queries)


def _count_cells(columns: Sequence[NDArray[np.int64]], query: Query) -> Integers:
    """The cells, values and counts of a histogram, one below the other."""
    starts = [cells.start for cells in query.cells]
    places = [column - first for column, first in zip(columns, starts, strict=False)]
    cell = np.ravel_multi_index(places, query.shape) if places else np.zeros(len(columns[-1]), dtype=np.int64)
    return np.stack([cell, *columns[-2:]])


def _lay_out(columns: Mapping[str, Integers], queries: tuple[Query, ...]) -> tuple[Integers, ...]:
    """The cells of each query; of a vector, with its entries innermost."""
    told = [name for name in columns if name.startswith("k")]
    places = tuple(columns[name] - cells.start for name, cells in zip(told, queries[0].cells, strict=False))
    found: list[Integers] = []
    for query, numbers in zip(queries, _number_columns(queries), strict=True):
        entries = [_spread(columns, number, query, places) for number in numbers]
        if len(query.result_shape) > len(query.shape):
            entries = [np.stack(entries, axis=-1)]  # type: ignore[list-item]  # all of one type
        found.append(entries[0])
    return tuple(found)


def _number_columns(queries: tuple[Query, ...]) -> list[range]:
    """The numbers of each query's columns: m0, m1, ... are in the order of queries, and one for each entry."""
    stops = accumulate(query.columns for query in queries)
    return [range(stop - query.columns, stop) for query, stop in zip(queries, stops, strict=True)]


def _spread(columns: Mapping[str, Integers], number: int, query: Query, places: tuple[Integers, ...]) -> Integers:
    """One column over all cells. Where the last key is told side by side, m are the cells before n."""
    halves = [name for name in (f"m{number}", f"n{number}") if name in columns]
    exact = np.zeros(query.shape, dtype=object if columns[halves[0]].dtype == object else np.int64)
    for half, name in enumerate(halves):
        at = places if len(places) == len(query.keys) else (*places, half)
        exact[at] = columns[name] if places else columns[name][0]
    return exact


def _is_wide(query: Query) -> bool:
    """Whether a sum leaves the engine as DECIMAL(38, 0)."""
    summed = query.aggregate.adds_up or query.clip is not None
    return summed and query.largest > _LONG


def _integer(cell: int | Decimal | None) -> int:
    """A sum over nothing is 0; a float is an error."""
    if cell is None:
        return 0
    return int(cell) if isinstance(cell, Decimal) else index(cell)


def _integers(column: pa.ChunkedArray) -> Integers:
    wide = pa.types.is_decimal(column.type)
    exact: Integers = _wide(column) if wide else column.cast(pa.int64()).fill_null(0).to_numpy()
    return exact


def _wide(column: pa.ChunkedArray) -> Integers:
    """DECIMAL(38, 0) as Python integers: its two's complement halves, put together."""
    if column.type != pa.decimal128(38, 0):
        raise ValueError(f"Wide sums must be DECIMAL(38, 0), got {column.type}.")
    decimals = column.combine_chunks().fill_null(0)
    halves = np.frombuffer(decimals.buffers()[1], dtype="<i8").reshape(-1, 2)[decimals.offset :][: len(decimals)]
    joined: Integers = halves[:, 0].view(np.uint64).astype(object) + halves[:, 1].astype(object) * 2**64
    return joined


At = Callable[[NDArray[np.intp]], list[tuple[Any, ...]]]


def drop_missing_keys(result: pa.Table, keys: Sequence[AnyKey]) -> pa.Table:
    """The rows whose keys all have a value: one that is NULL belongs to no group."""
    told = [name for name in (f"k{place}" for place in range(len(keys))) if name in result.column_names]
    return result.filter(reduce(pc.and_, (result[name].is_valid() for name in told))) if told else result


def number_found_keys(result: pa.Table, keys: Sequence[AnyKey]) -> pa.Table:
    """The same result with the places of values among those that were found, NULL for others."""
    for place, key in enumerate(keys):
        match key:
            case Bucket(among=Names(found=found)):
                column = result[f"k{place}"]
                places = pc.index_in(column, value_set=pa.array(found, type=column.type))
                result = result.set_column(place, f"k{place}", places)
    return result


def count_nobody() -> tuple[Integers, At]:
    """Of a result without a row: nobody has any value."""
    return np.zeros(0, dtype=np.int64), lambda _places: []


def count_people(result: pa.Table, keys: Sequence[AnyKey]) -> tuple[Integers, At]:
    """How many people have each value that somebody has; and the values, to be asked for by place."""
    rows = drop_missing_keys(result, keys)
    people: Integers = rows["m0"].cast(pa.int64()).to_numpy()

    def at(places: NDArray[np.intp]) -> list[tuple[Any, ...]]:
        named = rows.take(pa.array(places))
        return list(zip(*(named[f"k{place}"].to_pylist() for place in range(len(keys))), strict=True))

    return people, at
