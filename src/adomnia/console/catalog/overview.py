"""The page of the catalog: what is served, what the file on disk says, and whether the two are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.api.access import Role
from adomnia.console.catalog.catalog_file import CatalogFile
from adomnia.console.catalog.consequences import describe_policy
from adomnia.console.catalog.effects import show_number
from adomnia.console.catalog.examining import examine_text
from adomnia.console.rendering import Page
from adomnia.errors import Refusal, Unavailable
from adomnia.explaining.promises import promises
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adomnia.catalog.model import Catalog, Table
    from adomnia.console.visits import Visit
    from adomnia.explaining.promises import Promise
    from adomnia.privacy.kinds import Kind

__all__ = ["ServedState", "TextLine", "build_overview", "find_state", "mark_lines"]

_LISTED = 8  # values of a category
_LINK = "{} -> {}.{}"


@dataclass(frozen=True)
class ServedState:
    """Whether the text on disk is the one that is served: "served", "opening", or "kept" where it cannot be opened.

    It is the state of one worker; each of all `workers` opens the text by itself.
    """

    state: str
    version: int
    workers: int
    problem: str = ""


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
    catalog, file = visit.curator.catalog, CatalogFile(visit.curator.catalog.folder)
    text, identity = "", file.identify()
    try:
        disk = file.read()
        text, identity = disk.text, disk.identity
        problems = examine_text(text, catalog.folder).problems
    except (Refusal, Unavailable) as fault:
        problems = (Refusal(fault.what, fault.why, fault.fix),)
    promised = promises(catalog)
    filling = {
        "catalog": catalog,
        "status": find_state(visit, identity),
        "problems": problems,
        "lines": mark_lines(text, problems),
        "tables": [_read_table(table, promised) for table in catalog.tables],
        "promised": _list_general(catalog, promised),
        "policies": {analyst.name: describe_policy(analyst.name, analyst.policy) for analyst in catalog.analysts},
        "kept": file.list_kept(),
        "may_edit": visit.visitor.role is Role.OWNER,
    }
    return Page("catalog_overview.html", filling)


def find_state(visit: Visit, identity: str) -> ServedState:
    """Whether this worker serves the text with that hash. Why it does not is for the owner: it may be about rows."""
    dataset, workers = visit.services.dataset, visit.services.settings.workers
    with dataset.lease() as edition:
        version = edition.curator.catalog.version
        if edition.identity == identity:
            return ServedState("served", version, workers)
    problem = dataset.find_problem(identity)
    if problem is None:
        return ServedState("opening", version, workers)
    why = problem if visit.visitor.role is Role.OWNER else "Its owner can see why."
    return ServedState("kept", version, workers, why)


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
