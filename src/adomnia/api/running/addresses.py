"""The network address of a caller, by which rates and connections are limited."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.api.settings import Settings

UNKNOWN = "unknown"
_FORWARDED = b"x-forwarded-for"
_PREFIX = 64  # bits of the network of an IPv6 address


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
