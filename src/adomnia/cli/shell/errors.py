"""Errors in the shell: in its words, with the place of a refusal underlined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adomnia.errors import Refusal, Unavailable, render
from adomnia.messages.surfaces import Surface

if TYPE_CHECKING:
    from adomnia.errors import AdomniaError
    from adomnia.sql.reading.statements import WrittenStatement

_WORD = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|\w+|.")
# Refusals that do not look at the question: an earlier try of it may have been paid for, and its reply lost.
_UNDECIDED = frozenset(
    {"not_adomnia", "other_version", "not_trusted", "too_fast", "signed_out", "role", "unknown_dataset", "host"}
)
_WIDEST = 120  # characters of a line that are shown around the place


def describe_error(error: AdomniaError, statement: WrittenStatement, surface: Surface = Surface.SHELL) -> str:
    """One line, and below it for a refusal with a place the line of the statement, its place underlined."""
    if not isinstance(error, Refusal | Unavailable):
        return f"{type(error).__name__}: {error}"
    told = render(error, surface)
    position = error.position if isinstance(error, Refusal) else None
    if not isinstance(told, Refusal) or position is None:
        return f"{type(error).__name__}: {told}"
    told.position = _move(position, statement)
    return "\n".join([f"Refusal: {told}", *underline(statement.text, position)])


def may_be_paid(error: BaseException) -> bool:
    """Whether a question that ended with this error may have been paid for all the same."""
    return not isinstance(error, Refusal) or error.code in _UNDECIDED


def underline(text: str, position: tuple[int, int]) -> list[str]:
    """The line of a text at a position, and a line that marks the word there; nothing if it has no such place."""
    from rich.cells import cell_len

    lines = text.split("\n")
    line, column = position
    if not 1 <= line <= len(lines) or not 1 <= column <= len(lines[line - 1]) + 1:
        return []
    found, start = lines[line - 1], column - 1
    first = max(0, start - _WIDEST // 2)
    shown = _printable(found[first : first + _WIDEST])
    word = _WORD.match(found, start)
    marked = shown[start - first : (word.end() if word else start + 1) - first]
    return [f"  {shown}", "  " + " " * cell_len(shown[: start - first]) + "^" * max(1, cell_len(marked))]


def _move(position: tuple[int, int], statement: WrittenStatement) -> tuple[int, int]:
    """The place in the whole text of a place in a statement."""
    line, column = position
    return statement.line + line - 1, column + (statement.column - 1 if line == 1 else 0)


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)
