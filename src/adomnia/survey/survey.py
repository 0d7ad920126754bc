"""A survey: its question, its answers, and the exact design that randomises them. A small file, survey.toml."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.noise import SystemBits
from adomnia.privacy.amounts import show_up
from adomnia.survey.registry import DESIGNS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adomnia.survey.design import ResponseDesign

FILE = "survey.toml"
MOST_ANSWERS = 100
TOKEN = re.compile(r"[0-9a-f]{32}")
_LONGEST_QUESTION, _LONGEST_ANSWER = 1000, 200
# What a stranger writes is read exactly, and is short: 1e999999999 would be a Fraction of a billion digits.
_NUMBER = re.compile(r"\d{1,20}(\.\d{1,20}|/\d{1,20})?")
_FIX = "write it again with adomnia survey new"


@dataclass(frozen=True)
class Survey:
    """One question to many people, each of whom reports a randomised answer, once."""

    id: str
    question: str
    answers: tuple[str, ...]
    design: ResponseDesign
    invited: bool = False

    def __post_init__(self) -> None:
        if not TOKEN.fullmatch(self.id):
            raise _refuse("id", "is not 32 hexadecimal digits")
        _check_text("question", self.question, _LONGEST_QUESTION)
        if not 2 <= len(self.answers) <= MOST_ANSWERS or len(set(self.answers)) != len(self.answers):
            raise _refuse("answers", f"are not from 2 to {MOST_ANSWERS} different ones")
        for answer in self.answers:
            _check_text("answer", answer, _LONGEST_ANSWER)
        if self.design.categories != len(self.answers):
            raise _refuse("design", f"is for {self.design.categories} answers, not {len(self.answers)}")
        if not all(map(_NUMBER.fullmatch, self.design.parameters().values())):
            raise _refuse("design", "has a number of more than 20 digits, which no device would read")

    @property
    def digest(self) -> str:
        """Which survey this is, with everything that a report depends on."""
        return sha256(json.dumps(self.record(), sort_keys=True).encode()).hexdigest()

    def record(self) -> dict[str, Any]:
        """As plain data: what a device needs to know before it answers."""
        design = {"name": self.design.name, **self.design.parameters()}
        return {"id": self.id, "question": self.question, "answers": list(self.answers), "design": design}

    @classmethod
    def from_record(cls, record: Mapping[str, Any], *, invited: bool = False) -> Survey:
        """Read a survey, whoever wrote it: what does not fit is refused."""
        try:
            design, answers = dict(record["design"]), tuple(record["answers"])
            kind = DESIGNS[design.pop("name")]
            written = {name: _read_number(value) for name, value in design.items()}
            if not (kind.accepts(len(answers)) and len(answers) <= MOST_ANSWERS):
                raise _refuse("design", f"{kind.name} is not for {len(answers)} answers")
            made = kind.from_parameters(len(answers), written)
            return cls(record["id"], record["question"], answers, made, invited)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            raise _refuse("file", "does not say question, answers and design as it should") from None


def draw_token() -> str:
    """A fresh secret of 128 bits."""
    return SystemBits().words(2).tobytes().hex()


def write_survey(folder: Path, survey: Survey) -> Path:
    """Write a new survey.toml; one that is there stays as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        raise Refusal(f"{FILE}", "is there already, and people may have answered it", "choose another folder") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_render(survey))
    return path


def read_survey(folder: Path) -> Survey:
    """The survey of a folder."""
    try:
        written = tomllib.loads((folder / FILE).read_text(encoding="utf-8"))
        asked, design = written["survey"], written["design"]
        invited = asked.get("invited", False) is True
    except FileNotFoundError:
        raise Refusal("The folder", f"has no {FILE}", "make one with adomnia survey new") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, LookupError, TypeError, AttributeError):
        raise _refuse("file", f"{FILE} cannot be read") from None
    return Survey.from_record({**asked, "design": design}, invited=invited)


def _render(survey: Survey) -> str:
    design = "\n".join(f'{name} = "{value}"' for name, value in survey.design.parameters().items())
    return (
        "# Written by adomnia survey new. Once somebody has answered, nothing here may change: reports would mean\n"
        "# something else. Numbers are exact.\n\n"
        "[survey]\n"
        f'id = "{survey.id}"\n'
        f"question = {_quote(survey.question)}\n"
        f"answers = [{', '.join(map(_quote, survey.answers))}]\n"
        f"invited = {'true' if survey.invited else 'false'}\n\n"
        f"# Each report costs its respondent epsilon {show_up(survey.design.epsilon)}.\n"
        f'[design]\nname = "{survey.design.name}"\n{design}\n'
    )


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # without control characters, the strings of both are the same


def _check_text(what: str, text: object, longest: int) -> None:
    if not (isinstance(text, str) and text.strip() and text.isprintable() and len(text) <= longest):
        raise _refuse(what, f"is not one line of up to {longest:,} letters")


def _read_number(written: object) -> Fraction:
    if not (isinstance(written, str) and _NUMBER.fullmatch(written)):
        raise ValueError("A design's number must be a short text.")
    return Fraction(written)


def _refuse(what: str, why: str) -> Refusal:
    return Refusal(f"The survey's {what}", why, _FIX, code="bad_survey")
