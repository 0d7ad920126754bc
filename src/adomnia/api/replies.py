"""Replies in the form that a request accepts, sent in pieces, each when the caller has read the ones before."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
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
