"""The bodies of requests: bounded in size and in time, and numbers in them keep every digit that was written."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request

from adomnia.errors import Refusal
from adomnia.server.later import Later
from adomnia.wire.amounts import read_json
from adomnia.wire.models import LARGEST_BODY

LARGEST = LARGEST_BODY  # of questions
SMALL = 2**14  # of everything else: names, passwords, labels
SLOWEST_SECONDS = 20
_MOST_PARTS = 20_000


class BoundedRequest(Request):
    """A request whose body is read up to a limit, and no longer than so many seconds."""

    largest = SMALL

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            if _announced(self.headers.get("content-length")) > self.largest:
                raise _too_large(self.largest)
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
            if size > self.largest:
                raise _too_large(self.largest)
            chunks.append(chunk)
        return b"".join(chunks)


def parsed(body: bytes) -> Any:  # noqa: ANN401 - whatever was sent
    """The value that a JSON text writes; one of very many small parts would keep everybody waiting, and is refused."""
    if body.count(b",") + body.count(b":") > _MOST_PARTS and _parts(body) > _MOST_PARTS:
        raise malformed("The body of the request", f"has more than {_MOST_PARTS:,} parts")
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
        why = f"has the content type {said[:100]}" if said else "has no content type"
        raise Refusal("The body of the request", why, f"send Content-Type: {wanted}", code="media_type")


def _parts(body: bytes) -> int:
    """How many values there are, near enough: texts may hold as many commas as they like."""
    outside = body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    return sum(part.count(b",") + part.count(b":") for part in outside)


def _announced(length: str | None) -> int:
    return int(length) if length is not None and length.isascii() and length.isdigit() and len(length) < 20 else 0


def _too_large(largest: int) -> Refusal:
    return Refusal("The body of the request", f"is larger than {largest:,} bytes", "send less", code="too_large")
