"""Sessions as they print: who asks what, what is left, which tables there are, and calls to begin with.

All of it is public or the analyst's own: nothing private is read, and nothing is spent.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.explaining.balances import say_left
from adomnia.privacy.amounts import show_down
from adomnia.privacy.units import ROW
from adomnia.session.examples import ExampleNames
from adomnia.tables import TextTable, html_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog, Table
    from adomnia.session.accounts import Budgets

_USUAL = Fraction(1, 10)
_LISTED = 8  # columns of a table
_MADE_UP = "Rows are made up from the catalog: answers are about nobody, and your budget is not spent."


@dataclass(frozen=True)
class SessionPage:
    """What one session may do, as far as it is known: a server that does not answer tells nothing."""

    heading: str
    catalog: Catalog | None
    budgets: Budgets | None
    releases: tuple[str, ...] = ()
    made_up: bool = False

    def __str__(self) -> str:
        tables = [] if self.catalog is None else ["", str(_list_tables(self.catalog)), ""]
        return "\n".join([*self._first(), *tables, *self._last()])

    def html(self) -> str:
        """The page as HTML."""
        tables = "" if self.catalog is None else _list_tables(self.catalog).html()
        return html_lines(self._first()) + tables + html_lines(self._last())

    def _first(self) -> list[str]:
        return [self.heading, *([_MADE_UP] if self.made_up else []), *self._say_left()]

    def _say_left(self) -> Iterator[str]:
        if self.budgets is None:
            return
        own, shared = self.budgets.personal, self.budgets.dataset
        yield f"Left: {say_left(own)}."
        if shared.left().epsilon < own.left().epsilon:
            yield f"Left of the dataset, for everybody: {say_left(shared)}."

    def _last(self) -> list[str]:
        if self.catalog is None:
            return []
        views = [view.name for view in self.catalog.views]
        named = [("Views", views), ("Releases", [f"releases.{name}" for name in self.releases])]
        others = [f"{what}: {', '.join(names)}." for what, names in named if names]
        return [*others, "To begin with:", *(f"  {call}" for call in self._list_calls(self.catalog))]

    def _list_calls(self, catalog: Catalog) -> list[str]:
        if not catalog.tables:
            return ["session.catalog()"]
        table = _choose_table(catalog)
        price = "" if table.public else self._choose_price()
        if price is None:
            return ["session.answers()", "session.releases()", f'session.preview("{table.name}")']
        names = ExampleNames(table.name, {column.name: column.kind for column in table.columns})
        argument, text = f", {price}" if price else "", _write_question(names)
        return [
            f'session.price("{text}"{argument})' if not table.public else f'session.explain("{text}")',
            f'session.sql("{text}"{argument})',
            f'session.table("{table.name}").{names.ask(price=price)}',
        ]

    def _choose_price(self) -> str | None:
        """What a first question may cost: nothing to be said where a policy decides; None where nothing is left."""
        if self.budgets is None:
            return f"epsilon={show_down(_USUAL)}"
        left, terms = self.budgets.personal.left(), self.budgets.terms
        if terms.questions == 0 or not (left.epsilon or left.largest_question):
            return None
        if terms.price is not None:
            return ""
        affordable = min(_USUAL, left.largest_question or left.epsilon, terms.ceiling or _USUAL)
        return f"epsilon={show_down(affordable)}"


def _list_tables(catalog: Catalog) -> TextTable:
    by_row = catalog.unit == ROW
    rows = [(table.name, _describe_rows(table, by_row), _list_columns(table)) for table in catalog.tables]
    return TextTable(("table", "hidden" if by_row else "rows of a person", "columns"), tuple(rows), frozenset())


def _describe_rows(table: Table, by_row: bool) -> str:
    if table.public:
        return "public"
    return "each row by itself" if by_row else f"at most {table.rows_per_person:,}"


def _list_columns(table: Table) -> str:
    names = [column.name for column in table.columns]
    more = f", ... ({len(names)} in all)" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _choose_table(catalog: Catalog) -> Table:
    """The first private table with a number and a key; without one, the first."""

    def rank(table: Table) -> tuple[bool, bool]:
        names = ExampleNames(table.name, {column.name: column.kind for column in table.columns})
        return table.public, names.number is None or names.key is None

    return min(catalog.tables, key=rank)


def _write_question(names: ExampleNames) -> str:
    key = f"{names.key}, " if names.key else ""
    asked = f"AVG({names.number}) AS mean" if names.number else "COUNT(*) AS n"
    return f"SELECT {key}{asked} FROM {names.table}" + (f" GROUP BY {names.key}" if names.key else "")  # noqa: S608
