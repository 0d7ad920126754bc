"""Every way a request can go wrong, in one shape: what happened, why, and how to mend it. Never a 5xx but 503."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from adomnia.errors import Failure, Refusal
from adomnia.server.access.login_attempts import WINDOW_SECONDS
from adomnia.server.bodies import malformed
from adomnia.server.later import Later
from adomnia.wire.problems import problem_record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from starlette.requests import Request
    from starlette.types import Scope

UNMATCHED = "unmatched"
REFUSED, FAILED = 400, 424
# Codes that are not simply a question that was refused.
STATUSES = {
    "signed_out": 401,
    "sign_in": 401,
    "budget": 402,
    "role": 403,
    "csrf": 403,
    "origin": 403,
    "host": 403,
    "visit_needed": 403,
    "unknown_route": 404,
    "unknown_dataset": 404,
    "unknown_answer": 404,
    "unknown_analyst": 404,
    "unknown_user": 404,
    "unknown_token": 404,
    "method": 405,
    "slow_body": 408,
    "request_id_used": 409,
    "catalog_changed": 409,
    "user_exists": 409,
    "last_owner": 409,
    "too_large": 413,
    "media_type": 415,
    "malformed": 422,
    "too_fast": 429,
    "too_many_attempts": 429,
    "access": 503,
    "busy": 503,
    "overload": 503,
    "stopping": 503,
}
_AGAIN_SECONDS = {"too_many_attempts": WINDOW_SECONDS}
_CLOSING = frozenset({408, 413})  # the rest of such a body is not worth waiting for
_LONGEST_PLACE = 100


def status_of(error: Refusal | Failure) -> int:
    """The status of a refusal or failure."""
    return STATUSES.get(error.code, REFUSED) if isinstance(error, Refusal) else FAILED


def told(request: Request, fault: Exception) -> Refusal | Failure:
    """What may be said of a fault of whatever kind; what nobody foresaw is a Failure, and the log hears its class."""
    error = explained(fault)
    if error is None:
        request.app.state.desk.logs.fault(route_of(request.scope), fault)
        return Failure()
    return error


def route_of(scope: Scope) -> str:
    """The template of a request's route: a path itself may hold what somebody typed."""
    template: str = getattr(scope.get("route"), "path_format", UNMATCHED)
    return template


def explained(fault: Exception) -> Refusal | Failure | None:
    """The fault as a refusal or failure; None if nobody foresaw it."""
    match fault:
        case Refusal() | Failure():
            return fault
        case RequestValidationError():
            return _malformed(fault.errors())
        case HTTPException():
            return _unrouted(fault)
        case ClientDisconnect():
            return malformed("The request", "ended before all of it was there")
    return None


def shown(error: Refusal | Failure) -> Response:
    """A refusal or failure as a reply."""
    return written(problem_record(error), status_of(error), headers_of(error))


def written(record: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Plain data as JSON."""
    return Response(encoded(record), status, headers, "application/json")


def encoded(record: object) -> bytes:
    """Plain data as the bytes of a JSON text."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False).encode()


def headers_of(error: Refusal | Failure) -> dict[str, str]:
    """When to come back, how to sign in, whether the connection ends."""
    status, headers = status_of(error), {}
    if isinstance(error, Later):
        headers["Retry-After"] = str(error.seconds)
    elif isinstance(error, Refusal) and status in (429, 503):
        headers["Retry-After"] = str(_AGAIN_SECONDS.get(error.code, 1))
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status in _CLOSING:
        headers["Connection"] = "close"
    return headers


def _malformed(errors: Sequence[Any]) -> Refusal:
    """The first thing that is wrong with the form of a request. What was sent is not repeated."""
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"][1:])[:_LONGEST_PLACE]
    what = f"The field {place}" if place else "The body of the request"
    says = str(first["msg"]).removeprefix("Value error, ")
    return malformed(what, f"is not as it should be: {says[:1].lower()}{says[1:]}")


def _unrouted(fault: HTTPException) -> Refusal | Failure | None:
    if fault.status_code == 404:
        return Refusal(
            "The address", "names nothing here", "see /api/v1/openapi.json for what is", code="unknown_route"
        )
    if fault.status_code == 405:
        return Refusal("The method", "is not one of this address", "use one that Allow names", code="method")
    return None
