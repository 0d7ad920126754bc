"""Replies as bytes. Large answers are encoded and sent in pieces.

In one go they would block all other threads for seconds, and be in memory several times over.
"""

from __future__ import annotations

import json
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.responses import Response

from adomnia.wire.answers import ColumnNumbers, answer_facts, answer_record, column_records
from adomnia.wire.tables import ARROW, CSV, encode_arrow, encode_csv

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from adomnia.session.answer import Answer

SLICE = 10_000  # values at a time: about a millisecond
_PIECE_BYTES = 2**17  # at least, where more follows
_one_at_a_time = Lock()  # large answers take much memory while they are encoded

Pieces: TypeAlias = "list[bytes]"
"""The bytes of a reply, in parts that follow each other."""


def json_response(record: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A reply with plain data as JSON."""
    return Response(encode_json(record), status, headers, "application/json")


def encode_json(record: object) -> bytes:
    """Encode plain data as JSON."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False).encode()


def encode_answer(answer: Answer, *, simultaneous: bool = False, without: Collection[str] = ()) -> Pieces:
    """Encode an answer without some of its parts, in slices if it is large."""
    if len(answer) * len(answer.columns) <= SLICE:
        record = answer_record(answer, simultaneous=simultaneous)
        return [encode_json({name: part for name, part in record.items() if name not in without})]
    facts = {
        name: part for name, part in answer_facts(answer, simultaneous=simultaneous).items() if name not in without
    }
    with _one_at_a_time:
        return encode_record({"columns": column_records(answer, simultaneous=simultaneous), **facts})


def encode_table(answer: Answer, form: str, *, simultaneous: bool = False) -> Pieces:
    """Encode an answer as a stream of Arrow or as CSV."""
    encode = {ARROW: encode_arrow, CSV: encode_csv}[form]
    if len(answer) * len(answer.columns) <= SLICE:
        return _gather(encode(answer, simultaneous=simultaneous))
    with _one_at_a_time:
        return _gather(encode(answer, simultaneous=simultaneous))


def encode_record(record: Mapping[str, Any]) -> Pieces:
    """Encode the record of an answer in slices; its columns are looked at one at a time."""
    parts = ((name, _columns(part) if name == "columns" else [encode_json(part)]) for name, part in record.items())
    return _gather(_object(parts))


def encode_batch(answers: Iterable[Answer]) -> Pieces:
    """Encode the answers of a batch."""
    return _gather(_object([("answers", _list(map(encode_answer, answers)))]))


def encode_pasts(record: Mapping[str, Any]) -> bytes:
    """Encode a page of earlier answers, one at a time."""
    parts = (
        (name, _list([encode_json(past)] for past in part) if name == "answers" else [encode_json(part)])
        for name, part in record.items()
    )
    return b"".join(_object(parts))


def _columns(columns: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    return _list(_object((name, _values(part)) for name, part in column.items()) for column in columns)


def _values(part: Any) -> Iterable[bytes]:  # noqa: ANN401 - whatever a column has
    if not isinstance(part, list | ColumnNumbers):
        return [encode_json(part)]
    slices = (
        part[start : start + SLICE] if isinstance(part, list) else part.part(start, start + SLICE)
        for start in range(0, len(part), SLICE)
    )
    return _list([encode_json(each)[1:-1]] for each in slices)


def _list(items: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    return chain([b"["], _separate(items), [b"]"])


def _object(parts: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    return chain([b"{"], _separate(chain([encode_json(name) + b":"], part) for name, part in parts), [b"}"])


def _separate(items: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    for place, item in enumerate(items):
        if place:
            yield b","
        yield from item


def _gather(parts: Iterable[bytes]) -> Pieces:
    """Put small parts together: each piece is one write to the connection."""
    pieces: Pieces = []
    waiting: Pieces = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= _PIECE_BYTES:
            pieces.append(b"".join(waiting))
            waiting, size = [], 0
    return [*pieces, b"".join(waiting)] if waiting else pieces
