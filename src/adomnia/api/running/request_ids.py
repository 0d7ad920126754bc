"""The id that the server gives each request, for its reply and its lines of the log, and what both are told of it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from adomnia.noise import SystemBits

CURRENT_REQUEST: ContextVar[str | None] = ContextVar("adomnia_request", default=None)
"""The request that this task or thread works for; None where it works for none."""

UNMATCHED = "unmatched"  # the route of a request that no route matches, or that was answered before one was looked for


def create_request_id() -> str:
    return SystemBits().words(1).tobytes().hex()


def choose_id(request_id: str | None) -> str:
    """The request id, or a random one, by which a caller whose reply failed can still ask for the answer."""
    return SystemBits().words(2).tobytes().hex() if request_id is None else request_id


@dataclass(frozen=True)
class RequestSummary:
    """A request that was answered, for log and metrics. `route` is the template, never the path itself.

    If the route `reads_data`, log and metrics round its time to the edge of a time bucket.
    """

    method: str
    route: str
    status: int
    user: str | None
    seconds: float
    request_id: str
    reads_data: bool

    @classmethod
    def unrouted(cls, status: int, request_id: str) -> RequestSummary:
        """A request that was refused before its method and address were looked at."""
        return cls("", UNMATCHED, status, None, 0.0, request_id, reads_data=False)
