"""The one shape of errors: what happened, why, and the fix."""

from typing import Any

from pydantic import Field, TypeAdapter

from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show
from adomnia.tables import printable
from adomnia.wire.models import Reply, TextReply, texts_of, texts_record

FAILURE = "failure"
_TEXTS = TypeAdapter(list[TextReply])


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
    texts: list[TextReply] = Field([], description="What those of these sentences name that are not plain.")


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
        told = error
    texts = {"what": told.what, "why": told.why, "fix": told.fix}
    said = {name: show(text, Surface.JSON) for name, text in texts.items()}
    place = list(told.position) if isinstance(told, Refusal) and told.position is not None else None
    rest = {"position": place, "request_id": request_id, **texts_record(texts.values())}
    return {"error": {"code": told.code, **said, **rest}}


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
    text = texts_of(_TEXTS.validate_python(told.get("texts", [])))
    what, why, fix = (text(told[name]) for name in ("what", "why", "fix"))
    if later:
        return Unavailable(what, why, fix, told["code"])
    return Refusal(what, why, fix, place, code=told["code"])
