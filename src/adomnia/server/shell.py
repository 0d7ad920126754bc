"""The outermost layer: Host, security headers, one line for the log, and nothing unforeseen gets out."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from adomnia.errors import Failure, Refusal
from adomnia.noise import SystemBits
from adomnia.server.desk import Seen
from adomnia.server.gate import is_known_host
from adomnia.server.problems import route_of, shown
from adomnia.server.roles import API, READING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from adomnia.server.desk import Desk

_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_PAGE_POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_DATA = _ALWAYS | {"Content-Security-Policy": _DATA_POLICY, "Referrer-Policy": "no-referrer"}
# Not no-referrer: with it, a browser would call the origin of our own forms "null".
_PAGE = _ALWAYS | {"Content-Security-Policy": _PAGE_POLICY, "Referrer-Policy": "same-origin"}
_TLS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}


class Shell:
    """Around the app: what is true of every reply, whatever becomes of the request."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app, self._desk = app, desk
        extra = _TLS_ONLY if desk.settings.secure else {}
        self._data_headers, self._page_headers = _DATA | extra, _PAGE | extra

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; the server's own comings and goings pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        arrived, status = monotonic(), 0
        state = scope.setdefault("state", {})
        state["arrived"], state["request_id"] = arrived, SystemBits().words(1).tobytes().hex()
        headers = self._data_headers if scope["path"].startswith(API) else self._page_headers

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update({**headers, "X-Request-Id": state["request_id"]})
            await send(message)

        try:
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) == 1 and is_known_host(hosts[0], self._desk.settings.hosts):
                await self._app(scope, receive, sending)
            else:
                await shown(_foreign_host())(scope, receive, sending)
        except Exception as fault:  # noqa: BLE001 - the last door: behind it, the server would write a traceback
            self._desk.logs.fault(route_of(scope), fault)
            if not status:
                await shown(Failure())(scope, receive, sending)
        finally:
            self._tell(scope, status, monotonic() - arrived)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        route, state = route_of(scope), scope["state"]
        reads = (scope["method"], route) in READING
        user = state.get("user")
        seen = Seen(scope["method"], route, status, user, seconds, state["request_id"], reads)
        self._desk.logs.request(seen)
        self._desk.metrics.count_request(seen)


def _foreign_host() -> Refusal:
    fix = "use the address that the server printed at its start, or have the owner allow this name"
    return Refusal("The Host header", "names another server", fix, code="host")
