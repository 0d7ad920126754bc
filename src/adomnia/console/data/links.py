"""How tables meet: rows that belong to rows of another table, and values that a public table explains."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from adomnia.privacy.kinds import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog, Table
    from adomnia.privacy.expressions import Column


@dataclass(frozen=True)
class TableLink:
    """A column of one table that leads to a column of another.

    Along a link of the catalog, rows belong to one person. A `lookup` leads to a public table that has a row for each
    value of a category.
    """

    table: str
    column: str
    target: str
    target_column: str
    lookup: bool = False


def list_links(catalog: Catalog) -> tuple[TableLink, ...]:
    """All links of the catalog, and all lookups that its categories allow, in the order of its tables."""
    explained = _list_explained(catalog)
    return tuple(
        link
        for table in catalog.tables
        if not table.public
        for link in (*_own(table), *_find_lookups(table, explained))
    )


def _own(table: Table) -> Iterator[TableLink]:
    if table.link is not None:
        yield TableLink(table.name, table.link.column, table.link.parent, table.link.parent_column)


@dataclass(frozen=True)
class _Explained:
    """A category of a public table; at most `repeats` of its rows share a value."""

    table: str
    column: str
    values: tuple[str, ...]
    repeats: int


# Number, first and last value: only where these agree are categories compared, because some have very many values.
_Outline: TypeAlias = tuple[int, str, str]


def _list_explained(catalog: Catalog) -> dict[_Outline, list[_Explained]]:
    """The categories of public tables, by their outline."""
    found = defaultdict(list)
    for table in catalog.tables:
        for column, repeats in zip(table.columns, table.repeats, strict=False) if table.public else ():
            if values := _list_values(column):
                found[_outline(values)].append(_Explained(table.name, column.name, values, repeats))
    return found


def _find_lookups(table: Table, explained: dict[_Outline, list[_Explained]]) -> Iterator[TableLink]:
    for column in table.columns:
        if values := _list_values(column):
            for each in explained.get(_outline(values), ()):
                # Two short lists may be equal by chance: a lookup has one row a value, or says so by its name.
                if (each.repeats == 1 or each.column.lower() == column.name.lower()) and each.values == values:
                    yield TableLink(table.name, column.name, each.table, each.column, lookup=True)


def _list_values(column: Column) -> tuple[str, ...]:
    """The values that are declared; that which stands for all others is none of them."""
    match column.kind:
        case Text(values=tuple(values), others=others):
            return values[:-1] if others else values
    return ()


def _outline(values: tuple[str, ...]) -> _Outline:
    return len(values), values[0], values[-1]
