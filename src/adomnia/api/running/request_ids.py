"""The id that the server gives each request: the reply has it, and so has every line of the log about the request."""

from __future__ import annotations

from contextvars import ContextVar

from adomnia.noise import SystemBits

CURRENT_REQUEST: ContextVar[str | None] = ContextVar("adomnia_request", default=None)
"""The request that this task or thread works for; None where it works for none."""


def create_request_id() -> str:
    return SystemBits().words(1).tobytes().hex()


def choose_id(request_id: str | None) -> str:
    """The request id, or a random one, by which a caller whose reply failed can still ask for the answer."""
    return SystemBits().words(2).tobytes().hex() if request_id is None else request_id
