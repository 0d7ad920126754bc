"""JSON replies. Large answers are encoded in slices: in one go they would block all other threads for seconds."""

from __future__ import annotations

import json
from threading import Lock
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SLICE = 10_000  # values at a time: about a millisecond
_one_at_a_time = Lock()  # large answers take much memory while they are encoded


def json_response(record: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A reply with plain data as JSON."""
    return Response(encode_json(record), status, headers, "application/json")


def encode_json(record: object) -> bytes:
    """Encode plain data as JSON."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False).encode()


def encode_answer(record: Mapping[str, Any]) -> bytes:
    """Encode an answer, in slices if it is large."""
    if record["rows"] * len(record["columns"]) <= SLICE:
        return encode_json(record)
    with _one_at_a_time:
        return _encode_object(
            (name, _encode_columns(part) if name == "columns" else encode_json(part)) for name, part in record.items()
        )


def encode_batch(record: Mapping[str, Any]) -> bytes:
    """Encode the answers of a batch."""
    return _encode_object([("answers", _encode_list(encode_answer(answer) for answer in record["answers"]))])


def encode_pasts(record: Mapping[str, Any]) -> bytes:
    """Encode a page of earlier answers, one at a time."""
    return _encode_object(
        (name, _encode_list(map(encode_json, part)) if name == "answers" else encode_json(part))
        for name, part in record.items()
    )


def _encode_columns(columns: Iterable[Mapping[str, Any]]) -> bytes:
    return _encode_list(
        _encode_object((name, _encode_values(part)) for name, part in column.items()) for column in columns
    )


def _encode_values(part: object) -> bytes:
    if not isinstance(part, list):
        return encode_json(part)
    return _encode_list(encode_json(part[start : start + SLICE])[1:-1] for start in range(0, len(part), SLICE))


def _encode_list(parts: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(parts) + b"]"


def _encode_object(parts: Iterable[tuple[str, bytes]]) -> bytes:
    return b"{" + b",".join(encode_json(name) + b":" + part for name, part in parts) + b"}"
