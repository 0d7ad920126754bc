"""Replies that are sent in pieces, each when the caller has read the ones before, so that none waits in a buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from adomnia.server.encoding import Pieces

__all__ = ["PiecewiseResponse"]


class PiecewiseResponse(Response):
    """A reply of JSON in pieces, of which each is let go when it is sent."""

    media_type = "application/json"

    def __init__(self, pieces: Pieces) -> None:
        super().__init__(headers={"Content-Length": str(sum(map(len, pieces)))})
        self._pieces = pieces[::-1]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - the form of ASGI
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while self._pieces:
            piece = self._pieces.pop()
            await send({"type": "http.response.body", "body": piece, "more_body": bool(self._pieces)})
