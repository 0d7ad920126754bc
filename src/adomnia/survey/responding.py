"""Answers a survey from Python: the answer is randomised here, and nothing else leaves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from adomnia.client.addresses import is_loopback
from adomnia.errors import Refusal, Unavailable
from adomnia.json_text import read_json
from adomnia.noise import SystemBits
from adomnia.privacy.amounts import Number, exact, show_up
from adomnia.survey.memory import DeviceMemory, KeptReport
from adomnia.survey.survey import TOKEN, Survey, draw_token
from adomnia.wire.problems import error_of

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

__all__ = ["SentReport", "respond"]

_LARGEST = 2**20  # bytes of a reply
_SECONDS = 20.0
_JSON = "application/json"


@dataclass(frozen=True)
class SentReport:
    """What left this device, and what it cost: the same report as before if there was one."""

    report: tuple[int, ...]
    epsilon: Fraction
    repeated: bool


def respond(
    address: str,
    answer: str,
    *,
    at_most: Number = 3,
    memory: Path | None = None,
    transport: httpx.BaseTransport | None = None,
) -> SentReport:
    """Randomise an answer on this machine, remember the result for good, and send that.

    Asked again, the first report is sent again, whatever the answer is now. A survey that costs more than epsilon
    `at_most` is refused; its cost is computed here, from the probabilities that are used here.
    """
    base, token = _read_address(address)
    remembered = DeviceMemory.of_user() if memory is None else DeviceMemory(memory)
    with httpx.Client(base_url=base, timeout=_SECONDS, trust_env=False, transport=transport) as client:
        record = _ask(client, "GET", "/survey.json")
        survey = Survey.from_record(record)
        kept = remembered.recall(survey.id)
        repeated = kept is not None
        if kept is None:
            if record.get("invited") is True and token is None:  # kept under another token, it could never be sent
                raise Refusal("This survey", "is for people who were invited", "use the link that you were sent")
            drawn = _draw(survey, answer, exact(at_most, "respond", "at_most"))
            kept = remembered.keep(survey.id, KeptReport(token or draw_token(), drawn, survey.digest))
        _check_kept(kept, survey)
        _ask(client, "POST", "/reports", _render(survey, kept))
    return SentReport(kept.report, survey.design.epsilon, repeated)


def _render(survey: Survey, kept: KeptReport) -> bytes:
    """What is sent, with spaces behind it: as many bytes for every report of the survey."""

    def written(report: tuple[int, ...]) -> bytes:
        return json.dumps({"survey": survey.id, "token": kept.token, "report": list(report)}).encode()

    return written(kept.report).ljust(len(written(survey.design.longest_report)))


def _check_kept(kept: KeptReport, survey: Survey) -> None:
    """Refuse to send a report to whoever only says that theirs is the survey which it answers."""
    if kept.survey != survey.digest:
        why = "has the id of another one that was answered here, whose report is nobody else's business"
        raise Refusal("This survey", why, "tell who asks that it needs an id of its own", code="survey_changed")


def _draw(survey: Survey, answer: str, at_most: Fraction) -> tuple[int, ...]:
    if answer not in survey.answers:
        raise Refusal("The answer", "is none of this survey's", f"choose one of {', '.join(survey.answers)}")
    if survey.design.epsilon > at_most:
        cost = show_up(survey.design.epsilon)
        why = f"costs epsilon {cost}, more than the {show_up(at_most)} that you accept"
        raise Refusal("This survey", why, f"pass at_most={cost} if you accept that", code="too_costly")
    return survey.design.randomize(survey.answers.index(answer), SystemBits())


def _read_address(address: str) -> tuple[str, str | None]:
    """The server, and the token of an invitation if the address ends with one."""
    example = "write it like http://127.0.0.1:8000, or with https:// to another machine"
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, TypeError):
        raise Refusal("The address of the survey", "is not an address", example, code="bad_address") from None
    if url.scheme != "https" and not (url.scheme == "http" and is_loopback(url.host)):
        why = "is not encrypted, and anybody on the way could change what your answer is randomised by"
        raise Refusal("The address of the survey", why, example, code="insecure")
    token = url.fragment or None
    if token is not None and not TOKEN.fullmatch(token):
        raise Refusal("The invitation in the address", "is not one", "copy the link again", code="bad_address")
    return str(url.copy_with(fragment=None, query=None)).rstrip("/"), token


def _ask(client: httpx.Client, method: str, path: str, body: bytes | None = None) -> Any:  # noqa: ANN401 - JSON
    content, headers = b"", {"Accept-Encoding": "identity", **({} if body is None else {"Content-Type": _JSON})}
    try:
        with client.stream(method, path, content=body, headers=headers) as response:
            packed = response.headers.get("Content-Encoding", "identity") != "identity"  # it may be any size unpacked
            for piece in () if packed else response.iter_bytes():
                content += piece
                if len(content) > _LARGEST:
                    raise _stranger()
    except httpx.TransportError:
        fix = "try again later: your randomised answer is kept, and the same one is sent"
        raise Unavailable("The survey", "cannot be reached", fix, "unreachable") from None
    try:
        reply = read_json(content)
        problem = None if response.is_success else error_of(reply, later=response.status_code == 503)
    except (ValueError, TypeError, LookupError, ArithmeticError):
        raise _stranger() from None
    if problem is not None:
        raise problem
    return reply


def _stranger() -> Refusal:
    return Refusal("The server", "did not answer as a survey of Ad Omnia does", "check the address", code="not_adomnia")
