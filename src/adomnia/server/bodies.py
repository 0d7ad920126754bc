"""The bodies of requests: bounded in size and in time, and numbers in them keep every digit that was written."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request

from adomnia.client.wire.amounts import read_json
from adomnia.errors import Refusal
from adomnia.server.later import Later

LARGEST = 2**20
SLOWEST_SECONDS = 20


class BoundedRequest(Request):
    """A request whose body is read up to a limit, and no longer than so many seconds."""

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            if _announced(self.headers.get("content-length")) > LARGEST:
                raise _too_large()
            try:
                async with asyncio.timeout(SLOWEST_SECONDS):
                    self._body = await self._bounded()
            except TimeoutError:
                raise Later("The body of the request", "did not arrive in time", 1, code="slow_body") from None
        return self._body

    async def json(self) -> Any:  # noqa: ANN401 - whatever was sent
        if not hasattr(self, "_json"):
            self._json = parsed(await self.body())
        return self._json

    async def _bounded(self) -> bytes:
        chunks, size = [], 0
        async for chunk in self.stream():
            size += len(chunk)
            if size > LARGEST:
                raise _too_large()
            chunks.append(chunk)
        return b"".join(chunks)


def parsed(body: bytes) -> Any:  # noqa: ANN401 - whatever was sent
    """The value that a JSON text writes."""
    try:
        return read_json(body)
    except ValueError:  # among them bytes that are no UTF-8, and integers of thousands of digits
        raise malformed("The body of the request", "is not JSON that can be read") from None


def malformed(what: str, why: str) -> Refusal:
    """What is wrong with the form of a request."""
    return Refusal(what, why, "send what /api/v1/openapi.json describes for this route", code="malformed")


def check_media_type(request: Request, wanted: str = "application/json") -> None:
    """Refuse a body that does not say that it is what is wanted; JSON in disguise needs no preflight in a browser."""
    said = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if said != wanted:
        why = f"has the content type {said[:100] or 'nothing'}" if said else "has no content type"
        raise Refusal("The body of the request", why, f"send Content-Type: {wanted}", code="media_type")


def _announced(length: str | None) -> int:
    return int(length) if length is not None and length.isascii() and length.isdigit() and len(length) < 20 else 0


def _too_large() -> Refusal:
    return Refusal("The body of the request", f"is larger than {LARGEST:,} bytes", "send less", code="too_large")
