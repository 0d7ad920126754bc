"""Takes a text apart into statements, and tells before it is parsed whether one explains, lists or makes a release.

A statement ends with `;`, which in a string, a quoted name or a comment ends nothing. Of what creates, drops or alters,
`CREATE TABLE releases.NAME AS SELECT ...` alone is allowed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from adomnia.errors import Refusal

# What is one piece whatever stands in it; each may be open to the end of the text.
_PIECE = re.compile(
    r"(?P<string>'(?:[^']|'')*+(?P<string_end>')?)|(?P<name>\"(?:[^\"]|\"\")*+(?P<name_end>\")?)"
    r"|(?P<dollar>\$(?P<tag>(?:[^\W\d]\w*)?)\$(?:(?s:.)*?(?P<dollar_end>\$(?P=tag)\$)|))"
    r"|(?P<line>--[^\r\n]*)|(?P<comment>/\*)|(?P<semicolon>;)|(?P<blank>\s+)|(?P<word>\w+|.)"
)
_COMMENT = re.compile(r"/\*|\*/")
_ENDS = {"string": "string_end", "name": "name_end", "dollar": "dollar_end"}


@dataclass(frozen=True)
class WrittenStatement:
    """A statement and where in the text it begins; `ended` says that it had its `;`, or is a command of one line."""

    text: str
    line: int
    column: int
    ended: bool
    command: bool = False


def split_statements(text: str) -> Iterator[WrittenStatement]:
    r"""The statements of a text, without their `;`; a line that begins with `\` where a statement could is a command.

    Comments alone are no statement. What is not closed goes to the end of the text, and has not ended.

    >>> [each.text for each in split_statements("SELECT ';' -- one;\n; \\d people\nSELECT 2")]
    ["SELECT ';' -- one;\n", '\\d people', 'SELECT 2']
    """
    place, start = 0, None
    while place < len(text):
        if start is None and text[place] == "\\":
            end = (text + "\n").index("\n", place)
            yield _statement(text, place, end, ended=True, command=True)
            place = end
            continue
        kind, end, closed = _read_piece(text, place)
        if kind == "semicolon":
            if start is not None:
                yield _statement(text, start, place, ended=True)
            start = None
        elif start is None and (not closed or kind not in {"blank", "line", "comment"}):
            start = place
        place = end
    if start is not None:
        yield _statement(text, start, len(text), ended=False)


def is_complete(text: str) -> bool:
    """Whether every statement of a text has ended."""
    return all(statement.ended for statement in split_statements(text))


def _read_piece(text: str, place: int) -> tuple[str, int, bool]:
    """What kind of piece begins at a place, where it ends, and whether it is closed."""
    found = _PIECE.match(text, place)
    assert found is not None  # noqa: S101 - every character is a piece, at worst
    kind = next(
        name for name in ("string", "name", "dollar", "line", "comment", "semicolon", "blank", "word") if found[name]
    )
    if kind == "comment":
        return kind, *_end_of_comment(text, found.end())
    if kind in _ENDS and found[_ENDS[kind]] is None:
        return kind, len(text), False
    return kind, found.end(), True


def _end_of_comment(text: str, place: int) -> tuple[int, bool]:
    """Where a comment ends, in which others may stand."""
    depth = 1
    for mark in _COMMENT.finditer(text, place):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end(), True
    return len(text), False


def _statement(text: str, start: int, end: int, *, ended: bool, command: bool = False) -> WrittenStatement:
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    return WrittenStatement(text[start:end], line, column, ended, command)


SCHEMA = "releases"

# Possessive: a comment that was passed is never looked at again, so the time is that of reading the text once.
_BLANK = r"(?>\s+|--[^\n]*|/\*.*?\*/)"
_EXPLAIN = re.compile(rf"{_BLANK}*+(?P<word>EXPLAIN)\b", re.IGNORECASE | re.DOTALL)
_LISTING = re.compile(
    rf"{_BLANK}*+(?:SHOW{_BLANK}++(?P<shown>TABLES|METHODS)|DESC(?:RIBE)?+{_BLANK}++(?P<schema>{SCHEMA}{_BLANK}*+\.{_BLANK}*+)?+(?P<name>\w++|\"[^\"]*+\"))(?:{_BLANK}|;)*+\Z",
    re.IGNORECASE | re.DOTALL,
)
_WORD = re.compile(rf"{_BLANK}*+(?P<word>CREATE|DROP|ALTER|TRUNCATE)\b", re.IGNORECASE | re.DOTALL)
_CREATION = re.compile(
    rf"{_BLANK}*+CREATE{_BLANK}++TABLE{_BLANK}++{SCHEMA}{_BLANK}*+\.{_BLANK}*+(?P<name>\w++|\"[^\"]*+\"){_BLANK}++AS\b",
    re.IGNORECASE | re.DOTALL,
)
_FORM = "write CREATE TABLE releases.NAME AS SELECT * FROM a method that makes a release, which SHOW METHODS lists"
_CODE = "statement_not_allowed"


def is_explain(text: str) -> bool:
    """Whether a text asks for an explanation."""
    return _EXPLAIN.match(text) is not None


def without_explain(text: str) -> str:
    """The text with EXPLAIN replaced by spaces, so that positions in refusals stay right."""
    found = _EXPLAIN.match(text)
    if found is None:
        return text
    start, end = found.span("word")
    return text[:start] + " " * (end - start) + text[end:]


def match_listing(text: str) -> re.Match[str] | None:
    """What of a text says which listing it asks for; None where it asks for none."""
    return _LISTING.match(text)


def is_listing(text: str) -> bool:
    """Whether a text asks what there is to ask about."""
    return match_listing(text) is not None


def may_name_release(text: str) -> bool:
    """Whether a text may be about a release: what has not even the word is not."""
    return SCHEMA in text.lower()


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
