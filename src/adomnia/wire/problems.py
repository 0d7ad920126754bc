"""The one shape of errors: what happened, why, and how to mend it."""

from typing import Any

from pydantic import Field

from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.explaining.surfaces import reword
from adomnia.messages.surfaces import Surface
from adomnia.tables import printable
from adomnia.wire.models import Reply

FAILURE = "failure"


class Problem(Reply):
    """Why there is no answer."""

    code: str = Field(description="One stable word for programs.", examples=["unknown_column"])
    what: str = Field(description="What cannot be done.")
    why: str = Field(description="The reason, from public facts alone.")
    fix: str = Field(description="What to do instead.")
    position: tuple[int, int] | None = Field(description="Line and column in the question, from 1.")
    request_id: str | None = Field(
        description="The question that failed, by its own id; otherwise this request, as in X-Request-Id."
    )


class ProblemReply(Reply):
    """The body of every reply that is not a success."""

    error: Problem


def problem_record(error: Refusal | Failure | Unavailable, request_id: str | None = None) -> dict[str, Any]:
    """The error as plain data, in the words of JSON."""
    if isinstance(error, Failure):
        why, fix = "failed", "try the same request id later, it may only have taken long; a new one is paid again"
        told: Refusal | Unavailable = Refusal("The request", why, fix, code=FAILURE)
        request_id = error.request_id or request_id
    else:
        told = reword(error, Surface.JSON)
    said = {"code": told.code, "what": told.what, "why": told.why, "fix": told.fix}
    place = list(told.position) if isinstance(told, Refusal) and told.position is not None else None
    return {"error": {**said, "position": place, "request_id": request_id}}


def error_of(record: Any, *, later: bool = False) -> Refusal | Failure | Unavailable:  # noqa: ANN401 - whatever came
    """The error that `problem_record` wrote, in Python's words; with a status that says `later`, it is Unavailable.

    A ValueError where it is no such error.
    """
    told = record.get("error") if isinstance(record, dict) else None
    if not isinstance(told, dict) or not all(
        isinstance(told.get(name), str) for name in ("code", "what", "why", "fix")
    ):
        raise ValueError("Problem must have code, what, why and fix.")
    if told["code"] == FAILURE:
        request_id = told.get("request_id")
        return Failure(printable(request_id) if isinstance(request_id, str) else None)
    position = told.get("position")
    place = None if position is None else (int(position[0]), int(position[1]))
    what, why, fix = (printable(told[name]) for name in ("what", "why", "fix"))
    if later:
        return reword(Unavailable(what, why, fix, told["code"]), Surface.PYTHON)
    return reword(Refusal(what, why, fix, place, code=told["code"]), Surface.PYTHON)
