"""Finds the line and column of each key in a TOML text, which the standard parser does not tell."""

from __future__ import annotations

import re
import tomllib
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


class _Token(NamedTuple):
    text: str
    offset: int


def places(text: str) -> dict[Path, Place]:
    r"""Line and column of every key, counted from 1. The text must be valid TOML with plain line ends.

    >>> places("[budget]\nepsilon = 1")["budget", "epsilon"]
    (2, 1)
    """
    found = _Walk(text).document()
    return {path: (text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)) for path, at in found.items()}


class _Walk:
    """One pass over the tokens of a valid text; it knows just enough of TOML to tell keys from values."""

    def __init__(self, text: str) -> None:
        matches = (match for match in _TOKEN.finditer(text) if match.lastgroup != "nothing")
        self.tokens = [*(_Token(match[0], match.start()) for match in matches), _Token("", len(text))]
        self.next = 0
        self.found: dict[Path, int] = {}

    def document(self) -> dict[Path, int]:
        section: Path = ()
        while self.sees() != "":
            if self.sees() == "\n":
                self.take()
            elif self.sees() == "[":
                section = self.header()
            else:
                self.pair(section)
        return self.found

    def sees(self) -> str:
        return self.tokens[self.next].text

    def take(self) -> _Token:
        self.next += 1
        return self.tokens[self.next - 1]

    def skip(self, marks: str) -> None:
        while self.sees() and self.sees() in marks:
            self.take()

    def header(self) -> Path:
        self.skip("[")
        path = self.key(())
        self.skip("]")
        return path

    def key(self, path: Path) -> Path:
        start = self.tokens[self.next].offset
        while True:
            path = (*path, _name(self.take().text))
            self.found.setdefault(path, start)
            if self.sees() != ".":
                break
            self.take()
        self.found[path] = start
        return path

    def pair(self, section: Path) -> None:
        path = self.key(section)
        self.skip("=")
        self.value(path)

    def value(self, path: Path) -> None:
        opening = self.sees()
        if opening not in ("{", "["):
            while self.sees() not in (",", "]", "}", "\n", ""):
                self.take()
            return
        self.take()
        self.skip(",\n")
        while self.sees() not in ("}", "]"):
            if opening == "{":
                self.pair(path)
            else:
                self.value(path)
            self.skip(",\n")
        self.take()


def _name(token: str) -> str:
    quoted = token.startswith(('"', "'"))
    return str(tomllib.loads(f"key = {token}")["key"]) if quoted else token
