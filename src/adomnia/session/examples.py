"""Calls to begin with, written with the names that a table has. They follow from the catalog alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.catalog.model import is_name
from adomnia.privacy.kinds import Boolean, Identity, Quantity, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adomnia.privacy.kinds import Kind


@dataclass(frozen=True)
class ExampleNames:
    """A table and its columns: a number with bounds, a key with declared values, and the person, as far as there are.

    >>> ExampleNames("people", {"sex": Text(("F", "M")), "age": Quantity(Fraction(0), Fraction(120))}).ask("age")
    'mean("age", by="sex", epsilon=0.1)'
    """

    table: str
    columns: Mapping[str, Kind]

    @property
    def number(self) -> str | None:
        """A number of which sums and means can be asked."""
        return self._first(_is_bounded)

    @property
    def key(self) -> str | None:
        """A column by which rows can be counted apart."""
        return self._first(_is_key)

    @property
    def person(self) -> str | None:
        """The person's own id."""
        return self._first(_is_person)

    @property
    def condition(self) -> str:
        """A condition that some rows meet."""
        match self.columns.get(self.number or ""):
            case Quantity(lower=Fraction() as lower, upper=Fraction() as upper):
                return f"{self.number} >= {float(lower + upper) / 2:.12g}"
        return f"{self.key or self.person or 'COLUMN'} IS NOT NULL"

    def fill(self, call: str) -> str:
        """A call with these names in it; a capital word stands where there is none."""
        found = {"number": self.number, "key": self.key, "person": self.person}
        named = {name: each or name.upper() for name, each in found.items()}
        return call.format(**named, condition=self.condition)

    def ask(self, column: str | None = None, price: str = "epsilon=0.1") -> str:
        """A question about a column; of none, about the first number."""
        column = self.number if column is None else column
        by = f'by="{self.key}"' if self.key and self.key != column else ""
        if column is None or not is_name(column):
            return f"count({_list(by, price)})"
        if _is_bounded(self.columns[column]):
            value = f'"{column}"'
            return f"mean({_list(value, by, price)})"
        own = f'by="{column}"' if _is_key(self.columns[column]) else by
        return f"count({_list(own, price)})"

    def _first(self, fits: Callable[[Kind], bool]) -> str | None:
        """The first column of a sort, of those whose names need no quotes."""
        return next((name for name, kind in self.columns.items() if is_name(name) and fits(kind)), None)


def _is_bounded(kind: Kind) -> bool:
    return isinstance(kind, Quantity) and kind.bounded


def _is_person(kind: Kind) -> bool:
    return isinstance(kind, Identity) and kind.person


def _is_key(kind: Kind) -> bool:
    return isinstance(kind, Boolean) or (isinstance(kind, Text) and bool(kind.values))


def _list(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
