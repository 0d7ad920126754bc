"""`CREATE TABLE releases.NAME AS SELECT ...`: the one thing that may be created. All else of the kind is refused."""

import re
from dataclasses import dataclass
from itertools import islice

from adomnia.errors import Refusal
from adomnia.sql.reading.statements import split_statements

SCHEMA = "releases"

# Possessive: a comment that was passed is never looked at again, so the time is that of reading the text once.
_BLANK = r"(?>\s+|--[^\n]*|/\*.*?\*/)"
_WORD = re.compile(rf"{_BLANK}*+(?P<word>CREATE|DROP|ALTER|TRUNCATE)\b", re.IGNORECASE | re.DOTALL)
_CREATION = re.compile(
    rf"{_BLANK}*+CREATE{_BLANK}++TABLE{_BLANK}++{SCHEMA}{_BLANK}*+\.{_BLANK}*+(?P<name>\w++|\"[^\"]*+\"){_BLANK}++AS\b",
    re.IGNORECASE | re.DOTALL,
)
_FORM = "write CREATE TABLE releases.NAME AS SELECT * FROM a method that makes a release, which SHOW METHODS lists"
_CODE = "statement_not_allowed"


@dataclass(frozen=True)
class Creation:
    """A release to be made: its name, and its question with spaces in the place of what stands before it."""

    name: str
    question: str


def read_creation(text: str) -> Creation | None:
    """The release that a text asks for; None where it creates nothing, and a Refusal where it would change more.

    >>> read_creation("CREATE TABLE releases.ages AS SELECT 1").name
    'ages'
    """
    begins = _WORD.match(text)
    if begins is None:
        return None
    found = _CREATION.match(text)
    if found is not None:
        # Spaces, but for the ends of lines: positions in refusals stay right.
        before = re.sub(r"[^\n]", " ", text[: found.end()])
        return Creation(found["name"].strip('"'), before + text[found.end() :])
    _refuse_second(text)
    line = text.count("\n", 0, begins.start("word")) + 1
    position = line, begins.start("word") - text.rfind("\n", 0, begins.start("word"))
    word = begins["word"].upper()
    if word == "CREATE":
        raise Refusal("This CREATE", "makes no release, and nothing else may be created", _FORM, position, code=_CODE)
    why = "would change or remove what is there; what was published stays published, because others may have read it"
    raise Refusal(f"{word}", why, "leave it out", position, code=_CODE)


def _refuse_second(text: str) -> None:
    """Refuse a second statement as such, whatever the first one is."""
    second = next(islice(split_statements(text), 1, None), None)
    if second is not None:
        fix, place = "ask one question at a time", (second.line, second.column)
        raise Refusal("A second statement", "begins here", fix, place, code="multiple_statements")
