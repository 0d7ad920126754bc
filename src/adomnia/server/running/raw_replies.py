"""Error replies as bytes, for what answers without the app: the protocol itself, and the parent without workers."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["raw_page", "raw_reply"]

_PHRASES = {400: "Bad Request", 431: "Request Header Fields Too Large", 503: "Service Unavailable"}


def raw_reply(status: int, code: str, what: str, why: str, fix: str) -> bytes:
    """A reply that looks like those of the routes, and ends its connection."""
    fields: dict[str, Any] = {"code": code, "what": what, "why": why, "fix": fix, "position": None, "request_id": None}
    return _with_head(status, "application/json", json.dumps({"error": fields}).encode())


def raw_page(status: int, what: str, why: str, fix: str) -> bytes:
    """The same for people: a page that their scripts know as one which says what is wrong."""
    body = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Not possible - Ad Omnia</title></head>'
        f'<body><main data-problem><h1>Not possible</h1><div role="alert"><p>{what} {why}. Fix: {fix}.</p></div></main>'
        "</body></html>"
    )
    return _with_head(status, "text/html; charset=utf-8", body.encode())


def _with_head(status: int, media_type: str, body: bytes) -> bytes:
    head = [
        f"HTTP/1.1 {status} {_PHRASES[status]}",
        f"content-type: {media_type}",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'; frame-ancestors 'none'",
        "connection: close",
        *(["retry-after: 1"] if status == 503 else []),
    ]
    return "\r\n".join([*head, "", ""]).encode() + body
