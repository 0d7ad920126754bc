"""The catalog as a session shows it: every column that can be asked about, and what values it can have."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from adomnia.catalog.model import Catalog
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.privacy.units import ROW
from adomnia.releases.model import describe_levels
from adomnia.tables import TextTable, html_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.catalog.model import Table
    from adomnia.privacy.kinds import Kind
    from adomnia.privacy.units import Unit
    from adomnia.releases.store import ReleaseEntry

_HEADINGS = ("Table", "Rows of a person", "Column", "Type", "Values")
_HEADINGS_BY_ROW = ("Table", "Hidden", *_HEADINGS[2:])
_LISTED = 6  # values of a category


@dataclass(frozen=True, repr=False)
class CatalogPage(Catalog):
    """A catalog that prints as a page about its tables, and the releases that may be asked beside them."""

    releases: tuple[ReleaseEntry, ...] = field(default=(), hash=False)  # what is told of them is plain data

    def __repr__(self) -> str:
        tables = [_list_columns(self), *([_list_releases(self.releases)] if self.releases else [])]
        return "\n".join([*(f"{table}\n" for table in tables), *_list_notes(self)])

    def _repr_html_(self) -> str:
        releases = _list_releases(self.releases).html() if self.releases else ""
        return _list_columns(self).html() + releases + html_lines(_list_notes(self))


def show_catalog(catalog: Catalog, releases: Sequence[ReleaseEntry] = ()) -> CatalogPage:
    """The same catalog, which prints as a page."""
    declared = {each.name: getattr(catalog, each.name) for each in fields(Catalog)}
    return CatalogPage(**declared, releases=tuple(releases))


def _list_columns(catalog: Catalog) -> TextTable:
    headings = _HEADINGS_BY_ROW if catalog.unit == ROW else _HEADINGS
    return TextTable(headings, tuple(row for table in catalog.tables for row in _list_rows(table, catalog.unit)))


def _list_releases(releases: Sequence[ReleaseEntry]) -> TextTable:
    rows = [
        (f"releases.{each.name}" if not place else "", column.name, column.sort, describe_levels(column))
        for each in releases
        for place, column in enumerate(each.attributes)
    ]
    return TextTable(("Release", "Column", "Type", "Values"), tuple(rows))


def _list_rows(table: Table, unit: Unit) -> list[tuple[str, ...]]:
    kept = "each row by itself" if unit == ROW else f"at most {table.rows_per_person:,}"
    rows = "public" if table.public else kept
    first = [(table.name, rows), *[("", "")] * (len(table.columns) - 1)]
    return [
        (*told, column.name, str(column.kind), describe_values(column.kind))
        for told, column in zip(first, table.columns, strict=False)
    ]


def describe_values(kind: Kind) -> str:  # noqa: PLR0911 - one for each kind
    """What values a column can have, in a few words."""
    match kind:
        case Identity(person=True):
            return "the person"
        case Boolean():
            return "true, false"
        case Quantity(lower=lower, upper=upper) if lower is not None and upper is not None:
            return f"{float(lower):,.12g} to {float(upper):,.12g}"
        case Day(lower=lower, upper=upper) if lower is not None:
            return f"{lower} to {upper}"
        case Moment(lower=lower, upper=upper, zone=zone):
            return zone if lower is None else f"{lower} to {upper}, {zone}"
        case Text(values=tuple(values)):
            more = f", ... ({len(values):,} in all)" if len(values) > _LISTED else ""
            return ", ".join(values[:_LISTED]) + more
    return ""


def _list_notes(catalog: CatalogPage) -> list[str]:
    views = [f"View {view.name}: {' '.join(view.sql.split())}" for view in catalog.views]
    made = [f"Release {each.name}: made with {each.facts.price}, which hides the same." for each in catalog.releases]
    return [catalog.unit.promise(), *views, *made]
