"""Columns of a table in memory as their declared types: row by row, NULL where a value cannot be read."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import types

if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBERS = {"integer", "number"}
_TRUTHS = {"true": True, "t": True, "yes": True, "1": True, "false": False, "f": False, "no": False, "0": False}


def type_of(held: pa.DataType) -> str | None:
    """The type of column that an Arrow type is read as; None where nothing can be asked about it."""
    inner = held.value_type if types.is_dictionary(held) else held
    for name, fits in _KINDS:
        if fits(inner):
            return name
    return None


def convert(column: pa.ChunkedArray, wanted: str) -> pa.ChunkedArray | None:
    """The column as a type; None where that cannot be made of what it holds."""
    held = type_of(column.type)
    if held is None:
        return None
    if wanted == "timestamp":  # texts are read where the zone is known
        return _as_engine_holds(column) if held in {"date", "text"} else None
    if wanted in ("id", held) or {held, wanted} == _NUMBERS:
        return _as_engine_holds(column)
    if wanted in {"text", "category"}:
        return column if held in {"text", "integer"} else _map(column, write_text, pa.string())
    if held == "text" or (wanted in {"boolean", *_NUMBERS} and held in {"boolean", *_NUMBERS}):
        return _map(column, *_READERS[wanted])
    return None


def _as_engine_holds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Moments of a time zone, which the engine knows to the microsecond, and half-precision numbers, which it does not.

    The day that a moment falls on is that of UTC.
    """
    held = column.type
    if types.is_float16(held):
        return column.cast(pa.float32())
    zoned = types.is_timestamp(held) and held.tz is not None and held.unit == "ns"
    return column.cast(pa.timestamp("us", held.tz), safe=False) if zoned else column


def _map(column: pa.ChunkedArray, read: Callable[[Any], Any], target: pa.DataType) -> pa.ChunkedArray:
    """Every value by itself: what a row becomes must not depend on what others hold."""
    held = column.combine_chunks()
    coded = held if types.is_dictionary(held.type) else held.dictionary_encode()
    values = [None if value is None else read(value) for value in map(_as_python, coded.dictionary)]
    return pa.chunked_array([pa.array(values, target).take(coded.indices)])


def _as_python(value: pa.Scalar) -> Any:  # noqa: ANN401 - a value of any type
    with suppress(ValueError, OverflowError):  # of days and moments that Python does not know
        return value.as_py()
    return None


def _read_number(value: Any) -> float | None:  # noqa: ANN401 - a text or a truth
    with suppress(ValueError):
        return float(value)
    return None


def _read_truth(value: object) -> bool | None:
    if isinstance(value, str):
        return _TRUTHS.get(value.strip().lower())
    return bool(value) if value == value else None  # noqa: PLR0124 - not a number


def _read_date(value: object) -> date | None:
    with suppress(ValueError):
        return datetime.fromisoformat(str(value).strip()).date()
    return None


def write_text(value: object) -> str:
    """As SQL writes it; a whole number without a point, because pandas keeps integers as doubles beside NULL."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


_KINDS: tuple[tuple[str, Callable[[pa.DataType], bool]], ...] = (
    ("boolean", types.is_boolean),
    ("date", lambda held: types.is_date(held) or types.is_timestamp(held)),
    ("integer", types.is_integer),
    ("number", lambda held: types.is_floating(held) or types.is_decimal(held)),
    ("text", lambda held: types.is_string(held) or types.is_large_string(held) or types.is_string_view(held)),
    ("text", types.is_null),
)
_READERS: dict[str, tuple[Callable[[Any], Any], pa.DataType]] = {
    "integer": (_read_number, pa.float64()),
    "number": (_read_number, pa.float64()),
    "boolean": (_read_truth, pa.bool_()),
    "date": (_read_date, pa.date32()),
}
