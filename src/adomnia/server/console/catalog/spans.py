"""Finds where keys, values and headings stand in a TOML text, so that one of them can be changed and nothing else."""

from __future__ import annotations

import re
import tomllib
from typing import NamedTuple, TypeAlias

__all__ = ["KeyPath", "KeySpan", "TextSpans", "find_spans"]

KeyPath: TypeAlias = tuple[str, ...]

_TOKEN = re.compile(
    r"""
    (?P<nothing> [ \t]+ | \#[^\n]* )
    | (?P<mark> [\[\]{}=,.\n] )
    | (?P<quoted> \"\"\"(?:\\.|[^\\])*?\"{3,5} | '''.*?'{3,5} | "(?:\\.|[^"\\])*" | '[^']*' )
    | (?P<bare> [^\s\[\]{}=,.\#"']+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_INSIDE_A_LIST = ""  # no key has this name at the beginning of its path


class KeySpan(NamedTuple):
    """Where a key begins, and where its value begins and ends."""

    key: int
    start: int
    end: int


class TextSpans(NamedTuple):
    """All keys with a value, and all headings with the offset at which each begins, in their order."""

    pairs: dict[KeyPath, KeySpan]
    headings: tuple[tuple[KeyPath, int], ...]

    def block_of(self, section: KeyPath) -> tuple[int, int | None] | None:
        """Where the heading of a section begins, and the next one; None for a section without a heading."""
        places = [place for path, place in self.headings if path == section]
        if not places:
            return None
        later = [place for _, place in self.headings if place > places[0]]
        return places[0], min(later, default=None)


class _Token(NamedTuple):
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def find_spans(text: str) -> TextSpans:
    r"""The places of a valid TOML text with plain line ends.

    >>> find_spans("[budget]\nepsilon = 1.5").pairs["budget", "epsilon"]
    KeySpan(key=9, start=19, end=22)
    """
    return _Walk(text).read()


class _Walk:
    """One pass over the tokens of a valid text."""

    def __init__(self, text: str) -> None:
        matches = (match for match in _TOKEN.finditer(text) if match.lastgroup != "nothing")
        self.tokens = [*(_Token(match[0], match.start()) for match in matches), _Token("", len(text))]
        self.next = 0
        self.pairs: dict[KeyPath, KeySpan] = {}
        self.headings: list[tuple[KeyPath, int]] = []

    def read(self) -> TextSpans:
        section: KeyPath = ()
        while self.sees() != "":
            if self.sees() == "\n":
                self.take()
            elif self.sees() == "[":
                section = self.heading()
            else:
                self.pair(section)
        return TextSpans(self.pairs, tuple(self.headings))

    def sees(self) -> str:
        return self.tokens[self.next].text

    def take(self) -> _Token:
        self.next += 1
        return self.tokens[self.next - 1]

    def skip(self, marks: str) -> None:
        while self.sees() and self.sees() in marks:
            self.take()

    def heading(self) -> KeyPath:
        place = self.tokens[self.next].start
        self.skip("[")
        path = self.key(())
        self.skip("]")
        self.headings.append((path, place))
        return path

    def key(self, path: KeyPath) -> KeyPath:
        path = (*path, _name(self.take().text))
        while self.sees() == ".":
            self.take()
            path = (*path, _name(self.take().text))
        return path

    def pair(self, section: KeyPath) -> None:
        place = self.tokens[self.next].start
        path = self.key(section)
        self.skip("=")
        start = self.tokens[self.next].start
        self.pairs[path] = KeySpan(place, start, self.value(path))

    def value(self, path: KeyPath) -> int:
        """Read a value; gives where it ends."""
        opening = self.sees()
        if opening not in ("{", "["):
            end = 0
            while self.sees() not in (",", "]", "}", "\n", ""):
                end = self.take().end
            return end
        self.take()
        self.skip(",\n")
        while self.sees() not in ("}", "]"):
            if opening == "{":
                self.pair(path)
            else:
                self.value((_INSIDE_A_LIST,))
            self.skip(",\n")
        return self.take().end


def _name(token: str) -> str:
    quoted = token.startswith(('"', "'"))
    return str(tomllib.loads(f"key = {token}")["key"]) if quoted else token
