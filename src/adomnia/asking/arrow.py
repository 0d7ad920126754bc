"""An answer as an Arrow table: its columns as they are in memory, each measured one with its interval beside it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from adomnia.plans.columns import KeyColumn, name_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from adomnia.plans.columns import Cell, MeasuredCells, ValueColumn
    from adomnia.statistics.contract import Estimate, Floats

_EXACT = 2.0**53  # from here on a double may have been rounded
_FIRST_DAY = np.datetime64("0001-01-01", "D")


def build_table(
    columns: Sequence[KeyColumn | ValueColumn], rows: NDArray[np.intp], read: Callable[[ValueColumn], MeasuredCells]
) -> pa.Table:
    """The rows of the columns, with the interval beside each measured one; field metadata says what each is."""
    ends = name_ends(columns)
    named = [pair for column in columns for pair in _arrays(column, ends.get(column.name, ()), rows, read)]
    return pa.table([array for _, array in named], schema=pa.schema([field for field, _ in named]))


def _arrays(
    column: KeyColumn | ValueColumn,
    ends: Sequence[str],
    rows: NDArray[np.intp],
    read: Callable[[ValueColumn], MeasuredCells],
) -> Iterator[tuple[pa.Field, pa.Array]]:
    if isinstance(column, KeyColumn):
        array = _key_array(column.values, rows)
        floor = {} if column.floor is None else {"floor": repr(column.floor)}
        yield pa.field(column.name, array.type, metadata={"kind": "fact" if column.fact else "key"} | floor), array
        return
    estimate = column.estimate
    found = read(column)
    parts = [found.upper, found.lower, found.values]
    del found
    for name, kind in zip((column.name, *ends), ("value", "lower", "upper"), strict=True):
        array = _value_array(parts.pop(), estimate)  # popped, so that the numbers go when their array is there
        yield pa.field(name, array.type, metadata={"kind": kind, "method": estimate.method}), array


def _key_array(values: tuple[Cell | None, ...], rows: NDArray[np.intp]) -> pa.Array:
    """Public values; of no rows, the first value that is not shown has the type."""
    # Not `rows.tolist()`, which for a moment would take as much memory as the answer.
    shown: list[Any] = [values[row] for row in rows] or list(values[:1])
    first = next((value for value in shown if value is not None), None)
    try:
        array = pa.array(shown, pa.timestamp("s") if isinstance(first, datetime) else None)
    except (pa.ArrowException, OverflowError):  # an integer too large for a column of them is written as its digits
        array = pa.array([None if value is None else str(value) for value in shown])
    return array.slice(0, len(rows))


def _value_array(numbers: Floats, estimate: Estimate) -> pa.Array:
    """Dates where they are, integers where all are exact, and else doubles; NaN is NULL."""
    if estimate.dates:
        known = np.isfinite(numbers)
        days = _FIRST_DAY + np.where(known, numbers, 0).astype(np.int64)
        return pa.array(days, pa.date32(), mask=~known)
    mask = np.isnan(numbers)
    missing = bool(mask.any())
    given = np.where(mask, 0, numbers) if missing else numbers
    exact = estimate.whole and bool((np.abs(given) < _EXACT).all())
    return pa.array(given.astype(np.int64) if exact else given, mask=mask if missing else None)
