"""Middleware around all routes: checks Host, adds security headers, logs, and hides unexpected exceptions."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from adomnia.api.authorization import is_known_host
from adomnia.api.problems import failed_id, render_problem, route_of
from adomnia.api.roles import API, READING
from adomnia.api.running.request_facts import CURRENT_REQUEST, RequestSummary, create_request_id
from adomnia.errors import Failure, Refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from adomnia.api.requests import Services

_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
ALWAYS_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
DATA_HEADERS = ALWAYS_HEADERS | {"Content-Security-Policy": _DATA_POLICY, "Referrer-Policy": "no-referrer"}
# Not no-referrer: with it, a browser would call the origin of our own forms "null".
_PAGE = ALWAYS_HEADERS | {"Content-Security-Policy": _PAGE_POLICY, "Referrer-Policy": "same-origin"}
TLS_HEADERS = {"Strict-Transport-Security": "max-age=31536000"}


class RequestMiddleware:
    """ASGI middleware for every request and reply."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app, self._services = app, services
        extra = TLS_HEADERS if services.settings.secure else {}
        self._data_headers, self._page_headers = DATA_HEADERS | extra, _PAGE | extra

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; other ASGI events pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        arrived, status = monotonic(), 0
        state = scope.setdefault("state", {})
        state["arrived"], state["request_id"] = arrived, (request_id := create_request_id())
        before = CURRENT_REQUEST.set(request_id)
        headers = self._data_headers if scope["path"].startswith(API) else self._page_headers

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = MutableHeaders(scope=message)
                kept = {"Cache-Control": sent["Cache-Control"]} if "Cache-Control" in sent else {}
                sent.update({**headers, **kept, "X-Request-Id": request_id})
            await send(message)

        try:
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) == 1 and is_known_host(hosts[0], self._services.settings.hosts):
                await self._app(scope, receive, send_with_headers)
            else:
                await render_problem(_foreign_host(), request_id)(scope, receive, send_with_headers)
        except Exception as fault:  # noqa: BLE001 - uvicorn would log its traceback
            self._services.logs.log_fault(route_of(scope), fault)
            if not status:
                await render_problem(Failure(failed_id(scope)))(scope, receive, send_with_headers)
        finally:
            self._report(scope, status, monotonic() - arrived)
            CURRENT_REQUEST.reset(before)

    def _report(self, scope: Scope, status: int, seconds: float) -> None:
        route, state = route_of(scope), scope["state"]
        reads = (scope["method"], route) in READING
        user = state.get("user")
        summary = RequestSummary(scope["method"], route, status, user, seconds, state["request_id"], reads)
        self._services.report(summary)


def _foreign_host() -> Refusal:
    fix = "use the address that the server printed at its start, or have the owner allow this name"
    return Refusal("The Host header", "names another server", fix, code="host")
