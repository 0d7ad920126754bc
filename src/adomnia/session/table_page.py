"""Private rows as they print: their columns, how many rows of a person there can be, and calls to begin with.

All of it follows from the catalog: nothing is read, and nothing is asked of a server.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.session.catalog_page import describe_values
from adomnia.session.examples import ExampleNames
from adomnia.sql.reading.select_builder import SelectBuilder
from adomnia.sql.rows.blocks import rows_of
from adomnia.tables import TextTable, html_lines

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.sql.rows.derived import Derived


@dataclass(frozen=True)
class TablePage:
    """The page of a SELECT without aggregates."""

    writing: SelectBuilder
    catalog: Catalog

    @property
    def name(self) -> str:
        """What the rows are called in examples: a table by its name."""
        return self.writing.name if self._is_plain else "rows"

    @cached_property
    def examples(self) -> ExampleNames:
        """What examples may name; nothing, where the SELECT cannot be read."""
        names = [table.name for table in self.catalog.tables]
        table = self.writing.name if self.writing.name in names else names[0]
        rows = self._rows
        kinds = {} if isinstance(rows, Refusal) else {name: each.kind for name, each in rows.columns.items()}
        return ExampleNames(table, kinds)

    def __str__(self) -> str:
        return "\n".join([*self._heading(), str(self._list_columns()), "", *self._footer()])

    def html(self) -> str:
        """The page as HTML."""
        return html_lines(self._heading()) + self._list_columns().html() + html_lines(self._footer())

    @property
    def _is_plain(self) -> bool:
        return self.writing == SelectBuilder(self.writing.name, self.writing.name)

    @cached_property
    def _rows(self) -> Derived | Refusal:
        try:
            return rows_of(self.writing.text, self.catalog)
        except Refusal as refusal:
            return refusal

    def _heading(self) -> list[str]:
        rows = self._rows
        if isinstance(rows, Refusal):
            return [f"{self.name}: private rows, whose columns cannot be listed: {rows}"]
        if rows.public:
            return [f"{self.name}: public rows, read exactly and free of charge."]
        most = rows.relation.rows_per_person
        return [f"{self.name}: private rows, at most {most:,} of each person. They can be asked about, and not read."]

    def _list_columns(self) -> TextTable:
        kinds = self.examples.columns
        rows = tuple((name, str(kind), describe_values(kind)) for name, kind in kinds.items())
        return TextTable(("column", "type", "values"), rows, frozenset())

    def _footer(self) -> list[str]:
        made = [] if self._is_plain else [f"SQL: {self.writing.text}"]
        return [*made, *self._list_calls()]

    def _list_calls(self) -> list[str]:
        rows = self._rows
        if isinstance(rows, Refusal):
            return []
        price = "" if rows.public else "epsilon=0.1"
        example, name = self.examples, self.name
        calls = [f"{name}.{example.ask(price=price)}", f'{name}.where("{example.condition}").count({price})']
        return ["To begin with:", *(f"  {call}" for call in (*calls, f"{name}.explain()"))]
