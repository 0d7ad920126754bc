"""HTTP with limits: on the number of connections, and on the size and the time of the head of a request.

The parser has none of them: a caller could send headers for ever, or never.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adomnia.api.running.request_facts import RequestSummary, create_request_id, network_of

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

HEAD_BYTES = 32 * 1024
HEAD_SECONDS = 10.0
_REQUEST_LINE = len("  HTTP/1.1\r\n\r\n")  # around method and address, with the empty line that ends the head
_HEADER_LINE = len(": \r\n")
FRAMING = 8  # bytes allowed around each byte of a body: in chunks of one byte it needs six
MOST_CONNECTIONS = 1000
MOST_OF_ONE_CALLER = MOST_CONNECTIONS // 4
_PHRASES = {400: "Bad Request", 431: "Request Header Fields Too Large", 503: "Service Unavailable"}


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. Errors that it sends by itself look like those of the routes."""

    behind_proxy = False  # if true, all connections come from the proxy
    report: Callable[[RequestSummary], None] | None = None  # told of every request that is refused here
    _in_head = False
    _head_bytes = 0  # of the request whose head is being read
    _is_complete = True
    _body_bytes = 0  # of the request that is being read
    _body_total = 0  # of all requests on this connection
    _other_bytes = 0  # of this request that are not body: head, sizes of chunks, trailers
    _network = ""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._network = network_of(self.client[0]) if self.client else ""
        if len(self.connections) > MOST_CONNECTIONS or self._has_too_many():
            self._reject(503, "overload", "has too many connections", "try again in 1 s")
        else:
            self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self._start_head_timer()
        before = self._body_total
        super().data_received(data)
        if self._is_complete or self.transport.is_closing():
            self._other_bytes = 0
            return
        self._other_bytes += len(data) - (self._body_total - before)
        if self._other_bytes > HEAD_BYTES + FRAMING * self._body_bytes:
            self._reject_head()

    def on_message_begin(self) -> None:
        self._in_head, self._is_complete, self._body_bytes, self._head_bytes = True, False, 0, _REQUEST_LINE
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._head_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers after a chunked body are not taken for headers: no proxy before us has checked them.
        if self._in_head:
            self._head_bytes += len(name) + len(value) + _HEADER_LINE
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._end_head()
        if self.transport.is_closing():  # the rest of what came with a request that was refused
            return
        # Counted here too: of a head that arrives in one piece `data_received` hears only when its request runs.
        if self._head_bytes + len(self.parser.get_method()) > HEAD_BYTES:
            self._reject_head()
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._body_total += len(body)
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_complete = True
        if not self.transport.is_closing():
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - our errors have our own words
        self._reject(400, "malformed", "is not HTTP", "send HTTP/1.1")

    def _has_too_many(self) -> bool:
        """Whether the caller of this connection has more connections than one may have."""
        of_one = sum(getattr(other, "_network", None) == self._network for other in self.connections)
        return not self.behind_proxy and of_one > MOST_OF_ONE_CALLER

    def _start_head_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _end_head(self) -> None:
        self._in_head = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _reject_head(self) -> None:
        fix = f"send at most {HEAD_BYTES} bytes of it"
        self._reject(431, "head_too_large", "has a head that is too large", fix)

    def _reject(self, status: int, code: str, why: str, fix: str) -> None:
        self._end_head()
        what = "The server" if code == "overload" else "The request"
        reply = RawReply(status, code, what, why, fix)
        self.transport.write(reply.to_json())
        self.transport.close()
        if self.report is not None:
            self.report(RequestSummary.unrouted(status, reply.request_id))


@dataclass(frozen=True)
class RawReply:
    """An error that ends its connection: what happened, why, how to fix it, and the id of the request."""

    status: int
    code: str
    what: str
    why: str
    fix: str
    request_id: str = field(default_factory=create_request_id)

    def to_json(self) -> bytes:
        """The reply, which looks like those of the routes."""
        said = {"code": self.code, "what": self.what, "why": self.why, "fix": self.fix}
        body = json.dumps({"error": {**said, "position": None, "request_id": self.request_id}})
        return self._with_head("application/json", body.encode())

    def to_page(self) -> bytes:
        """The same for people: a page that their scripts know as one which says what is wrong."""
        says = f"{self.what} {self.why}. Fix: {self.fix}."
        body = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Not possible - Ad Omnia</title></head>'
            f'<body><main data-problem><h1>Not possible</h1><div role="alert"><p>{says}</p></div></main></body></html>'
        )
        return self._with_head("text/html; charset=utf-8", body.encode())

    def _with_head(self, media_type: str, body: bytes) -> bytes:
        head = [
            f"HTTP/1.1 {self.status} {_PHRASES[self.status]}",
            f"content-type: {media_type}",
            f"content-length: {len(body)}",
            f"x-request-id: {self.request_id}",
            "cache-control: no-store",
            "x-content-type-options: nosniff",
            "content-security-policy: default-src 'none'; frame-ancestors 'none'",
            "connection: close",
            *(["retry-after: 1"] if self.status == 503 else []),
        ]
        return "\r\n".join([*head, "", ""]).encode() + body
