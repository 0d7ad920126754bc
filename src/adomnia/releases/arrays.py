"""Plain data with arrays, as JSON with two columns of numbers beside it: what a folder keeps of any object.

Every array says where in its column it begins. They lie there one after the other in the order of the JSON, so that no
number is read twice, whoever wrote the folder.
"""

from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction
from math import isfinite, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Json: TypeAlias = Any  # what json.loads gives
_INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
_NUMBERS = ("float32", "float64")
_MOST_AXES = 64  # of an array, which is what NumPy allows
_MOST_DEPTH = 40  # of what is nested
_MOST_DIGITS = 60  # of an integer that 64 bits do not hold
_LARGE = 2**63


class Packed(tuple[NDArray[np.int64], NDArray[np.float64]]):
    """The two columns: integers and numbers."""

    __slots__ = ()


class Packer:
    """Turns plain data into JSON, and collects the arrays."""

    def __init__(self) -> None:
        self._kept: dict[str, list[NDArray[Any]]] = {"integers": [], "numbers": []}
        self._sizes = {"integers": 0, "numbers": 0}

    def pack(self, value: Any) -> Json:  # noqa: ANN401 - any plain data
        """The same as JSON; a ValueError for what is not plain."""
        match value:
            case np.ndarray():
                return self._pack_array(value)
            case np.generic():
                return _pack_scalar(value.item())
            case Mapping():
                return {_check_key(key): self.pack(each) for key, each in value.items()}
            case tuple() | list():
                return [self.pack(each) for each in value]
        return _pack_scalar(value)

    def columns(self) -> Packed:
        """The numbers of all arrays, one after the other."""
        integers = [each.ravel().astype(np.int64) for each in self._kept["integers"]]
        numbers = [each.ravel().astype(np.float64) for each in self._kept["numbers"]]
        return Packed((_join(integers, np.int64), _join(numbers, np.float64)))

    def _pack_array(self, array: NDArray[Any]) -> Json:
        if array.dtype == object:
            return {"$large": [list(array.shape), [str(int(each)) for each in array.ravel()]]}
        kind = array.dtype.name
        if kind not in (*_INTEGERS, *_NUMBERS):
            raise ValueError(f"Packer arrays must be of {', '.join((*_INTEGERS, *_NUMBERS))}, got {kind}.")
        column = "integers" if kind in _INTEGERS else "numbers"
        start = self._sizes[column]
        self._kept[column].append(array)
        self._sizes[column] += array.size
        return {"$array": [kind, start, list(array.shape)]}


class Unpacker:
    """Turns such JSON back, whoever wrote it; a ValueError where it is not what a Packer writes."""

    def __init__(self, integers: NDArray[np.int64], numbers: NDArray[np.float64]) -> None:
        self._columns: dict[str, NDArray[Any]] = {"integers": integers, "numbers": numbers}
        self._read = {"integers": 0, "numbers": 0}

    def unpack(self, value: Json, depth: int = 0) -> Any:  # noqa: ANN401 - any plain data
        """The plain data; lists where tuples were."""
        if depth > _MOST_DEPTH:
            raise ValueError(f"Unpacker value must be nested at most {_MOST_DEPTH} deep.")
        if isinstance(value, list):
            return [self.unpack(each, depth + 1) for each in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((key, content),) = value.items()
            if key.startswith("$"):
                return self._unpack_special(key, content)
        return {_check_key(key): self.unpack(each, depth + 1) for key, each in value.items()}

    def finish(self) -> None:
        """A ValueError if numbers are left that belong to nothing."""
        for column, read in self._read.items():
            if read != len(self._columns[column]):
                raise ValueError(f"Unpacker must use all {column}, got {len(self._columns[column]) - read} more.")

    def _unpack_special(self, key: str, content: Json) -> Any:  # noqa: ANN401, PLR0911 - one line for each sort
        match key, content:
            case "$array", [str(kind), int(start), list(shape)]:
                return self._unpack_array(kind, start, _check_shape(shape))
            case "$large", [list(shape), list(digits)]:
                return np.array([_read_integer(each) for each in digits], dtype=object).reshape(_check_shape(shape))
            case "$integer", str(digits):
                return _read_integer(digits)
            case "$number", "inf" | "-inf" | "nan":
                return float(content)
            case "$fraction", str(written) if len(written) <= 2 * _MOST_DIGITS:
                return Fraction(*map(_read_integer, written.split("/")))
            case "$moment", str(written):
                return datetime.fromisoformat(written)
            case "$day", str(written):
                return date.fromisoformat(written)
        raise ValueError(f"Unpacker value must be what a Packer writes, got {key[:20]!r}.")

    def _unpack_array(self, kind: str, start: int, shape: tuple[int, ...]) -> NDArray[Any]:
        if kind not in (*_INTEGERS, *_NUMBERS):
            raise ValueError(f"Unpacker arrays must be of a known type, got {kind[:20]!r}.")
        column = "integers" if kind in _INTEGERS else "numbers"
        end = start + prod(shape)
        if start != self._read[column] or end > len(self._columns[column]):
            raise ValueError(f"Unpacker arrays must follow each other in the {column}, got one at {start}.")
        self._read[column] = end
        found = self._columns[column][start:end]
        narrow = found.astype(kind)
        if column == "integers" and not np.array_equal(narrow.astype(np.int64), found):
            raise ValueError(f"Unpacker integers must fit {kind}.")
        return narrow.reshape(shape)


def _pack_scalar(value: Any) -> Json:  # noqa: ANN401 - any plain data, one line for each sort
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -_LARGE <= value < _LARGE else {"$integer": str(value)}
        case float():
            return value if isfinite(value) else {"$number": str(value)}
        case Fraction():
            return {"$fraction": str(value)}
        case datetime():
            return {"$moment": value.isoformat()}
        case date():
            return {"$day": value.isoformat()}
    raise ValueError(f"Packer value must be plain data, got {type(value).__name__}.")


def _join(arrays: list[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=kind)


def _check_key(key: Any) -> str:  # noqa: ANN401 - keys of mappings of others
    if not isinstance(key, str) or key.startswith("$"):
        raise ValueError(f"Packer keys must be texts that do not begin with $, got {key!r:.40}.")
    return key


def _check_shape(shape: list[Any]) -> tuple[int, ...]:
    if len(shape) > _MOST_AXES or not all(type(each) is int and 0 <= each < _LARGE for each in shape):
        raise ValueError(f"Unpacker shapes must be at most {_MOST_AXES} counts.")
    return tuple(shape)


def _read_integer(digits: Any) -> int:  # noqa: ANN401 - from a stranger
    if not isinstance(digits, str) or len(digits) > _MOST_DIGITS:
        raise ValueError(f"Unpacker integers must be texts of at most {_MOST_DIGITS} digits.")
    return int(digits)
