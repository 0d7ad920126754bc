"""The OpenAPI document: who may use each route, what it replies, and with which statuses it may refuse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

from adomnia.api.authorization import CSRF
from adomnia.version import __version__
from adomnia.wire.problems import ProblemReply
from adomnia.wire.tables import ARROW, CSV

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI
    from pydantic import BaseModel

    from adomnia.api.roles import Roles, Route

_ABOUT = "A differentially private statistical database. Every answer has an interval and a price."
_SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of adomnia token create, or of POST /tokens.",
    },
    "csrf": {"type": "apiKey", "in": "header", "name": CSRF, "description": "Beside the cookie: what /me says."},
}
_VISIT = {"type": "apiKey", "in": "cookie", "description": "Set by signing in."}
MEANINGS = {
    400: "The question or change is refused.",
    401: "Nobody is signed in, or name and password are wrong.",
    402: "The budget does not pay for it.",
    403: "The visitor's role, a missing CSRF token, another site's page, or a Host that is not this server's.",
    404: "Not there, or not for this visitor.",
    408: "The body came too slowly.",
    409: "The request id was used for another question; the catalog has changed; or the change is not possible now.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The request is not of the form that is described here.",
    424: "The request failed; nothing more is told.",
    429: "Too fast, or too many attempts: Retry-After says when to come back.",
    503: "Too much to do, stopping, or trouble of the ledger or a disk: Retry-After says when to come back.",
}
_TABLES: dict[str, Any] = {
    "description": "JSON, or what Accept names: a stream of Arrow, whose schema has all but the rows as JSON in its "
    "metadata `adomnia`, or the rows as CSV.",
    "content": {ARROW: {"schema": {"type": "string", "format": "binary"}}, CSV: {"schema": {"type": "string"}}},
}
_ALWAYS = (403, 424, 503)
_BODY = (408, 413, 415, 422)


@dataclass(frozen=True)
class Endpoint:
    """The handler of a route, the model of its reply, and the statuses with which it may refuse."""

    serve: Callable[..., Any]
    reply: type[BaseModel] | str | None
    status: int = 200
    refuses: tuple[int, ...] = ()
    sends: bool = False
    tables: bool = False  # whether the reply may be Arrow or CSV too, as Accept says

    def options(self, route: Route, roles: Roles) -> dict[str, Any]:
        """The arguments for FastAPI's `add_api_route`."""
        model = None if self.reply is None or isinstance(self.reply, str) else self.reply
        method, path = route
        known = {*_ALWAYS, *self.refuses, *(_BODY if self.sends else ()), *(() if roles is None else (401, 429))}
        known |= {422} if "{" in path else set()
        responses: dict[int, dict[str, Any]] = {
            status: {"model": ProblemReply, "description": MEANINGS[status]} for status in sorted(known)
        }
        if isinstance(self.reply, str):
            responses[self.status] = {"content": {self.reply: {"schema": {"type": "string"}}}, "description": "Text."}
        if self.tables:
            responses[self.status] = _TABLES
        options = {"response_model": model, "status_code": self.status, "responses": responses}
        return {**options, "openapi_extra": {"security": _security(method, roles)}}


def describe_api(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document; created at the first call."""
    if app.openapi_schema is None:
        document = get_openapi(title="Ad Omnia", version=__version__, description=_ABOUT, routes=app.routes)
        visit = _VISIT | {"name": app.state.services.settings.cookie}
        document["components"]["securitySchemes"] = _SCHEMES | {"visit": visit}
        app.openapi_schema = document
    return app.openapi_schema


def _security(method: str, roles: Roles) -> list[dict[str, list[str]]]:
    if roles is None:
        return []
    visit: dict[str, list[str]] = {"visit": []} if method == "GET" else {"visit": [], "csrf": []}
    return [{"token": []}, visit]
