"""Replies in the form that a request accepts: encoded, kept, and sent as fast as the caller reads them."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.responses import Response

from adomnia.wire.answers import ColumnNumbers, answer_facts, answer_record, column_records
from adomnia.wire.tables import ARROW, CSV, encode_arrow, encode_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from starlette.types import Receive, Scope, Send

    from adomnia.api.running.answer_memory import AnswerMemory, Claim
    from adomnia.session.answer import Answer

PATIENCE_SECONDS, LEAST_BYTES_A_SECOND = 30.0, 2**18  # how long a reply may take, whatever its size and by its size
JSON = "application/json"
_FORMS = (JSON, ARROW, CSV)
_MOST_PARTS = 20  # of a header that are read
LARGEST_BYTES = 2**26  # of a process
_LEAST_REPLIES = 8  # that fit: a reply larger than this part of the cache is not stored
_OVERHEAD = 500  # bytes around each reply
SLICE = 10_000  # values at a time: about a millisecond
_PIECE_BYTES = 2**17  # at least, where more follows
_one_at_a_time = Lock()  # large answers take much memory while they are encoded

Pieces: TypeAlias = "list[bytes]"
"""The bytes of a reply, in parts that follow each other."""


def choose_form(accept: str | None) -> str:
    """The media type that an Accept header names with the greatest weight; JSON where it names none of ours.

    >>> choose_form("text/csv;q=0.5, application/vnd.apache.arrow.stream")
    'application/vnd.apache.arrow.stream'
    >>> choose_form("*/*")
    'application/json'
    """
    weights: dict[str, float] = {}
    for part in (accept or "").split(",")[:_MOST_PARTS]:
        form, *parameters = (each.strip().lower() for each in part.split(";"))
        if form in _FORMS:
            weights[form] = _read_weight(parameters)
    best = max(weights, key=lambda form: weights[form], default=JSON)
    return best if weights.get(best) else JSON


def _read_weight(parameters: list[str]) -> float:
    written = next((each[2:] for each in parameters if each.startswith("q=")), "1")
    try:
        weight = float(written)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0


@dataclass(frozen=True)
class EncodedReply:
    """The pieces of a reply, the memory that they may take until they are sent, and their media type."""

    pieces: Pieces
    claim: Claim | None = None
    form: str = JSON


def encode_within(memory: AnswerMemory, encode: Callable[[], Pieces], form: str = JSON) -> EncodedReply:
    """Answer and encode within the memory of a worker; once that is done, the reply takes no more than its bytes."""
    with memory.job() as claim:
        pieces = encode()
        claim.resize(min(claim.size, sum(map(len, pieces))))
    return EncodedReply(pieces, claim, form)


class PiecewiseResponse(Response):
    """A reply in pieces, of which each is let go when it is sent, and the memory of all of them at the end.

    A caller who reads too slowly is cut off: what waits for them is memory that others could have.
    """

    def __init__(self, reply: EncodedReply, headers: Mapping[str, str] | None = None, status: int = 200) -> None:
        size = sum(map(len, reply.pieces))
        super().__init__(None, status, {**(headers or {}), "Content-Length": str(size)}, reply.form)
        self._pieces, self._claim = reply.pieces[::-1], reply.claim
        self._seconds = PATIENCE_SECONDS + size / LEAST_BYTES_A_SECOND

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - the form of ASGI
        try:
            with suppress(TimeoutError):  # a reply that is not complete makes the server close the connection
                await asyncio.wait_for(self._send_all(send), self._seconds)
        finally:
            self._pieces.clear()
            if self._claim is not None:
                self._claim.resize(0)  # at once, whoever may still hold it

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while self._pieces:
            piece = self._pieces.pop()
            await send({"type": "http.response.body", "body": piece, "more_body": bool(self._pieces)})


@dataclass(frozen=True)
class ReplyKey:
    """Everything that an answer depends on except its request id: who asked what, under which catalog."""

    analyst: str
    edition: str
    question: str


@dataclass(frozen=True)
class CachedReply:
    """A reply without the parts that change each time, and the request id that paid for it."""

    request_id: str
    body: Pieces


class ReplyCache:
    """The cache of one process, of limited size; the least recently used replies are dropped first."""

    def __init__(self, largest_bytes: int = LARGEST_BYTES) -> None:
        self._largest_bytes, self._used_bytes = largest_bytes, 0
        self._replies: OrderedDict[ReplyKey, CachedReply] = OrderedDict()
        self._lock = Lock()

    def put(self, key: ReplyKey, reply: CachedReply) -> None:
        """Store a reply, unless it is very large."""
        size = _size(key, reply)
        if size * _LEAST_REPLIES > self._largest_bytes:
            return
        with self._lock:
            self._drop(key)
            self._replies[key] = reply
            self._used_bytes += size
            while self._used_bytes > self._largest_bytes:
                self._drop(next(iter(self._replies)))

    def get(self, key: ReplyKey) -> CachedReply | None:
        """The reply to the same question."""
        with self._lock:
            reply = self._replies.get(key)
            if reply is not None:
                self._replies.move_to_end(key)
            return reply

    def _drop(self, key: ReplyKey) -> None:
        reply = self._replies.pop(key, None)
        if reply is not None:
            self._used_bytes -= _size(key, reply)


def _size(key: ReplyKey, reply: CachedReply) -> int:
    return len(key.question) + sum(map(len, reply.body)) + _OVERHEAD


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
