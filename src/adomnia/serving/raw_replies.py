"""Error replies as bytes, for what answers without the app: the protocol itself, and the parent without workers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from adomnia.api.running.request_ids import create_request_id

_PHRASES = {400: "Bad Request", 431: "Request Header Fields Too Large", 503: "Service Unavailable"}


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
