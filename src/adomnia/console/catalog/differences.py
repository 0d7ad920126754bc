"""What differs between two texts, line by line, with some lines around it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterator

_AROUND = 2
_MOST_LINES = 400
_LINES_OF_A_STEP = 5


@dataclass(frozen=True)
class DiffLine:
    """A line of both texts, or of one: "-" was there, "+" is there now, and "..." stands for those left out."""

    sign: str
    before: int | None
    after: int | None
    text: str


def compare_lines(before: str, after: str) -> list[DiffLine]:
    """The lines that differ, in their order; none if the texts are the same.

    >>> [(line.sign, line.text) for line in compare_lines("a = 1", "a = 2")]
    [('-', 'a = 1'), ('+', 'a = 2')]
    """
    old, new = before.splitlines(), after.splitlines()
    spend((len(old) + len(new)) // _LINES_OF_A_STEP)
    lines: list[DiffLine] = []
    for group in SequenceMatcher(None, old, new, autojunk=True).get_grouped_opcodes(_AROUND):
        if lines:
            lines.append(DiffLine("...", None, None, ""))
        for tag, *places in group:
            lines.extend(_list_lines(tag, old, new, *places))
    return [*lines[:_MOST_LINES], DiffLine("...", None, None, "")] if len(lines) > _MOST_LINES else lines


def _list_lines(  # noqa: PLR0913, PLR0917 - as difflib tells it
    tag: str, old: list[str], new: list[str], start: int, end: int, new_start: int, new_end: int
) -> Iterator[DiffLine]:
    if tag == "equal":
        for offset, text in enumerate(old[start:end], 1):
            yield DiffLine("", start + offset, new_start + offset, text)
        return
    for place, text in enumerate(old[start:end], start + 1):
        yield DiffLine("-", place, None, text)
    for place, text in enumerate(new[new_start:new_end], new_start + 1):
        yield DiffLine("+", None, place, text)
