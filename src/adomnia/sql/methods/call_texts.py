"""Calls of methods as texts: the rows and the arguments of one, taken out as they are written, for another question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from adomnia.sql.reading.creating import SCHEMA
from adomnia.sql.reading.parse import split_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.tokenizer_core import Token

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


@dataclass(frozen=True)
class CallText:
    """A question about a method: what stands before the call, its rows, its named arguments, and what stands after."""

    before: str
    method: str
    rows: str
    arguments: Mapping[str, str]
    after: str

    def call(self, method: str, arguments: Mapping[str, str]) -> str:
        """The same rows given to another method."""
        said = "".join(f", {name} => {value}" for name, value in arguments.items())
        return f"{self.before}{method}({self.rows}{said}){self.after}"


def split_call(text: str, method: str) -> CallText | None:
    """The call of a method that stands in FROM of a question; None where there is none."""
    tokens = split_tokens(text)
    depths = _count_depths(tokens)
    for place in range(len(tokens) - 2, -1, -1):
        opens = tokens[place + 1].token_type is TokenType.L_PAREN
        if depths[place] == 0 and opens and tokens[place].text.lower() == method.lower():
            return _split_at(text, tokens, depths, place)
    return None


def replace_release(text: str, name: str, by: str) -> str:
    """The question with something else where releases.NAME stands."""
    tokens = split_tokens(text)
    found = [
        (schema.start, table.end + 1)
        for schema, dot, table in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if schema.text.lower() == SCHEMA and dot.token_type is TokenType.DOT and table.text.lower() == name.lower()
    ]
    return _replace(text, found, by)


def replace_name(text: str, name: str, by: str) -> str:
    """The question with another name for one of its tables."""
    return _replace(text, [(token.start, token.end + 1) for token in _find_name(text, name)], by)


def is_named(text: str, name: str) -> bool:
    """Whether a question names a table."""
    return bool(_find_name(text, name))


def _find_name(text: str, name: str) -> list[Token]:
    tokens = split_tokens(text)
    after_dot = [False, *(token.token_type is TokenType.DOT for token in tokens)]
    return [
        token
        for token, is_column in zip(tokens, after_dot, strict=False)
        if not is_column and token.token_type is not TokenType.STRING and token.text.lower() == name.lower()
    ]


def _replace(text: str, places: Sequence[tuple[int, int]], by: str) -> str:
    for start, end in reversed(places):
        text = text[:start] + by + text[end:]
    return text


def _count_depths(tokens: Sequence[Token]) -> list[int]:
    """In how many brackets each token stands; brackets themselves stand outside of what they enclose."""
    depths, depth = [], 0
    for token in tokens:
        depth -= token.token_type in _CLOSING
        depths.append(depth)
        depth += token.token_type in _OPENING
    return depths


def _split_at(text: str, tokens: Sequence[Token], depths: Sequence[int], place: int) -> CallText:
    last = next(after for after in range(place + 2, len(tokens)) if depths[after] == 0)
    ends = [
        after for after in range(place + 2, last) if depths[after] == 1 and tokens[after].token_type is TokenType.COMMA
    ]
    starts = [place + 1, *ends]
    parts = [
        text[tokens[start].end + 1 : tokens[end].start].strip()
        for start, end in zip(starts, [*ends, last], strict=True)
    ]
    named = (part.partition("=>") for part in parts[1:])
    arguments = {name.strip().lower(): value.strip() for name, _, value in named}
    return CallText(text[: tokens[place].start], tokens[place].text, parts[0], arguments, text[tokens[last].end + 1 :])
