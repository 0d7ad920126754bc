"""Connections that may not take more than their share: heads of requests are small and come soon, and some are enough.

The parser itself has no such limits: a caller could send headers for ever, or never.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adomnia.server.running.addresses import network_of

if TYPE_CHECKING:
    import asyncio

__all__ = ["Guard"]

HEAD_BYTES = 32 * 1024
HEAD_SECONDS = 10.0
FRAMING = 8  # bytes that may go with each byte of a body: whoever sends it in pieces of one byte needs six
CONNECTIONS = 1000
OF_ONE_CALLER = CONNECTIONS // 4


class Guard(HttpToolsProtocol):
    """One connection. What it says before a request is understood has the shape of every other error."""

    behind_proxy = False  # then all connections come from the proxy
    _in_head = False
    _is_complete = True
    _body_bytes = 0  # of the request that is being read
    _body_total = 0  # of all requests on this connection
    _other_bytes = 0  # that were read of this request and are not body: head, sizes of pieces, what comes after
    _network = ""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._network = network_of(self.client[0]) if self.client else ""
        if len(self.connections) > CONNECTIONS or self._has_too_many():
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
        before = self._body_total
        super().data_received(data)
        if self._is_complete or self.transport.is_closing():
            self._other_bytes = 0
            return
        self._other_bytes += len(data) - (self._body_total - before)
        if self._other_bytes > HEAD_BYTES + FRAMING * self._body_bytes:
            fix = f"send at most {HEAD_BYTES} bytes of it"
            self._turn_away(431, "head_too_large", "has a head that is too large", fix)

    def on_message_begin(self) -> None:
        self._in_head, self._is_complete, self._body_bytes = True, False, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        # What comes after a body in pieces is no header, whatever it calls itself: nobody before us has looked at it.
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._head_came()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._body_total += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_complete = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - its own words are not of our shape
        self._turn_away(400, "malformed", "is not HTTP", "send HTTP/1.1")

    def _has_too_many(self) -> bool:
        """Whether whoever has this connection has more than their part of all."""
        of_one = sum(getattr(other, "_network", None) == self._network for other in self.connections)
        return not self.behind_proxy and of_one > OF_ONE_CALLER

    def _await_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _head_came(self) -> None:
        self._in_head = False
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
