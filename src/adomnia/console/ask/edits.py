"""Changes to the text of a question: where they are, what they make of it, and how they are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|\w+(?:\.\w+)*|\S""")
_AROUND = 24  # characters that are shown beside a change


@dataclass(frozen=True, order=True)
class TextSpan:
    """A part of a text."""

    start: int
    end: int


@dataclass(frozen=True)
class Edit:
    """A part of a text that is replaced; an empty one is where something is put in."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Diff:
    """Text that stays (""), is put in ("ins") or is taken out ("del")."""

    kind: str
    text: str


def find_span(text: str, position: tuple[int, int], what: str) -> TextSpan:
    """The part of a text that a refusal is about: what it repeats, if it stands there, else the word at its place."""
    lines = text.split("\n")
    line = min(max(position[0], 1), len(lines))
    before = sum(len(each) + 1 for each in lines[: line - 1])
    start = before + min(max(position[1] - 1, 0), len(lines[line - 1]))
    if text[start : start + len(what)].lower() == what.lower() and what:
        return TextSpan(start, start + len(what))
    found = _TOKEN.match(text, start)
    if found is None:
        return TextSpan(max(start - 1, 0), start)
    inside = re.search(rf"(?<!\w){re.escape(what)}(?!\w)", found[0], re.IGNORECASE) if what else None
    return (
        TextSpan(found.start(), found.end())
        if inside is None
        else TextSpan(start + inside.start(), start + inside.end())
    )


def find_words(text: str, word: str) -> list[TextSpan]:
    """Where a name stands as a word of its own, outside of calls and of texts in quotes."""
    return _find_unquoted(text, rf"(?<![\w.(]){re.escape(word)}(?![\w(.])")


def find_names(text: str, name: str) -> list[TextSpan]:
    """Where a name stands, outside of texts in quotes."""
    return _find_unquoted(text, rf"(?<!\w){re.escape(name)}(?!\w)")


def _find_unquoted(text: str, pattern: str) -> list[TextSpan]:
    quoted = [TextSpan(*found.span()) for found in re.finditer(r"'(?:[^']|'')*'", text)]
    spans = [TextSpan(*found.span()) for found in re.finditer(pattern, text, re.IGNORECASE)]
    return [each for each in spans if not any(quote.start <= each.start < quote.end for quote in quoted)]


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with all of the edits, which do not overlap."""
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def show_edits(text: str, edits: Sequence[Edit]) -> tuple[Diff, ...]:
    """The changes with a few words around each; what is between two of them and long is left out."""
    shown: list[Diff] = []
    last = 0
    for place, edit in enumerate(sorted(edits, key=lambda each: each.start)):
        between = _flat(text[last : edit.start])
        shown.append(Diff("", _shorten(between, keep_head=place > 0, keep_tail=True)))
        shown += [Diff("del", _flat(text[edit.start : edit.end])), Diff("ins", _flat(edit.text))]
        last = edit.end
    if edits:
        shown.append(Diff("", _shorten(_flat(text[last:]), keep_head=True, keep_tail=False)))
    return tuple(each for each in shown if each.text)


def _shorten(text: str, *, keep_head: bool, keep_tail: bool) -> str:
    """A text of at most so many words at either end that is kept, cut between words."""
    if len(text) <= _AROUND * (keep_head + keep_tail):
        return text
    head = text[:_AROUND].rsplit(" ", 1)[0] if keep_head else ""
    tail = text[-_AROUND:].split(" ", 1)[-1] if keep_tail else ""
    return f"{head} … {tail}" if keep_head and keep_tail else f"{head} …" if keep_head else f"… {tail}"


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)
