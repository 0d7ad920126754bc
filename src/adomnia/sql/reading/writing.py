"""Questions written in Python: every step writes the SQL that means the same, so that both have one plan."""

from __future__ import annotations

from dataclasses import dataclass, replace

from adomnia.catalog.model import is_name
from adomnia.errors import Refusal
from adomnia.sql.reading.parse import parsed_expression
from adomnia.sql.reading.refusals import shortened

_HOW = {"inner": "JOIN", "left": "LEFT JOIN"}


@dataclass(frozen=True)
class Writing:
    """A SELECT that is being written. `name` is what its rows are called in a join."""

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
        """FROM and all that follows."""
        text = f" FROM {self.source}{''.join(self.joins)}"
        for word, parts, glue in (
            ("WHERE", self.conditions, " AND "),
            ("GROUP BY", self.groups, ", "),
            ("HAVING", self.having, " AND "),
        ):
            text += f" {word} {glue.join(parts)}" if parts else ""
        return text

    def where(self, condition: str) -> Writing:
        """Only the rows for which a condition is true."""
        return replace(self._open(), conditions=(*self._open().conditions, bracketed(condition)))

    def join(self, other: Writing, on: str, how: str) -> Writing:
        """Pairs with rows of another: `on` is a condition, or the name of a column that both have."""
        if how not in _HOW:
            raise Refusal(f"how={how!r}", "is no join", 'write how="inner" or how="left"', code="join")
        condition = f"USING ({on})" if on.isidentifier() else f"ON {bracketed(on)}"
        left = Writing(self.name, self.side) if self.conditions and not self.joins else self._open()
        return replace(left, joins=(*left.joins, f" {_HOW[how]} {other.side} {condition}"))

    def select(self, columns: tuple[str, ...], named: dict[str, str]) -> Writing:
        """Columns, and expressions under names."""
        return replace(self._open(), outputs=_outputs(columns, named))

    def union(self, other: Writing) -> Writing:
        """The rows of both, one after the other."""
        return Writing(self.name, f"({self.text} UNION ALL {other.text}) AS {self.name}")

    def grouped(self, keys: tuple[str, ...], named: dict[str, str], having: str | None) -> Writing:
        """One row for each value of the keys."""
        groups = tuple(bracketed(key) for key in keys)
        kept = () if having is None else (bracketed(having),)
        return replace(self._open(), outputs=_outputs(keys, named), groups=groups, having=kept)

    def named(self, name: str) -> Writing:
        """The same rows under another name."""
        plain = self == Writing(self.name, self.name)
        rows = self.source if plain else f"({self.text})"
        return Writing(name, f"{rows} AS {checked_name(name)}")

    def asked(self, aggregate: str, keys: tuple[str, ...]) -> str:
        """The question after an aggregate of these rows, by keys."""
        rows = self._open()
        groups = ", ".join(bracketed(checked_column(key)) for key in keys)
        return f"SELECT {', '.join([*keys, aggregate])}{rows.rest}" + (f" GROUP BY {groups}" if keys else "")

    @property
    def side(self) -> str:
        """The rows as a side of a join."""
        plain = not (self.joins or self.conditions or self.groups) and self.outputs == ("*",)
        return self.source if plain else f"({self.text}) AS {self.name}"

    def _open(self) -> Writing:
        """A SELECT whose rows can still be joined and filtered: this one, or one around it."""
        return self if self.outputs == ("*",) else Writing(self.name, self.side)


def _outputs(columns: tuple[str, ...], named: dict[str, str]) -> tuple[str, ...]:
    if not columns and not named:
        raise Refusal("select()", "selects nothing", "name a column", code="bad_alias")
    for column in columns:
        checked_column(column)
    for name in named:
        checked_name(name)
    expressions = [f"{bracketed(expression)} AS {name}" for name, expression in named.items()]
    return (*columns, *expressions)


def checked_name(name: str) -> str:
    """A name that a table or an output may have."""
    if not isinstance(name, str) or not is_name(name):
        fix = "use a letter or _, then at most 62 letters, digits or _"
        raise Refusal(shortened(str(name)), "cannot be a name", fix, code="bad_alias")
    return name


def checked_column(column: str) -> str:
    """A column, or a key, as it is written: without a comment that would swallow what follows."""
    bracketed(column)
    if "--" in column or "/*" in column:
        raise Refusal(shortened(column), "has a comment", "leave it out", code="syntax_not_allowed")
    return column


def bracketed(expression: str) -> str:
    """One whole expression, and nothing that could reach beyond it; a comment at its end ends with the line."""
    if not isinstance(expression, str):
        raise TypeError(f"Expressions are text such as 'age >= 18', got {type(expression).__name__}.")
    parsed_expression(expression)
    return f"({expression}\n)" if "--" in expression else f"({expression})"
