"""Authenticates a request by token or cookie, and checks its origin, rate, CSRF token and role.

Routes check roles before they read the body, and turn every exception into a reply of one shape.
"""

from __future__ import annotations

import asyncio
from hmac import compare_digest
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastapi.routing import APIRoute

from adomnia.api.access.login_attempts import LOGIN_FAILED
from adomnia.api.bodies import LARGEST, SMALL, BoundedRequest, check_media_type
from adomnia.api.problems import render_problem, to_problem
from adomnia.api.requests import address_of, services_of, visitor_of
from adomnia.api.roles import API, LONG_TEXTS, roles_of
from adomnia.api.running.request_facts import find_caller
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.requests import Request
    from starlette.responses import Response

    from adomnia.api.access import Visitor
    from adomnia.api.problems import Problem
    from adomnia.api.requests import Services
    from adomnia.api.roles import Roles

__all__ = [
    "CSRF",
    "LOGIN_FAILED",
    "ROLE",
    "AuthorizedRoute",
    "authorize",
    "authorize_aside",
    "check_csrf",
    "check_origin",
    "check_password",
    "is_known_host",
]
CSRF = "x-csrf-token"
ROLE = "role"  # the code of a refusal of whoever has another role
_SAFE = frozenset({"GET", "HEAD"})


def authorize(request: Request, services: Services, roles: Roles) -> Visitor | None:
    """The visitor who sent a request, or None on routes that are open to all; refuse whoever may not use the route."""
    address = find_caller(request.scope, services.settings)
    check_origin(request, services.settings.secure)
    if roles is None:
        if request.method not in _SAFE:
            services.rate_limiter.take(f"address:{address}")
        return None
    visitor = _authenticate(request, services)
    services.rate_limiter.take(f"address:{address}" if visitor is None else f"user:{visitor.name}")
    if visitor is None:
        raise _refuse_signed_out("authorization" in request.headers)
    request.state.user = visitor.name
    if request.url.path.startswith(API):
        check_csrf(request, visitor, request.headers.get(CSRF))
    if visitor.role not in roles:
        wanted = " or ".join(sorted(roles))
        raise Refusal("This route", f"is for the {wanted}", f"sign in as {wanted}", code=ROLE)
    return visitor


async def authorize_aside(request: Request, services: Services, roles: Roles) -> Visitor | None:
    """The same, in a thread of its own if users cannot be looked up at once: a database that hangs stops no others."""
    if services.access.may_wait():
        return await asyncio.to_thread(authorize, request, services, roles)
    return authorize(request, services, roles)


def check_csrf(request: Request, visitor: Visitor, sent: str | None) -> None:
    """Refuse a change that comes with a cookie alone: another site could have made the browser send it."""
    if request.method in _SAFE or visitor.csrf is None:
        return
    if sent is None or not compare_digest(sent.encode(), visitor.csrf.encode()):
        why = "does not carry the CSRF token of this visit"
        raise Refusal("The request", why, "send the csrf of /api/v1/me as X-CSRF-Token", code="csrf")


def is_known_host(host: str, hosts: tuple[str, ...]) -> bool:
    """Whether a Host header names this server; another name may be a foreign site that points its DNS here."""
    name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "")
    return name.lower() in hosts and (not port or (port.isascii() and port.isdigit()))


def _authenticate(request: Request, services: Services) -> Visitor | None:
    """Find the visitor by token, else by cookie; a wrong token is refused whatever the cookie says."""
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, token = header.partition(" ")
        return services.access.identify_token(token.strip()) if scheme.lower() == "bearer" else None
    secret = request.cookies.get(services.settings.cookie)
    return None if secret is None else services.access.identify_browser(secret)


def check_origin(request: Request, secure: bool) -> None:
    """Refuse a change that a page of another site made a browser send.

    Under TLS a page that was loaded without TLS counts as another site: anybody on the way could have changed it.
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


def _refuse_signed_out(by_token: bool) -> Refusal:
    if by_token:
        why = "is not a token of this server, or no longer"
        return Refusal("The Authorization header", why, "send Authorization: Bearer TOKEN", code="signed_out")
    fix = "send Authorization: Bearer TOKEN, or sign in at /api/v1/sign-in"
    return Refusal("The request", "does not say who sends it", fix, code="signed_out")


class AuthorizedRoute(APIRoute):
    """A route of the table of roles. The caller is authorized first; the body is read last."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        (method,) = self.methods or {""}
        roles, takes_body = roles_of(method, self.path_format), self.body_field is not None
        largest = LARGEST if self.path.startswith(LONG_TEXTS) else SMALL

        async def handle_authorized(request: Request) -> Response:
            services = request.app.state.services
            try:
                request.state.visitor = await authorize_aside(request, services, roles)
                bounded = BoundedRequest(request.scope, request.receive)
                bounded.largest = largest
                if takes_body:
                    check_media_type(bounded)
                    await bounded.json()
                return await handle(bounded)
            except Exception as fault:  # noqa: BLE001 - replies say only what `to_problem` allows, and none is a 500
                return self.render_problem(to_problem(request, fault), request)

        return handle_authorized

    def render_problem(self, problem: Problem, request: Request) -> Response:
        """What is replied where there is no answer; pages show it as a page."""
        return render_problem(problem, request.state.request_id)


async def check_password(request: Request, password: str) -> None:
    """Refuse unless whoever is signed in knows their password; a wrong one counts as a sign-in that failed."""
    services, name, address = services_of(request), visitor_of(request).name, address_of(request)
    await services.password_pool.run(address, lambda: services.access.check_password(name, password, address))
