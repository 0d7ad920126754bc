"""A question as a text to take along: Python, SQL, a command for curl. Each is quoted as its language needs it."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from adomnia.options import OPTIONS
from adomnia.privacy.amounts import exact
from adomnia.wire.amounts import text_of
from adomnia.wire.models import API

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.session.recalled import Recalled

_TOKEN = "ao_..."  # noqa: S105 - what stands in the place of one


@dataclass(frozen=True)
class Copy:
    """A text under the name of its language."""

    id: str
    name: str
    text: str


@dataclass(frozen=True)
class AnswerPlace:
    """Where an answer is: the address of the server, the dataset, and the request that paid for it."""

    server: str
    dataset: str
    request_id: str


Copies = tuple[Copy, ...]


def write_copies(recalled: Recalled, place: AnswerPlace) -> Copies:
    """The texts of a question; one of a batch is read again, because alone it would be another question."""
    alone = len(recalled.batch.questions) == 1
    python = _write_python(recalled, place) if alone else _write_python_again(recalled, place)
    curl = _write_curl(recalled, place) if alone else _write_curl_again(recalled, place)
    return (
        Copy("copy-python", "Python", python),
        Copy("copy-sql", "SQL", recalled.question.text),
        Copy("copy-curl", "curl", curl),
        Copy("copy-link", "Link", f"{place.server}{_page(recalled, place)}"),
    )


def _write_python(recalled: Recalled, place: AnswerPlace) -> str:
    named = {name: _python_value(value) for name, value in _list_named(recalled)}
    imports = "from fractions import Fraction\n\n" if any("Fraction(" in each for each in named.values()) else ""
    arguments = "".join(f", {name}={value}" for name, value in named.items())
    text = _python_text(recalled.question.text)
    return f"{imports}{_connect(place)}answer = session.sql({text}{arguments})\nprint(answer)\n"


def _write_python_again(recalled: Recalled, place: AnswerPlace) -> str:
    return f"{_connect(place)}answer = session.answer({place.request_id!a}, {recalled.place})\nprint(answer)\n"


def _connect(place: AnswerPlace) -> str:
    return f'import adomnia\n\nsession = adomnia.connect({place.server!a}, token="{_TOKEN}")\n'


def _python_text(text: str) -> str:
    """A text as a literal: in three quotes where it can stand there as it is, else with everything escaped.

    >>> print(_python_text("SELECT 'a'"))
    "SELECT 'a'"
    """
    plain = all(line.isprintable() for line in text.split("\n")) and "\\" not in text and '"""' not in text
    if "\n" not in text or not plain or text.endswith('"'):
        return repr(text)
    return f'"""{text}"""'


def _python_value(value: Any) -> str:  # noqa: ANN401 - whatever may be named
    if isinstance(value, Fraction):
        written = text_of(value)
        exact = "/" not in written and Fraction(repr(float(written))) == value
        return repr(float(written)) if exact else f"Fraction({str(value)!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_python_value(each)}" for name, each in value.items()) + "}"
    return repr(value)


def _write_curl(recalled: Recalled, place: AnswerPlace) -> str:
    body = {"sql": recalled.question.text} | {name: _json_value(value) for name, value in _list_named(recalled)}
    headers = ("Content-Type: application/json",)
    return _curl(f"{_dataset(place)}/query", headers, json.dumps(body))


def _write_curl_again(recalled: Recalled, place: AnswerPlace) -> str:
    return _curl(f"{_dataset(place)}/answers/{quote(place.request_id, safe='')}?place={recalled.place}")


def _curl(address: str, headers: tuple[str, ...] = (), body: str = "") -> str:
    """A command for a shell of POSIX. JSON is ASCII, and nothing in single quotes is read by the shell."""
    parts = [
        "curl",
        shlex.quote(address),
        *(f"-H {shlex.quote(each)}" for each in (f"Authorization: Bearer {_TOKEN}", *headers)),
    ]
    if body:
        parts.append(f"--data-raw {shlex.quote(body)}")
    return " \\\n  ".join([" ".join(parts[:2]), *parts[2:]]) + "\n"


def _json_value(value: Any) -> Any:  # noqa: ANN401 - whatever may be named
    if isinstance(value, Fraction):
        return text_of(value)
    return {name: _json_value(each) for name, each in value.items()} if isinstance(value, dict) else value


def _list_named(recalled: Recalled) -> Iterator[tuple[str, Any]]:
    """What was named beside the text, apart from what is usual; amounts exactly."""
    for name, value in recalled.batch.list_named(recalled.place).items():
        match OPTIONS[name].kind:
            case "amount" | "distance":
                yield name, exact(value, "Question", name)
            case "amounts":
                yield name, {output: exact(each, "Question", name) for output, each in value.items()}
            case _:
                yield name, value


def _dataset(place: AnswerPlace) -> str:
    return f"{place.server}{API}/datasets/{quote(place.dataset, safe='')}"


def _page(recalled: Recalled, place: AnswerPlace) -> str:
    which = f"?place={recalled.place}" if recalled.place else ""
    return f"/answers/{quote(place.request_id, safe='')}{which}"
