"""Replies in the form that a request accepts, sent in pieces, each when the caller has read the ones before."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from starlette.responses import Response

from adomnia.wire.tables import ARROW, CSV

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import Receive, Scope, Send

    from adomnia.api.encoding import Pieces
    from adomnia.api.running.answer_memory import AnswerMemory, Claim

PATIENCE_SECONDS, LEAST_BYTES_A_SECOND = 30.0, 2**18  # how long a reply may take, whatever its size and by its size
JSON = "application/json"
_FORMS = (JSON, ARROW, CSV)
_MOST_PARTS = 20  # of a header that are read
LARGEST_BYTES = 2**26  # of a process
_LEAST_REPLIES = 8  # that fit: a reply larger than this part of the cache is not stored
_OVERHEAD = 500  # bytes around each reply


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
