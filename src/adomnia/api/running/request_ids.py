"""The id that the server gives each request: the reply has it, and so has every line of the log about the request."""

from __future__ import annotations

from contextvars import ContextVar

from adomnia.noise import SystemBits

__all__ = ["CURRENT_REQUEST", "create_request_id"]

CURRENT_REQUEST: ContextVar[str | None] = ContextVar("adomnia_request", default=None)
"""The request that this task or thread works for; None where it works for none."""


def create_request_id() -> str:
    return SystemBits().words(1).tobytes().hex()
