"""`SHOW TABLES`, `SHOW METHODS` and `DESCRIBE name`: what is public, as an answer that costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.methods.registry import METHODS, find_method
from adomnia.methods.signatures import describe_kind
from adomnia.plans.columns import KeyColumn
from adomnia.privacy.amounts import show_down
from adomnia.privacy.kinds import Day, Identity, Moment, Quantity, Text
from adomnia.releases.model import describe_levels
from adomnia.releases.tables import AttributeTable
from adomnia.sql.reading.statements import SCHEMA, match_listing
from adomnia.sql.rows.blocks import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.methods.contract import Method
    from adomnia.plans.columns import Cell
    from adomnia.privacy.expressions import Expression
    from adomnia.privacy.kinds import Kind
    from adomnia.releases.store import ReleaseEntry
    from adomnia.sql.rows.derived import Derived

_SHOWN_VALUES = 20  # of a category


def list_catalog(text: str, catalog: Catalog, releases: Sequence[ReleaseEntry] = ()) -> tuple[KeyColumn, ...]:
    """The columns of what a text that is a listing asks for, of a catalog and of the releases that may be asked."""
    found = match_listing(text)
    if found is None:
        raise ValueError("Listing must be SHOW TABLES, SHOW METHODS, or DESCRIBE and a name.")
    if found["name"] is None:
        return _list_tables(catalog, releases) if found["shown"].upper() == "TABLES" else _list_methods()
    line = text.count("\n", 0, found.start("name")) + 1
    column = found.start("name") - text.rfind("\n", 0, found.start("name"))
    if found["schema"] is not None:
        return _describe_release(found["name"].strip('"'), releases, (line, column))
    return _describe(found["name"].strip('"'), catalog, (line, column))


def _list_tables(catalog: Catalog, releases: Sequence[ReleaseEntry]) -> tuple[KeyColumn, ...]:
    lines: list[Sequence[Cell | None]] = []
    for table in catalog.tables:
        kind, rows = ("public", None) if table.public else ("private", table.rows_per_person)
        lines.append((table.name, kind, rows, len(table.columns)))
    for view in catalog.views:
        derived = rows_of(view.sql, catalog)
        rows = None if derived.relation.is_public else derived.relation.rows_per_person
        lines.append((view.name, "view", rows, len(derived.columns)))
    lines += [(f"{SCHEMA}.{each.name}", "release", None, len(each.attributes)) for each in releases]
    return _columns(("table", "kind", "rows_per_person", "columns"), lines)


def _describe(name: str, catalog: Catalog, position: tuple[int, int]) -> tuple[KeyColumn, ...]:
    columns, method = _columns_of(name, catalog), find_method(name)
    if columns is None and method is not None:
        return _describe_method(method)
    if columns is None:
        known = [table.name for table in catalog.tables] + [view.name for view in catalog.views]
        fix = f"name one of them: {', '.join(known)}"
        raise Refusal(f"Table {name[:100]}", "is not in the catalog", fix, position, code="unknown_table")
    lines = [(column, str(value.kind), _declare(value)) for column, value in columns.items()]
    return _columns(("column", "type", "declared"), lines)


def _describe_release(name: str, releases: Sequence[ReleaseEntry], position: tuple[int, int]) -> tuple[KeyColumn, ...]:
    found = next((each for each in releases if each.name.lower() == name.lower()), None)
    if found is None:
        known = ", ".join(f"{SCHEMA}.{each.name}" for each in releases)
        fix = f"name one of them: {known}" if known else "make one first"
        what = f"Release {name[:100]}"
        raise Refusal(what, "is not among the releases", fix, position, code="unknown_release")
    lines = [(each.name, each.sort, describe_levels(each)) for each in found.attributes]
    table = AttributeTable(found.name, tuple(found.attributes))
    for column, place in list(table.columns.items())[len(lines) :]:  # those that name bins come last
        lines.append((column.name, "text", f"the bins of {found.attributes[place].name}"))
    return _columns(("column", "type", "declared"), lines)


def _list_methods() -> tuple[KeyColumn, ...]:
    lines = [(method.name, method.chapter, method.summary) for method in METHODS.values()]
    return _columns(("method", "chapter", "summary"), lines)


def _describe_method(method: Method) -> tuple[KeyColumn, ...]:
    lines = [(each.name, describe_kind(each), each.required, each.meaning) for each in method.parameters]
    return _columns(("argument", "takes", "required", "meaning"), lines)


def _columns_of(name: str, catalog: Catalog) -> Mapping[str, Expression] | None:
    """The columns of a table or view, in their order."""
    for table in catalog.tables:
        if table.name.lower() == name.lower():
            return {column.name: column for column in table.columns}
    for view in catalog.views:
        if view.name.lower() == name.lower():
            derived: Derived = rows_of(view.sql, catalog)
            return derived.columns
    return None


def _declare(value: Expression) -> str | None:  # noqa: PLR0911 - one for each kind
    """What is known of the values of a column; None if nothing is."""
    kind: Kind = value.kind
    match kind:
        case Quantity(lower=lower, upper=upper) if lower is not None and upper is not None:
            step = None if kind.whole else getattr(getattr(value, "domain", None), "step", None)
            return f"{show_down(lower)} to {show_down(upper)}" + (f" by {show_down(step)}" if step else "")
        case Day(lower=first, upper=last) if first is not None and last is not None:
            return f"{first} to {last}"
        case Moment(lower=first, upper=last, zone=zone):
            return f"{first} to {last}, {zone}" if first is not None and last is not None else zone or None
        case Text(values=values) if values is not None:
            rest = len(values) - _SHOWN_VALUES
            return ", ".join(values[:_SHOWN_VALUES]) + (f" and {rest:,} more" if rest > 0 else "")
        case Identity(person=True):
            return "the person"
        case Identity(linked=linked) if linked:
            return f"leads to {linked}"
    return None


def _columns(names: Sequence[str], lines: Iterable[Sequence[Cell | None]]) -> tuple[KeyColumn, ...]:
    values = zip(*lines, strict=True) if lines else ((),) * len(names)
    return tuple(KeyColumn(name, tuple(each)) for name, each in zip(names, values, strict=True))
