"""Answers a survey from Python: the answer is randomised here, and nothing else leaves.

The device remembers its token and its randomised answer, and never the true one.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from adomnia.client.connection import is_loopback
from adomnia.errors import Refusal, Unavailable
from adomnia.json_text import read_json
from adomnia.noise import SystemBits
from adomnia.privacy.amounts import Number, exact, show_up
from adomnia.survey.survey import TOKEN, Survey, draw_token
from adomnia.wire.problems import error_of

if TYPE_CHECKING:
    from fractions import Fraction

_LARGEST = 2**20  # bytes of a reply
_SECONDS = 20.0
_JSON = "application/json"
_FOLDER = "adomnia/surveys"


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


@dataclass(frozen=True)
class KeptReport:
    """A randomised answer, the token that it is sent under, and the digest of the survey that it answers."""

    token: str
    report: tuple[int, ...]
    survey: str

    def __post_init__(self) -> None:
        whole = all(type(part) is int for part in self.report)
        if not (TOKEN.fullmatch(self.token) and whole and isinstance(self.survey, str)):
            raise ValueError("KeptReport must have a token, integers and a survey.")


@dataclass(frozen=True)
class DeviceMemory:
    """A folder of the user with one small file for each survey, which is written once."""

    folder: Path

    @classmethod
    def of_user(cls) -> DeviceMemory:
        """Where this user's programs keep what they must not lose."""
        home = os.environ.get("XDG_DATA_HOME")
        return cls((Path(home) if home else Path.home() / ".local" / "share") / _FOLDER)

    def recall(self, survey_id: str) -> KeptReport | None:
        """What was reported before, if anything was."""
        path = self._path(survey_id)
        try:
            written = json.loads(path.read_text(encoding="utf-8"))
            kept = KeptReport(written["token"], tuple(written["report"]), written["survey"])
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._trouble("cannot be read, and the survey may have been answered") from error
        except (ValueError, LookupError, TypeError):
            raise self._trouble("is damaged, and the survey would be answered a second time") from None
        return kept

    def keep(self, survey_id: str, kept: KeptReport) -> KeptReport:
        """Write a report before it is sent; if another process was first, that one's is the report."""
        path = self._path(survey_id)
        draft = path.with_name(f".{survey_id}-{draw_token()}")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(draft, json.dumps({"token": kept.token, "report": kept.report, "survey": kept.survey}))
            with suppress(FileExistsError):
                os.link(draft, path)
            draft.unlink()
            _sync(self.folder)
        except OSError as error:
            raise self._trouble("cannot be written, and an answer that is forgotten could be given twice") from error
        return self.recall(survey_id) or kept

    def _path(self, survey_id: str) -> Path:
        if not TOKEN.fullmatch(survey_id):
            raise ValueError("DeviceMemory survey_id must be 32 hexadecimal digits.")
        return self.folder / f"{survey_id}.json"

    def _trouble(self, why: str) -> Unavailable:
        return Unavailable("The memory of answered surveys", why, f"look at the folder {self.folder}")


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
