"""Calls of methods as texts: the rows and the arguments of one, taken out as they are written, for another question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from adomnia.sql.methods.arguments import find_arguments
from adomnia.sql.reading.parse import parse, split_tokens, write_sql
from adomnia.sql.reading.statements import SCHEMA
from adomnia.sql.values.scope import find_call, strip_brackets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.tokenizer_core import Token

    from adomnia.methods.contract import Method

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


@dataclass(frozen=True)
class RowsParts:
    """Where the rows come from: a table with a condition, and the columns that were selected of it; or a SELECT."""

    table: str
    where: str = ""
    select: str = ""
    selected: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArgumentParts:
    """An argument: its text, its parts as they were typed, and the columns that they name; `is_column`: it is one."""

    text: str
    parts: tuple[str, ...]
    names: tuple[str, ...]
    is_column: bool


@dataclass(frozen=True)
class CallParts:
    """The rows and the arguments that were given."""

    rows: RowsParts
    arguments: dict[str, ArgumentParts]


def take_apart(text: str, method: Method) -> CallParts:
    """The parts of a text that calls a method."""
    call = find_call(parse(text))
    assert call is not None  # noqa: S101 - its caller says that it calls one
    rows = _read_rows(strip_brackets(call.expressions[0]))
    return CallParts(rows, {name: _read_argument(node) for name, node in find_arguments(call, method).items()})


def _read_rows(node: exp.Expr) -> RowsParts:
    if isinstance(node, exp.Column):
        return RowsParts(node.name)
    select = node.this if isinstance(node, exp.Subquery) else node
    source = select.args["from_"].this
    plain = isinstance(source, exp.Table) and not select.args.get("joins")
    if not plain or not all(isinstance(each, exp.Column) for each in select.expressions):
        return RowsParts(source.name, select=write_sql(select))
    where = select.args.get("where")
    condition = "" if where is None else write_sql(where.this)
    return RowsParts(source.name, condition, selected=tuple(each.name for each in select.expressions))


def _read_argument(node: exp.Expr) -> ArgumentParts:
    nodes = [strip_brackets(each) for each in node.expressions] if isinstance(node, exp.Tuple) else [node]
    parts = (str(each.this) if isinstance(each, exp.Literal) else write_sql(each) for each in nodes)
    names = tuple(each.name for each in nodes)
    return ArgumentParts(write_sql(node), tuple(parts), names, isinstance(node, exp.Column))
