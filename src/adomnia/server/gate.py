"""Who a request comes from, and whether they may: token or cookie, role, forged requests, pace of asking."""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adomnia.errors import Refusal
from adomnia.server.roles import API
from adomnia.server.running.addresses import caller

if TYPE_CHECKING:
    from starlette.requests import Request

    from adomnia.server.access import Visitor
    from adomnia.server.desk import Desk
    from adomnia.server.roles import Roles

CSRF = "x-csrf-token"
_SAFE = frozenset({"GET", "HEAD"})


def admitted(request: Request, desk: Desk, roles: Roles) -> Visitor | None:
    """The visitor, if they may use the route; None where anybody may. Everybody else is refused."""
    address = caller(request.scope, desk.settings)
    _check_origin(request, desk.settings.secure)
    if roles is None:
        if request.method not in _SAFE:
            desk.rates.take(f"address:{address}")
        return None
    visitor = _identified(request, desk)
    desk.rates.take(f"address:{address}" if visitor is None else f"user:{visitor.name}")
    if visitor is None:
        raise _signed_out("authorization" in request.headers)
    request.state.user = visitor.name
    if request.url.path.startswith(API):
        check_csrf(request, visitor, request.headers.get(CSRF))
    if visitor.role not in roles:
        wanted = " or ".join(sorted(roles))
        raise Refusal("This route", f"is for the {wanted}", f"sign in as {wanted}", code="role")
    return visitor


def check_csrf(request: Request, visitor: Visitor, said: str | None) -> None:
    """Refuse a change that a browser's cookie alone asks for: another site could have made the browser send it."""
    if request.method in _SAFE or visitor.csrf is None:
        return
    if said is None or not compare_digest(said.encode(), visitor.csrf.encode()):
        why = "does not carry the CSRF token of this visit"
        raise Refusal("The request", why, "send the csrf of /api/v1/me as X-CSRF-Token", code="csrf")


def is_known_host(host: str, hosts: tuple[str, ...]) -> bool:
    """Whether a Host header names this server: another name may be a foreign site's that leads here by its DNS."""
    name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "")
    return name.lower() in hosts and (not port or (port.isascii() and port.isdigit()))


def _identified(request: Request, desk: Desk) -> Visitor | None:
    """A token is looked at before a cookie: a wrong one is refused, whatever the cookie says."""
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, token = header.partition(" ")
        return desk.access.identify_token(token.strip()) if scheme.lower() == "bearer" else None
    secret = request.cookies.get(desk.settings.cookie)
    return None if secret is None else desk.access.identify_browser(secret)


def _check_origin(request: Request, secure: bool) -> None:
    """Refuse what the page of another site made a browser send, if it may change anything.

    Under TLS a page that came without it is another site's too: anybody on its way could have written it.
    """
    origin = request.headers.get("origin")
    if origin is None or request.method in _SAFE:
        return
    try:
        page = urlsplit(origin)
        own = page.netloc.lower() == request.headers.get("host", "").lower() and (page.scheme == "https" or not secure)
    except ValueError:
        own = False
    if not own:
        raise Refusal(
            "The request", "comes from a page of another site", "send it from this server's own", code="origin"
        )


def _signed_out(by_token: bool) -> Refusal:
    if by_token:
        why = "is not a token of this server, or no longer"
        return Refusal("The Authorization header", why, "send Authorization: Bearer TOKEN", code="signed_out")
    fix = "send Authorization: Bearer TOKEN, or sign in at /api/v1/sign-in"
    return Refusal("The request", "does not say who sends it", fix, code="signed_out")
