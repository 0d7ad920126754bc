"""The list of all tables and views, and what a search finds in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.api.actions.tables import list_sources, open_view
from adomnia.console.data.protection import describe_row
from adomnia.console.data.wording import count_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog, Table

SEARCHED_FROM = 9  # tables and views: fewer are seen at a glance
_SHOWN = 8


@dataclass(frozen=True)
class TableLine:
    """A table or view in a few words."""

    name: str
    kind: str  # private, public or view
    row: str
    cap: str
    columns: tuple[str, ...]
    found: tuple[str, ...] = ()  # columns that a search is about

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that are named: those that were looked for, or else the first."""
        return (self.found or self.columns)[:_SHOWN]

    @property
    def hidden(self) -> int:
        """How many are not."""
        return len(self.columns) - len(self.shown)


def list_tables(catalog: Catalog) -> tuple[TableLine, ...]:
    """All of them: tables about people, views, public tables."""
    private = [_describe(table, catalog) for table in catalog.tables if not table.public]
    public = [_describe(table, catalog) for table in catalog.tables if table.public]
    return (*private, *_describe_views(catalog), *public)


def find_tables(lines: tuple[TableLine, ...], text: str) -> tuple[TableLine, ...]:
    """Those whose name has a text in it, or that have such columns; capitals or not."""
    wanted = text.strip().lower()
    found = ((line, tuple(name for name in line.columns if wanted in name.lower())) for line in lines)
    return tuple(
        TableLine(line.name, line.kind, line.row, line.cap, line.columns, columns)
        for line, columns in found
        if columns or wanted in line.name.lower()
    )


def _describe(table: Table, catalog: Catalog) -> TableLine:
    cap = "" if table.public else count_rows(table.rows_per_person)
    columns = tuple(column.name for column in table.columns)
    return TableLine(table.name, "public" if table.public else "private", describe_row(table, catalog), cap, columns)


def _describe_views(catalog: Catalog) -> Iterator[TableLine]:
    for view in catalog.views:
        table = open_view(view, catalog)
        cap = "" if table.public else count_rows(table.rows_per_person)
        row = f"made of {', '.join(list_sources(view, catalog))}"
        yield TableLine(view.name, "view", row, cap, tuple(column.name for column in table.columns))
