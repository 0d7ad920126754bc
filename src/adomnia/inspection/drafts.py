"""Drafts a catalog.toml from what files show. No bound, value of a category or budget is ever taken from data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.catalog.write import Draft, as_name, compose, toml_string
from adomnia.inspection.found_tables import numbers_rows
from adomnia.inspection.proposed_people import find_shared_key, propose_people

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.inspection.found_tables import FoundColumn, FoundTable
    from adomnia.inspection.proposed_people import ProposedPeople

_MOST_DOUBTS = 6  # that are named
_UNIT = '# unit = "{unit}"  # whose presence is hidden: one value of this column, with all rows that belong to it'
_OTHERS = "# Other columns may name people too: {columns}. Take the one whose presence is to be hidden."
_ASKED_UNIT = """\
# Is {unit} the same in all rows of one person, and different for each person? Only then a person is hidden. If not,
# name the column that is.{others}
# unit = "{unit}"  # whose presence is hidden"""
_ASKED = """\
# Whose presence is hidden? Name the column that is the same in all rows of one person. These look like keys, or repeat:
# {columns}. If nobody has two rows, write "row": it hides one row, not one person.
# unit = "?"  # whose presence is hidden: "table.column" of that column, or "row\""""
_ROW = """\
# No column looks like a key of people. "row" hides one row, not one person: it is right only if nobody has two rows.
# If somebody may, name the column that is the same in all their rows.
# unit = "row"  # whose presence is hidden: one row, or "table.column" of the column that names people"""
_DETOUR = """\
# {key} leads to rows of {own}, and from there to {unit}. Declare the file of {own} once more, as a
# table of people, and link both to it: docs/catalog.md, "A key of the unit's own table", has an example."""
_PERSON = '# person = "{link}"  # how a row finds its person; the people\'s own table needs no such line'
_LOOKED = """\
# Types and formats are those of the first rows, and columns that repeat were looked for, as you asked. Bounds and
# values are not looked up: the catalog is public, and what is taken from the data would be published with it."""
_CAP = "# rows_per_person = ?  # how many rows of one person count: what is beyond is left out, and noise grows with it"
_INSTEAD = "# public = true        # instead, if the table is about nobody"
_PUBLIC = "# public = true  # if the table is about nobody"
_BOUNDS = """\
# Bounds: values are moved into them, and the noise of SUM and AVG grows with the wider of |lower| and |upper|. A bound
# that is taken from the data would publish it: take a law, a form, a price list, or what everybody knows.
# Categories: list the values that a form or a code book has. Others count as missing, or as what `others` says."""
_HINTS = {
    "id": 'if it names no people: "text", or "category" with values = [?]',
    "integer": "to add it up or group by it: lower = ?, upper = ?",
    "number": "to add it up: lower = ?, upper = ?",
    "date": "to group by it: lower = ?, upper = ?",
    "timestamp": 'times of that zone; or "date"; to group by it: lower = ?, upper = ?',
    "text": 'to group by it: "category" with values = [?], others = "Other"',
    "category": 'values = [?], others = "Other"',
}


def draft(name: str, tables: Sequence[FoundTable]) -> str:
    """Draft a catalog.toml, with the key of people that most tables have as the unit, or a question about it.

    >>> from adomnia.inspection.found_tables import FoundTable
    >>> print(draft("hospital", [FoundTable("people", "people.parquet", [("Salary", "DOUBLE")])]).splitlines()[-1])
    salary = { column = "Salary", type = "number" }  # to add it up: lower = ?, upper = ?
    """
    people = propose_people(tables)
    drafts = [
        Draft(as_name(table.name), table.source, _keys(table, people), _column_lines(table, table is tables[0], people))
        for table in tables
    ]
    return compose(name, _say_unit(people), drafts)


def _say_unit(people: ProposedPeople) -> str:
    """The line of the unit, and above it what is in doubt."""
    listed = ", ".join([*map(_place, people.doubts[:_MOST_DOUBTS]), *["..."] * (len(people.doubts) > _MOST_DOUBTS)])
    if people.unit is None:
        return _ASKED.format(columns=listed) if people.doubts else _ROW
    unit = _place(people.unit)
    if not people.certain:
        return _ASKED_UNIT.format(unit=unit, others=f" These look like keys too: {listed}." if listed else "")
    return "\n".join([*([_OTHERS.format(columns=listed)] if listed else []), _UNIT.format(unit=unit)])


def _place(column: FoundColumn) -> str:
    return f"{as_name(column.table.name)}.{column.name}"


def _keys(table: FoundTable, people: ProposedPeople) -> list[str]:
    lines = []
    if table.source_table is not None:
        lines.append(f"table = {toml_string(table.source_table)}")
    if table.spelling:
        spelled = ", ".join(f"{key} = {_toml(value)}" for key, value in table.spelling.items())
        meant = f": 1{mark}234 is read as 1234" if (mark := table.spelling.get("thousands")) else ""
        lines.append(f"csv = {{ {spelled} }}  # as the file is written{meant}")
    if people.is_row:
        return [*lines, _PUBLIC]
    if people.unit is None or table is not people.unit.table:
        lines += [*_say_detour(table, people), _PERSON.format(link=_say_link(table, people))]
    return [*lines, _CAP, _INSTEAD]


def _say_link(table: FoundTable, people: ProposedPeople) -> str:
    link = people.links.get(table.name)
    if link is not None:
        return f"{link.column.name} -> {_place(link.parent)}"
    return "? -> ?" if people.unit is None else f"? -> {_place(people.unit)}"


def _say_detour(table: FoundTable, people: ProposedPeople) -> list[str]:
    """That a table is linked with the people's own one by a key which is not the unit, if it is so."""
    if people.unit is None or table.name in people.links:
        return []
    key = find_shared_key(table, people.unit)
    own = as_name(people.unit.table.name)
    return [] if key is None else [_DETOUR.format(key=key.name, own=own, unit=_place(people.unit))]


def _column_lines(table: FoundTable, first: bool, people: ProposedPeople) -> list[str]:
    lines = [*([_BOUNDS] if first else []), *([_LOOKED] if table.looked_at else [])]
    for place, (written, _) in enumerate(table.header):
        if numbers_rows(place, written):
            called = f"The first column, {toml_string(written)}," if written else "The first column, which has no name,"
            count = table.keys.get(written)
            if count is not None and count.repeats:
                lines.append(f"# {called} is left out, but its values repeat. If it names people, name it in the file.")
            else:
                lines.append(f"# {called} is left out: it numbers the rows, as pandas and R write them.")
        elif not written:
            lines.append(f"# Column {place + 1} of the file has no name, and is left out.")
    lines += [
        f"# {toml_string(name)} is left out: the file has several columns of that name." for name in table.doubled
    ]
    return [*lines, *(_column_line(column, people.uses(column)) for column in table.columns())]


def _column_line(column: FoundColumn, is_key: bool) -> str:
    kind = "id" if is_key else column.type
    if kind is None:
        return f"# {column.name} is left out: no type of column holds {toml_string(column.held)}"
    first, *others = (column.look.formats if column.look is not None and kind == column.look.type else ()) or (None,)
    keys = {"column": column.written if column.written != column.name else None, "type": kind, "format": first}
    keys["timezone"] = "UTC" if kind == "timestamp" else None
    inside = ", ".join(f"{key} = {toml_string(value)}" for key, value in keys.items() if value is not None)
    hint = f"  # {_HINTS[kind]}" if kind in _HINTS else ""
    if others:
        hint += f"; {' and '.join(map(toml_string, others))} would read as many of these days: say which is meant"
    return f"{column.name} = {{ {inside} }}{hint}"


def _toml(value: str | Sequence[str]) -> str:
    return toml_string(value) if isinstance(value, str) else f"[{', '.join(map(toml_string, value))}]"
