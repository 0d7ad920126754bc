"""The address of a server: a token is encrypted on its way there, or does not leave this machine."""

from dataclasses import dataclass
from ipaddress import ip_address

import httpx

from adomnia.errors import Refusal

_EXAMPLE = "write it like http://127.0.0.1:8000, or with https:// to another machine"


@dataclass(frozen=True)
class Address:
    """The base URL of a server, and whether it is on this machine."""

    url: str
    loopback: bool


def check_address(url: str, *, insecure: bool) -> Address:
    """A checked address; what would send a token in the open is refused unless `insecure`."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        raise _bad("is not an address") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise _bad("does not begin with http:// or https:// and the name of a machine")
    if parsed.port is not None and not 0 < parsed.port < 65536:
        raise _bad("has a port that no machine has")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise _bad("holds more than a machine, a port and a path")
    loopback = is_loopback(parsed.host)
    if parsed.scheme == "http" and not (loopback or insecure):
        why = "is not encrypted, and anybody on the way could read the token and use it"
        fix = "use https://; if the way there is safe by other means, pass insecure=True"
        raise Refusal(f"The address {url}", why, fix, code="insecure")
    return Address(str(parsed).rstrip("/"), loopback)


def _bad(why: str) -> Refusal:
    # The address itself is not repeated: it may hold a password.
    return Refusal("The address of the server", why, _EXAMPLE, code="bad_address")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
