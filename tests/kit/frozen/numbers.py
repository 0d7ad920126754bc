"""Numbers of answers as text: as many digits as every machine agrees on, and of many rows the first and a sum."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from adomnia.noise import Integers

DIGITS = 8
_ROWS = 12  # of a table that are told
_FIRST = 6  # of the integers that were measured: they are told, and all of them are in the digest


def write_number(value: Any) -> str:
    """A cell: floats rounded, whole ones like whole numbers, and everything else as it is."""
    if value is None:
        return "NULL"
    return f"{value + 0.0:.{DIGITS}g}" if isinstance(value, float) else str(value)


def round_numbers(record: Any) -> Any:
    """Plain data with its floats rounded."""
    if isinstance(record, dict):
        return {name: round_numbers(part) for name, part in record.items()}
    if isinstance(record, list):
        return list(map(round_numbers, record))
    return float(write_number(record)) if isinstance(record, float) else record


def write_labels(values: Sequence[Any]) -> list[str]:
    """A column of texts or of numbers without intervals."""
    told = list(map(write_number, values[:_ROWS]))
    return told if len(values) <= _ROWS else [*told, f"... {_digest(map(write_number, values[_ROWS:]))}"]


def write_values(values: Sequence[Any], one: Sequence[Any], simultaneous: Sequence[Any]) -> list[str]:
    """A column of values with the intervals that hold for one row, and those that hold for all rows at once.

    Rows that are not told are added up, each as often as its place says.
    """
    told = [
        f"{write_number(value)} {_write_bounds(*alone)} {_write_bounds(*joint)}"
        for value, alone, joint, _ in zip(values, one, simultaneous, range(_ROWS), strict=False)
    ]
    if len(values) <= _ROWS:
        return told
    sums = [_add_up(column) for column in (values, *zip(*one, strict=True), *zip(*simultaneous, strict=True))]
    return [*told, f"... {sums[0]} [{sums[1]}, {sums[2]}] [{sums[3]}, {sums[4]}]"]


def write_table(columns: dict[str, list[str]]) -> Iterator[str]:
    """One line with the names, and one for each row."""
    yield " | ".join(columns)
    yield from map(" | ".join, zip(*columns.values(), strict=True))


def describe_measured(measured: Iterable[Integers]) -> Iterator[str]:
    """Noisy integers: their shape, the first ones, and a digest of all of them."""
    for each in measured:
        values = list(map(str, each.ravel().tolist()))
        more = [] if len(values) <= _FIRST else ["...", _digest(values)]
        yield f"measured {list(each.shape)}: {' '.join([*values[:_FIRST], *more])}"


def _write_bounds(lower: Any, upper: Any) -> str:
    return f"[{write_number(lower)}, {write_number(upper)}]"


def _add_up(values: Sequence[Any]) -> str:
    numbers = np.array([0 if each is None else each for each in values], dtype=float)
    finite = np.isfinite(numbers)
    places = np.arange(1, len(numbers) + 1)
    return f"{write_number(float(np.sum(numbers[finite] * places[finite])))} of {np.count_nonzero(finite)}"


def _digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()[:16]
