"""Large answers as JSON, piece by piece: written in one go, they would keep every other thread waiting for seconds."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from adomnia.server.problems import encoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SLICE = 10_000  # values at a time: about a millisecond
_one_at_a_time = Lock()  # large answers take much memory while they are written


def encoded_answer(record: Mapping[str, Any]) -> bytes:
    """An answer as the bytes of a JSON text."""
    if record["rows"] * len(record["columns"]) <= SLICE:
        return encoded(record)
    with _one_at_a_time:
        return _object((name, _columns(part) if name == "columns" else encoded(part)) for name, part in record.items())


def encoded_batch(record: Mapping[str, Any]) -> bytes:
    """The answers of a batch, likewise."""
    return _object([("answers", _list(encoded_answer(answer) for answer in record["answers"]))])


def encoded_pasts(record: Mapping[str, Any]) -> bytes:
    """The list of what somebody asked before, of whatever length."""
    return _object([("answers", _list(map(encoded, record["answers"])))])


def _columns(columns: Iterable[Mapping[str, Any]]) -> bytes:
    return _list(_object((name, _values(part)) for name, part in column.items()) for column in columns)


def _values(part: object) -> bytes:
    if not isinstance(part, list):
        return encoded(part)
    return _list(encoded(part[start : start + SLICE])[1:-1] for start in range(0, len(part), SLICE))


def _list(parts: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(parts) + b"]"


def _object(parts: Iterable[tuple[str, bytes]]) -> bytes:
    return b"{" + b",".join(encoded(name) + b":" + part for name, part in parts) + b"}"
