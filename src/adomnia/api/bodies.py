"""Reads bodies of requests: limited in size and time, and with every digit of their numbers."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request

from adomnia.api.retry import RetryLater
from adomnia.errors import Refusal
from adomnia.json_text import RepeatedKeyError, read_json
from adomnia.wire.amounts import parse_float_exactly
from adomnia.wire.models import LARGEST_BODY

LARGEST = LARGEST_BODY  # of questions
SMALL = 2**14  # of everything else: names, passwords, labels
SLOWEST_SECONDS = 20
_MOST_PARTS = 20_000
_LONGEST_KEY = 100  # characters that a message repeats


class BoundedRequest(Request):
    """A request whose body has a largest size and must arrive within some seconds."""

    largest = SMALL

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            if _declared_length(self.headers.get("content-length")) > self.largest:
                raise _too_large(self.largest)
            try:
                async with asyncio.timeout(SLOWEST_SECONDS):
                    self._body = await self._read_bounded()
            except TimeoutError:
                raise RetryLater("The body of the request", "did not arrive in time", 1, code="slow_body") from None
        return self._body

    async def json(self) -> Any:  # noqa: ANN401 - whatever was sent
        if not hasattr(self, "_json"):
            self._json = parse_json(await self.body())
        return self._json

    async def _read_bounded(self) -> bytes:
        chunks, size = [], 0
        async for chunk in self.stream():
            size += len(chunk)
            if size > self.largest:
                raise _too_large(self.largest)
            chunks.append(chunk)
        return b"".join(chunks)


def parse_json(body: bytes) -> Any:  # noqa: ANN401 - whatever was sent
    """Parse a JSON text; refuse one of very many small parts, which would keep all other requests waiting."""
    if body.count(b",") + body.count(b":") > _MOST_PARTS and _count_parts(body) > _MOST_PARTS:
        raise malformed_request("The body of the request", f"has more than {_MOST_PARTS:,} parts")
    try:
        return read_json(body, parse_float_exactly)
    except RepeatedKeyError as fault:
        why = f"has the key {fault.key[:_LONGEST_KEY]!r} twice in one object"
        raise malformed_request("The body of the request", why) from None
    except ValueError:  # among them bytes that are no UTF-8, and integers of thousands of digits
        raise malformed_request("The body of the request", "is not JSON that can be read") from None


def malformed_request(what: str, why: str) -> Refusal:
    """A refusal of a request that does not have the form that the API describes."""
    return Refusal(what, why, "send what /api/v1/openapi.json describes for this route", code="malformed")


def check_media_type(request: Request, wanted: str = "application/json") -> None:
    """Refuse a body of another content type: browsers send some types to other sites without asking these first."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != wanted:
        why = f"has the content type {given[:100]}" if given else "has no content type"
        raise Refusal("The body of the request", why, f"send Content-Type: {wanted}", code="media_type")


def _count_parts(body: bytes) -> int:
    """About how many values there are; commas inside strings do not count."""
    outside = body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    return sum(part.count(b",") + part.count(b":") for part in outside)


def _declared_length(length: str | None) -> int:
    return int(length) if length is not None and length.isascii() and length.isdigit() and len(length) < 20 else 0


def _too_large(largest: int) -> Refusal:
    return Refusal("The body of the request", f"is larger than {largest:,} bytes", "send less", code="too_large")
