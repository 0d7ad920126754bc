"""Takes a text apart into statements that end with `;`, which in a string, a quoted name or a comment ends nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
