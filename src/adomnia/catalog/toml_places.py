"""Finds where keys, values and headings stand in a TOML text, which the standard parser does not tell."""

import re
import tomllib
from bisect import bisect_right
from typing import NamedTuple, TypeAlias

Path: TypeAlias = tuple[str, ...]
Place: TypeAlias = tuple[int, int]

_TOKEN = re.compile(
    r"""
    (?P<nothing> [ \t]+ | \#[^\n]* )
    | (?P<mark> [\[\]{}=,.\n] )
    | (?P<quoted> \"\"\"(?:\\.|[^\\])*?\"{3,5} | '''.*?'{3,5} | "(?:\\.|[^"\\])*" | '[^']*' )
    | (?P<bare> [^\s\[\]{}=,.\#"']+ )
    """,
    re.VERBOSE | re.DOTALL,
)


class KeySpan(NamedTuple):
    """Where a key begins, and where its value begins and ends."""

    key: int
    start: int
    end: int


class TextSpans(NamedTuple):
    """All keys with a value but those within lists, and all headings with the offset at which each begins."""

    pairs: dict[Path, KeySpan]
    headings: tuple[tuple[Path, int], ...]

    def block_of(self, section: Path) -> tuple[int, int | None] | None:
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


def find_places(text: str) -> dict[Path, Place]:
    r"""Line and column of every key, counted from 1. The text must be valid TOML with plain line ends.

    >>> find_places("[budget]\nepsilon = 1")["budget", "epsilon"]
    (2, 1)
    """
    starts = [0, *(end.end() for end in re.finditer("\n", text))]  # of lines
    lines = {path: (bisect_right(starts, at), at) for path, at in _Walk(text).found.items()}
    return {path: (line, at - starts[line - 1] + 1) for path, (line, at) in lines.items()}


def find_spans(text: str) -> TextSpans:
    r"""The places of all keys with their values, for whoever changes one of them and nothing else.

    >>> find_spans("[budget]\nepsilon = 1.5").pairs["budget", "epsilon"]
    KeySpan(key=9, start=19, end=22)
    """
    walk = _Walk(text)
    return TextSpans(walk.pairs, tuple(walk.headings))


class _Walk:
    """One pass over the tokens of a valid text; it knows just enough of TOML to tell keys from values."""

    def __init__(self, text: str) -> None:
        matches = (match for match in _TOKEN.finditer(text) if match.lastgroup != "nothing")
        self.tokens = [*(_Token(match[0], match.start()) for match in matches), _Token("", len(text))]
        self.next = 0
        self.found: dict[Path, int] = {}
        self.pairs: dict[Path, KeySpan] = {}
        self.headings: list[tuple[Path, int]] = []
        self.document()

    def document(self) -> None:
        section: Path = ()
        while self.sees() != "":
            if self.sees() == "\n":
                self.take()
            elif self.sees() == "[":
                section = self.header()
            else:
                self.pair(section)

    def sees(self) -> str:
        return self.tokens[self.next].text

    def take(self) -> _Token:
        self.next += 1
        return self.tokens[self.next - 1]

    def skip(self, marks: str) -> None:
        while self.sees() and self.sees() in marks:
            self.take()

    def header(self) -> Path:
        start = self.tokens[self.next].start
        self.skip("[")
        path = self.key(())
        self.skip("]")
        self.headings.append((path, start))
        return path

    def key(self, path: Path) -> Path:
        start = self.tokens[self.next].start
        while True:
            path = (*path, _name(self.take().text))
            self.found.setdefault(path, start)
            if self.sees() != ".":
                break
            self.take()
        self.found[path] = start
        return path

    def pair(self, section: Path, listed: bool = False) -> None:
        place = self.tokens[self.next].start
        path = self.key(section)
        self.skip("=")
        start = self.tokens[self.next].start
        end = self.value(path, listed)
        if not listed:  # there the same path may stand for several
            self.pairs[path] = KeySpan(place, start, end)

    def value(self, path: Path, listed: bool) -> int:
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
                self.pair(path, listed)
            else:
                self.value(path, listed=True)
            self.skip(",\n")
        return self.take().end


def _name(token: str) -> str:
    quoted = token.startswith(('"', "'"))
    return str(tomllib.loads(f"key = {token}")["key"]) if quoted else token
