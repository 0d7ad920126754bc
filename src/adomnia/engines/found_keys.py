"""Keys whose values nobody declared, in a result in Arrow: as they are, or as places among those that were found."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adomnia.noise import Integers
from adomnia.privacy.keys import AnyKey, Bucket, Names

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
