"""Connections that may not take more than their share: heads of requests are small and come soon, and some are enough.

The parser itself has no such limits: a caller could send headers for ever, or never.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

__all__ = ["Guard"]

HEAD_BYTES = 32 * 1024
HEAD_SECONDS = 10.0
CONNECTIONS = 1000


class Guard(HttpToolsProtocol):
    """One connection. What it says before a request is understood has the shape of every other error."""

    _head_bytes = 0
    _in_head = False
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            self._turn_away(503, "overload", "has too many connections", "try again in 1 s")
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self._await_head()
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                fix = f"send at most {HEAD_BYTES} bytes of it"
                self._turn_away(431, "head_too_large", "has a head that is too large", fix)

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_came()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - its own words are not of our shape
        self._turn_away(400, "malformed", "is not HTTP", "send HTTP/1.1")

    def _await_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _head_came(self) -> None:
        self._in_head, self._head_bytes = False, 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _turn_away(self, status: int, code: str, why: str, fix: str) -> None:
        self._head_came()
        self.transport.write(_reply(status, code, why, fix))
        self.transport.close()


def _reply(status: int, code: str, why: str, fix: str) -> bytes:
    what = "The server" if code == "overload" else "The request"
    fields: dict[str, Any] = {"code": code, "what": what, "why": why, "fix": fix, "position": None, "request_id": None}
    body = json.dumps({"error": fields}).encode()
    head = [
        f"HTTP/1.1 {status} {_PHRASES[status]}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'; frame-ancestors 'none'",
        "connection: close",
        *(["retry-after: 1"] if status == 503 else []),
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


_PHRASES = {400: "Bad Request", 431: "Request Header Fields Too Large", 503: "Service Unavailable"}
