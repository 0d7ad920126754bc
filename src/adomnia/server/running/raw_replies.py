"""Error replies as bytes, for what answers without the app: the protocol itself, and the parent without workers."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["raw_reply"]

_PHRASES = {400: "Bad Request", 431: "Request Header Fields Too Large", 503: "Service Unavailable"}


def raw_reply(status: int, code: str, what: str, why: str, fix: str) -> bytes:
    """A reply that looks like those of the routes, and ends its connection."""
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
