"""What is known of a request: its id, the network address of its caller, and its summary for log and metrics."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any

from adomnia.noise import SystemBits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.api.settings import Settings

CURRENT_REQUEST: ContextVar[str | None] = ContextVar("adomnia_request", default=None)
"""The request that this task or thread works for; None where it works for none."""

UNMATCHED = "unmatched"  # the route of a request that no route matches, or that was answered before one was looked for
UNKNOWN = "unknown"
_FORWARDED = b"x-forwarded-for"
_PREFIX = 64  # bits of the network of an IPv6 address


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


def find_caller(scope: Mapping[str, Any], settings: Settings) -> str:
    """The address that a request comes from; behind a proxy, the last one in X-Forwarded-For, which the proxy wrote."""
    if settings.behind_proxy:
        written = [value for name, value in scope["headers"] if name == _FORWARDED]
        return (
            network_of(_without_port(written[-1].decode("latin-1").rpartition(",")[2].strip())) if written else UNKNOWN
        )
    client = scope.get("client")
    return network_of(client[0]) if client else UNKNOWN


def network_of(written: str) -> str:
    """The address itself, or for IPv6 its network: whoever has one address of it has all."""
    try:
        address = ip_address(written)
    except ValueError:
        return UNKNOWN
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((int(address) >> _PREFIX << _PREFIX, _PREFIX)))


def _without_port(written: str) -> str:
    """Cut off a port, which some proxies write behind the address."""
    if written.startswith("["):
        return written[1:].partition("]")[0]
    return written.partition(":")[0] if written.count(":") == 1 else written
