"""Where a request comes from, as far as throttles are concerned."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.server.settings import Settings

__all__ = ["caller", "network_of"]

UNKNOWN = "unknown"
_FORWARDED = b"x-forwarded-for"
_PREFIX = 64  # whoever has one address of IPv6 has all of its network


def caller(scope: Mapping[str, Any], settings: Settings) -> str:
    """The address of a request; behind a proxy the one that the proxy itself has seen, which it writes last."""
    if settings.behind_proxy:
        seen = [value for name, value in scope["headers"] if name == _FORWARDED]
        return network_of(_without_port(seen[-1].decode("latin-1").rpartition(",")[2].strip())) if seen else UNKNOWN
    client = scope.get("client")
    return network_of(client[0]) if client else UNKNOWN


def network_of(written: str) -> str:
    """An address, or the network that its holder has all of."""
    try:
        address = ip_address(written)
    except ValueError:
        return UNKNOWN
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((int(address) >> _PREFIX << _PREFIX, _PREFIX)))


def _without_port(written: str) -> str:
    """Some proxies write one behind the address."""
    if written.startswith("["):
        return written[1:].partition("]")[0]
    return written.partition(":")[0] if written.count(":") == 1 else written
