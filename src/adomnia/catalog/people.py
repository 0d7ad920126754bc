"""The privacy unit, and the links by which the rows of every private table find their person."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from adomnia.catalog.document_keys import ANY_TABLE, LINKED_TABLE, OWN_TABLE, PUBLIC_TABLE, ROW_TABLE, did_you_mean
from adomnia.catalog.model import Link
from adomnia.privacy.kinds import Identity
from adomnia.privacy.units import ROW, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.catalog.document import Document
    from adomnia.catalog.document_keys import Section
    from adomnia.catalog.model import Table

_UNIT_PATH = ("dataset", "unit")


def read_unit(document: Document, written: str) -> Unit:
    """Read the unit, and check that its table is declared and private."""
    found = Unit.parse(written)
    if found != ROW:
        _check_private(document, _UNIT_PATH, found.table)
    return found


def public_tables(document: Document) -> list[str]:
    """The names of the tables that are declared public."""
    return [name for name, table in document.at("tables").items() if is_public(table)]


def is_public(table: Mapping[str, Any]) -> bool:
    """Whether a table is declared public. What is neither true nor false is refused, and meant as true until then."""
    return table.get("public", False) is not False


def section_of(table: Mapping[str, Any], name: str, unit: Unit | None) -> Section:
    """The keys that a table may have: as a public table, one whose unit is a row, the unit's own, or a linked one."""
    if is_public(table):
        return PUBLIC_TABLE
    if unit is None:
        return ANY_TABLE
    if unit == ROW:
        return ROW_TABLE
    return OWN_TABLE if name == unit.table else LINKED_TABLE


def read_link(written: str | None) -> Link | None:
    """Read a link as the catalog writes it.

    >>> read_link("person_id -> people.person_id")
    Link(column='person_id', parent='people', parent_column='person_id')
    """
    if written is None:
        return None
    column, _, target = written.partition("->")
    parent, _, parent_column = target.strip().partition(".")
    return Link(column.strip(), parent, parent_column)


def mark_links(document: Document, tables: tuple[Table, ...], unit: Unit) -> tuple[Table, ...]:
    """Check that every private table is linked to the unit, and mark the columns of persons and links."""
    by_name = {table.name: table for table in tables}
    links = [(table, table.link) for table in tables if table.link is not None]
    ends = [partial(_check_private, document, _person_path(table), link.parent) for table, link in links]
    if unit != ROW:
        ends.append(partial(_check_identifier, document, _UNIT_PATH, by_name[unit.table], unit.column))
    document.check_all(ends)
    document.check_all(partial(_check_chain, document, table, by_name, unit) for table, _ in links)
    document.check_all(partial(_check_columns, document, table, link, by_name, unit) for table, link in links)
    keys = {place: _end_of(link, by_name) for table, link in links for place in _places(table, link)}
    return tuple(_mark_columns(table, by_name, unit, keys) for table in tables)


def _check_private(document: Document, path: tuple[str, ...], name: str) -> None:
    public = public_tables(document)
    private = [table for table in document.at("tables") if table not in public]
    if name in private:
        return
    if name in public:
        raise document.refusal(path, f"leads to {name}, which is public and so has no people", "name a private table")
    fix = f"{did_you_mean(name, private) or f'declare [tables.{name}]'} (declared are {', '.join(private)})"
    raise document.refusal(path, f"names the table {name}, which is not declared", fix)


def _check_identifier(document: Document, path: tuple[str, ...], table: Table, name: str) -> None:
    column = table.column(name)
    if column is not None and isinstance(column.kind, Identity):
        return
    line = f'{name} = {{ type = "id" }}'
    if column is None:
        hint = did_you_mean(name, [column.name for column in table.columns])
        why = f"names the column {name}, which {table.name} does not declare"
        raise document.refusal(path, why, f"{hint} Or add {line} to its columns".removeprefix(" Or "))
    why = f"names {table.name}.{name}, which is of type {column.kind}"
    raise document.refusal(path, why, f"name a column of type id, or write {line}")


def _check_chain(document: Document, table: Table, by_name: Mapping[str, Table], unit: Unit) -> None:
    seen = [table.name]
    while (link := by_name[seen[-1]].link) is not None:
        circular = link.parent in seen
        seen.append(link.parent)
        if circular:
            why = f"goes round in a circle: {' -> '.join(seen)}"
            raise document.refusal(_person_path(table), why, f"let one of them lead to {unit}")


def _check_columns(document: Document, table: Table, link: Link, by_name: Mapping[str, Table], unit: Unit) -> None:
    path, parent = _person_path(table), by_name[link.parent]
    _check_identifier(document, path, table, link.column)
    _check_identifier(document, path, parent, link.parent_column)
    if parent.name == unit.table and link.parent_column != unit.column:
        fix = f'write person = "{link.column} -> {unit}"'
        if link.column == link.parent_column:  # a key that both tables have, and whose values are no people
            again = f"declare the file of {parent.name} once more, as a table of people, and link both to it"
            fix = f"name the column that has the people of {unit}, or {again}"
        raise document.refusal(path, f"must end at the unit, {unit}", fix)
    if parent.link is not None and parent.link.column == link.parent_column and parent.rows_per_person > 1:
        why = f"leads to {parent.name}.{link.parent_column}, which several rows of one person share"
        raise document.refusal(path, why, f"link to a column that is different in every row, or to {unit}")


def _person_path(table: Table) -> tuple[str, ...]:
    return ("tables", table.name, "person")


def _mark_columns(table: Table, by_name: Mapping[str, Table], unit: Unit, ends: Mapping[tuple[str, str], str]) -> Table:
    columns = []
    for column in table.columns:
        person, end = _is_person(table, column.name, by_name, unit), ends.get((table.name, column.name), "")
        kind = Identity(person, "" if person else end) if person or end else column.kind
        columns.append(replace(column, kind=kind))
    return replace(table, columns=tuple(columns))


def _places(table: Table, link: Link) -> tuple[tuple[str, str], tuple[str, str]]:
    return (table.name, link.column), (link.parent, link.parent_column)


def _end_of(link: Link, by_name: Mapping[str, Table]) -> str:
    """The column where a chain of links ends: a parent that is itself linked by this column leads further."""
    further = by_name[link.parent].link
    if further is not None and further.column == link.parent_column:
        return _end_of(further, by_name)
    return f"{link.parent}.{link.parent_column}"


def _is_person(table: Table, column: str, by_name: Mapping[str, Table], unit: Unit) -> bool:
    if table.name == unit.table:
        return column == unit.column
    if table.link is None or column != table.link.column:
        return False
    return _is_person(by_name[table.link.parent], table.link.parent_column, by_name, unit)
