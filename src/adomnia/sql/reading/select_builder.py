"""Builds SQL from Python: every step writes the SQL that means the same, so that both have one plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from sqlglot.dialects.duckdb import DuckDB
from sqlglot.tokenizer_core import TokenType

from adomnia.catalog.model import is_name
from adomnia.errors import Refusal
from adomnia.sql.reading.parse import parse_expression, split_tokens
from adomnia.sql.reading.refusals import shorten

_NAMES = ([TokenType.VAR], [TokenType.IDENTIFIER])
_HOW = {"inner": "JOIN", "left": "LEFT JOIN"}


@dataclass(frozen=True)
class SelectBuilder:
    """A SELECT that is built step by step. `name` is what its rows are called in a join."""

    name: str
    source: str
    joins: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ("*",)
    groups: tuple[str, ...] = ()
    having: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole SELECT."""
        return f"SELECT {', '.join(self.outputs)}{self.rest}"

    @property
    def rest(self) -> str:
        """The text from FROM on."""
        text = f" FROM {self.source}{''.join(self.joins)}"
        for word, parts, glue in (
            ("WHERE", self.conditions, " AND "),
            ("GROUP BY", self.groups, ", "),
            ("HAVING", self.having, " AND "),
        ):
            text += f" {word} {glue.join(parts)}" if parts else ""
        return text

    def where(self, condition: str) -> SelectBuilder:
        """Keep only the rows for which a condition is true."""
        return replace(self._open(), conditions=(*self._open().conditions, bracket(condition)))

    def join(self, other: SelectBuilder, on: str, how: str) -> SelectBuilder:
        """Join with other rows: `on` is a condition, or the name of a column that both have."""
        if how not in _HOW:
            raise Refusal(f"how={how!r}", "is no join", 'write how="inner" or how="left"', code="join")
        condition = f"USING ({on})" if on.isidentifier() else f"ON {bracket(on)}"
        left = SelectBuilder(self.name, self.side) if self.conditions and not self.joins else self._open()
        return replace(left, joins=(*left.joins, f" {_HOW[how]} {other.side} {condition}"))

    def select(self, columns: tuple[str, ...], named: dict[str, str]) -> SelectBuilder:
        """Select columns, and expressions under names."""
        return replace(self._open(), outputs=_outputs(columns, named))

    def union(self, other: SelectBuilder) -> SelectBuilder:
        """Append the rows of another SELECT."""
        return SelectBuilder(self.name, f"({self.text} UNION ALL {other.text}) AS {self.name}")

    def group_by(self, keys: tuple[str, ...], named: dict[str, str], having: str | None) -> SelectBuilder:
        """Group by keys: one row for each value of them."""
        groups = tuple(bracket(key) for key in keys)
        kept = () if having is None else (bracket(having),)
        return replace(self._open(), outputs=_outputs(keys, named), groups=groups, having=kept)

    def alias(self, name: str) -> SelectBuilder:
        """Give the rows another name."""
        plain = self == SelectBuilder(self.name, self.name)
        rows = self.source if plain else f"({self.text})"
        return SelectBuilder(name, f"{rows} AS {require_name(name)}")

    def question(self, aggregate: str, keys: tuple[str, ...]) -> str:
        """The text of a question that asks for an aggregate of these rows, by keys."""
        rows = self._open()
        groups = ", ".join(bracket(require_column(key)) for key in keys)
        return f"SELECT {', '.join([*keys, aggregate])}{rows.rest}" + (f" GROUP BY {groups}" if keys else "")

    @property
    def side(self) -> str:
        """The rows as a side of a join."""
        plain = not (self.joins or self.conditions or self.groups) and self.outputs == ("*",)
        return self.source if plain else f"({self.text}) AS {self.name}"

    def _open(self) -> SelectBuilder:
        """A SELECT whose rows can still be joined and filtered: this one, or one around it."""
        return self if self.outputs == ("*",) else SelectBuilder(self.name, self.side)


def _outputs(columns: tuple[str, ...], named: dict[str, str]) -> tuple[str, ...]:
    if not columns and not named:
        raise Refusal("select()", "selects nothing", "name a column", code="bad_alias")
    for column in columns:
        require_column(column)
    for name in named:
        require_name(name)
    expressions = [f"{bracket(expression)} AS {name}" for name, expression in named.items()]
    return (*columns, *expressions)


def require_name(name: str) -> str:
    """Return a name, or refuse it if no table or output can have it."""
    if not isinstance(name, str) or not is_name(name):
        fix = "use a letter or _, then at most 62 letters, digits or _"
        raise Refusal(shorten(str(name)), "cannot be a name", fix, code="bad_alias")
    return name


def require_column(column: str) -> str:
    """Return a column or key as it is written, or refuse it if a comment in it would swallow what follows."""
    bracket(column)
    if "--" in column or "/*" in column:
        raise Refusal(shorten(column), "has a comment", "leave it out", code="syntax_not_allowed")
    return column


def bracket(expression: str) -> str:
    """Put brackets around one whole expression, so that nothing in it reaches beyond; a comment ends with the line."""
    if not isinstance(expression, str):
        raise TypeError(f"Expressions are text such as 'age >= 18', got {type(expression).__name__}.")
    parse_expression(expression)
    return f"({expression}\n)" if "--" in expression else f"({expression})"


def is_one_name(expression: str) -> bool:
    """Whether a text is one name alone, in quotes or no word of SQL: it is read as that name wherever it stands.

    >>> is_one_name("age"), is_one_name("rows"), is_one_name('"rows"'), is_one_name("age -- in years")
    (True, False, True, False)
    """
    tokens = split_tokens(expression)
    return [token.token_type for token in tokens] in _NAMES and not tokens[0].comments


@cache
def list_keywords() -> frozenset[str]:
    """Words that a reader of SQL may take for something else than a name."""
    keywords = (*DuckDB.Tokenizer.KEYWORDS, *DuckDB.Parser.NO_PAREN_FUNCTION_PARSERS)
    return frozenset(word for keyword in keywords for word in keyword.split())
