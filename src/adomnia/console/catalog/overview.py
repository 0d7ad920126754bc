"""The page of the catalog: what is served, what the file on disk says, and whether the two are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.api.access import Role
from adomnia.api.catalog_edits.consequences import describe_policy
from adomnia.api.catalog_edits.effects import show_number
from adomnia.api.catalog_edits.previews import read_served_text
from adomnia.console.rendering import Page
from adomnia.explaining.promises import promises
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Catalog, Table
    from adomnia.errors import Refusal
    from adomnia.explaining.promises import Promise
    from adomnia.privacy.kinds import Kind

_LISTED = 8  # values of a category
_LINK = "{} -> {}.{}"


@dataclass(frozen=True)
class TextLine:
    """A line of the text, and what is wrong with it."""

    number: int
    text: str
    problems: tuple[Refusal, ...] = ()


@dataclass(frozen=True)
class DeclaredFacts:
    """A column as people read it."""

    name: str
    type: str
    values: str
    says: str


@dataclass(frozen=True)
class TableFacts:
    """A table as people read it."""

    name: str
    public: bool
    source: str
    link: str
    says: tuple[str, ...]
    columns: tuple[DeclaredFacts, ...]


def build_overview(visit: Visit) -> Page:
    """The page for owners and auditors."""
    catalog, served = visit.catalog, read_served_text(visit)
    promised = promises(catalog)
    filling = {
        "catalog": catalog,
        "status": served,
        "problems": served.problems,
        "lines": mark_lines(served.text, served.problems),
        "tables": [_read_table(table, promised) for table in catalog.tables],
        "promised": _list_general(catalog, promised),
        "policies": {analyst.name: describe_policy(analyst.name, analyst.policy) for analyst in catalog.analysts},
        "kept": served.kept,
        "may_edit": visit.visitor.role is Role.OWNER,
    }
    return Page("catalog_overview.html", filling)


def mark_lines(text: str, problems: Iterable[Refusal]) -> list[TextLine]:
    """The lines of a text with their problems."""
    found: dict[int, list[Refusal]] = {}
    for problem in problems:
        found.setdefault((problem.position or (1, 1))[0], []).append(problem)
    lines = text.split("\n")
    return [TextLine(number, line, tuple(found.get(number, ()))) for number, line in enumerate(lines, 1)]


def _list_general(catalog: Catalog, promised: list[Promise]) -> list[Promise]:
    """What is promised of the dataset as a whole, and of analysts; tables have a place of their own."""
    names = {table.name for table in catalog.tables}
    return [each for each in promised if each.about.partition(".")[0] not in names]


def _read_table(table: Table, promised: list[Promise]) -> TableFacts:
    says = {each.about: each.says for each in promised}
    columns = tuple(
        DeclaredFacts(each.name, str(each.kind), _describe_values(each.kind), says.get(f"{table.name}.{each.name}", ""))
        for each in table.columns
    )
    link = table.link
    leads = "" if link is None else _LINK.format(link.column, link.parent, link.parent_column)
    own = tuple(each.says for each in promised if each.about == table.name)
    source = table.source if table.source_table is None else f"{table.source}, table {table.source_table}"
    return TableFacts(table.name, table.public, source, leads, own, columns)


def _describe_values(kind: Kind) -> str:
    match kind:
        case Identity(person=True):
            return "the person"
        case Boolean():
            return "true, false"
        case Quantity(lower=lower, upper=upper) if lower is not None and upper is not None:
            return f"{show_number(float(lower))} to {show_number(float(upper))}"
        case Day(lower=lower, upper=upper) | Moment(lower=lower, upper=upper) if lower is not None:
            return f"{lower} to {upper}"
        case Text(values=tuple(values)):
            more = f" and {len(values) - _LISTED:,} more" if len(values) > _LISTED else ""
            return ", ".join(values[:_LISTED]) + more
    return ""
