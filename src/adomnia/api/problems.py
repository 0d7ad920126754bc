"""Error replies, all of one shape: what happened, why, and how to fix it. No status is 5xx except 503."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, TypeAlias

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from adomnia.api.access.login_attempts import WINDOW_SECONDS
from adomnia.api.bodies import malformed_request
from adomnia.api.replies import json_response
from adomnia.api.retry import RetryLater
from adomnia.api.roles import OVERSIGHT
from adomnia.api.running.request_facts import UNMATCHED
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.ledger.schema import LEDGER_FORMAT
from adomnia.wire.problems import problem_record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

Problem: TypeAlias = Refusal | Failure | Unavailable

REFUSED, FAILED, UNAVAILABLE = 400, 424, 503
# Codes that have a status of their own; all others are REFUSED.
STATUSES = {
    "signed_out": 401,
    "sign_in": 401,
    "budget": 402,
    "role": 403,
    "owner_by_hand": 403,
    "csrf": 403,
    "origin": 403,
    "host": 403,
    "may_not_publish": 403,
    "visit_needed": 403,
    "unknown_route": 404,
    "unknown_dataset": 404,
    "unknown_answer": 404,
    "unknown_analyst": 404,
    "unknown_user": 404,
    "unknown_token": 404,
    "unknown_release": 404,
    "unknown_link": 404,
    "unknown_text": 404,
    "method": 405,
    "slow_body": 408,
    "request_id_used": 409,
    "price_changed": 409,
    "release_taken": 409,
    "release_failed": 409,
    "catalog_changed": 409,
    "other_version": 409,
    "user_exists": 409,
    "last_owner": 409,
    "too_large": 413,
    "media_type": 415,
    "malformed": 422,
    "too_fast": 429,
    "too_many_attempts": 429,
    "access": UNAVAILABLE,
    "busy": UNAVAILABLE,
    "not_ready": UNAVAILABLE,
    "unavailable": UNAVAILABLE,
    "overload": 503,
    "stopping": 503,
}
_RETRY_SECONDS = {"too_many_attempts": WINDOW_SECONDS}
_CLOSING = frozenset({408, 413})  # do not wait for the rest of such a body
_LONGEST_PLACE = 100


def status_of(error: Problem) -> int:
    """The status of an error."""
    if isinstance(error, Unavailable):
        return UNAVAILABLE
    return STATUSES.get(error.code, REFUSED) if isinstance(error, Refusal) else FAILED


def to_problem(request: Request, fault: Exception) -> Problem:
    """The error to show for an exception; an unexpected one is a Failure, and its class is logged.

    What is wrong with the ledger is the owner's and auditors' to know: to others it is not available, and no more.
    """
    error = classify_fault(fault)
    if isinstance(error, Refusal | Unavailable) and _tells_of_the_ledger(error):
        if getattr(getattr(request.state, "visitor", None), "role", None) in OVERSIGHT:
            return error
        request.app.state.services.logs.log_fault(route_of(request.scope), fault, why=str(error))
        seconds = error.retry_seconds if isinstance(error, Unavailable) else 1
        fix = "tell the owner, and ask again later"
        return Unavailable(LEDGER_FORMAT.name, "is not available", fix, retry_seconds=seconds)
    if error is not fault and isinstance(error, Unavailable):
        request.app.state.services.logs.log_fault(route_of(request.scope), fault)
    if error is None:
        request.app.state.services.logs.log_fault(route_of(request.scope), fault)
        return Failure(failed_id(request.scope))
    return error


def failed_id(scope: Scope) -> str:
    """What a request that failed unexpectedly is known by: the question's own id, if it asks one that has its id."""
    state: dict[str, str] = scope["state"]
    return state.get("question_id") or state["request_id"]


def _tells_of_the_ledger(error: Refusal | Unavailable) -> bool:
    """Whether it says more of the ledger than that it is busy: that it is damaged, say, and at which entry."""
    return error.what == LEDGER_FORMAT.name and error.code in {"refused", "unavailable"}


def route_of(scope: Scope) -> str:
    """The template of the route of a request, which unlike its path holds nothing that a caller typed."""
    template: str = getattr(scope.get("route"), "path_format", UNMATCHED)
    return template


def classify_fault(fault: Exception) -> Problem | None:
    """The error that an exception stands for; None if it is unexpected."""
    match fault:
        case Refusal() | Failure() | Unavailable():
            return fault
        case OSError() | sqlite3.Error():  # of a disk, a lock or a file; questions have made theirs a Failure before
            return Unavailable("The server", "has trouble with a file that only its log names", "try again later")
        case RequestValidationError():
            return _from_validation(fault.errors())
        case HTTPException():
            return _from_http(fault)
        case ClientDisconnect():
            return malformed_request("The request", "ended before all of it was there")
    return None


def render_problem(error: Problem, request_id: str | None = None) -> Response:
    """An error as a JSON reply, with the id of the request unless it is about a question that has one of its own."""
    return json_response(problem_record(error, request_id), status_of(error), headers_of(error))


def headers_of(error: Problem) -> dict[str, str]:
    """Headers of an error: when to retry, how to sign in, whether the connection ends."""
    status, headers = status_of(error), {}
    if isinstance(error, RetryLater):
        headers["Retry-After"] = str(error.seconds)
    elif isinstance(error, Unavailable):
        headers["Retry-After"] = str(error.retry_seconds)
    elif isinstance(error, Refusal) and status in (429, 503):
        headers["Retry-After"] = str(_RETRY_SECONDS.get(error.code, 1))
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status in _CLOSING:
        headers["Connection"] = "close"
    return headers


def _from_validation(errors: Sequence[Any]) -> Refusal:
    """The first problem that validation found. What was sent is not repeated."""
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"][1:])[:_LONGEST_PLACE]
    what = f"The field {place}" if place else "The body of the request"
    says = str(first["msg"]).removeprefix("Value error, ")
    return malformed_request(what, f"is not as it should be: {says[:1].lower()}{says[1:]}")


def _from_http(fault: HTTPException) -> Refusal | None:
    if fault.status_code == 404:
        return Refusal(
            "The address", "names nothing here", "see /api/v1/openapi.json for what is", code="unknown_route"
        )
    if fault.status_code == 405:
        return Refusal("The method", "is not one of this address", "use one that Allow names", code="method")
    return None
