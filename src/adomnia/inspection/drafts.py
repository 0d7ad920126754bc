"""Drafts a catalog.toml from what files show. No bound, value of a category, unit or budget is ever taken from data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from adomnia.catalog.write import Draft, as_name, compose, toml_string, type_of
from adomnia.inspection.names import guess_type, numbers_rows, propose_names

Spelling: TypeAlias = Mapping[str, str | Sequence[str]]

_UNIT = '# unit = {unit}  # whose presence is hidden: the column that names a person, or "row" if each row is one'
_PERSON = '# person = "{link}"  # how a row finds its person; the people\'s own table needs no such line'
_LOOKED = """\
# Types and formats are those of the first rows, as you asked. Bounds and values are not looked up: the catalog is
# public, and what is taken from the data would be published with it."""
_KEYS = """\
# rows_per_person = ?  # how many rows of one person count: what is beyond is left out, and noise grows with it
# public = true        # instead, if the table is about nobody"""
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


@dataclass(frozen=True)
class ColumnLook:
    """The type that the values of a column have, and the formats that read its days, where they are not the usual."""

    type: str
    formats: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundTable:
    """What a file shows of one table: its columns with the engine's types ("" in a text file), and how it spells.

    `looks` are there, by the names that the file has, only if the owner let us look at the data.
    """

    name: str
    source: str
    header: Sequence[tuple[str, str]]
    source_table: str | None = None
    spelling: Spelling = field(default_factory=dict)
    looks: Mapping[str, ColumnLook] = field(default_factory=dict)

    @property
    def doubled(self) -> list[str]:
        """The names that several columns have: nobody can tell which of them is meant."""
        return [name for name, columns in Counter(name for name, _ in self.header).items() if columns > 1 and name]


@dataclass(frozen=True)
class _Column:
    """A column that is proposed: its name here and in the file, what the file holds, its type if any, and formats."""

    name: str
    written: str
    held: str
    type: str | None
    formats: tuple[str, ...] = ()

    def line(self) -> str:
        if self.type is None:
            return f"# {self.name} is left out: no type of column holds {toml_string(self.held)}"
        first, *others = self.formats or (None,)
        keys = {"column": self.written if self.written != self.name else None, "type": self.type, "format": first}
        keys["timezone"] = "UTC" if self.type == "timestamp" else None
        inside = ", ".join(f"{key} = {toml_string(value)}" for key, value in keys.items() if value is not None)
        hint = f"  # {_HINTS[self.type]}" if self.type in _HINTS else ""
        if others:
            hint += f"; {' and '.join(map(toml_string, others))} would read as many of these days: say which is meant"
        return f"{self.name} = {{ {inside} }}{hint}"


def draft(name: str, tables: Sequence[FoundTable]) -> str:
    """Draft a catalog.toml; the first table is taken for the one of the people.

    >>> print(draft("hospital", [FoundTable("people", "people.parquet", [("Salary", "DOUBLE")])]).splitlines()[-1])
    salary = { column = "Salary", type = "number" }  # to add it up: lower = ?, upper = ?
    """
    columns = {table.name: _propose_columns(table) for table in tables}
    unit = _find_unit(tables, columns)
    drafts = [
        Draft(
            as_name(table.name), table.source, _keys(table, tables[0], columns), _column_lines(table, tables, columns)
        )
        for table in tables
    ]
    return compose(name, _UNIT.format(unit=toml_string(unit)), drafts)


def _find_unit(tables: Sequence[FoundTable], columns: Mapping[str, Sequence[_Column]]) -> str:
    """The first id of the first table, rather one that other tables have too; or every row."""
    first, *others = (_ids(columns[table.name]) for table in tables)
    shared = [name for name in first if any(name in other for other in others)]
    return next((f"{as_name(tables[0].name)}.{name}" for name in (*shared, *first)), "row")


def _ids(columns: Sequence[_Column]) -> list[str]:
    return [column.name for column in columns if column.type == "id"]


def _keys(table: FoundTable, first: FoundTable, columns: Mapping[str, Sequence[_Column]]) -> list[str]:
    lines = []
    if table.source_table is not None:
        lines.append(f"table = {toml_string(table.source_table)}")
    if table.spelling:
        spelled = ", ".join(f"{key} = {_toml(value)}" for key, value in table.spelling.items())
        meant = f": 1{mark}234 is read as 1234" if (mark := table.spelling.get("thousands")) else ""
        lines.append(f"csv = {{ {spelled} }}  # as the file is written{meant}")
    if table is not first:
        lines.append(_PERSON.format(link=_propose_link(table, first, columns)))
    return [*lines, _KEYS]


def _propose_link(table: FoundTable, first: FoundTable, columns: Mapping[str, Sequence[_Column]]) -> str:
    known = _ids(columns[first.name])
    shared = next((name for name in _ids(columns[table.name]) if name in known), "?")
    return f"{shared} -> {as_name(first.name)}.{shared}"


def _propose_columns(table: FoundTable) -> list[_Column]:
    names = propose_names(name for name, _ in table.header)
    return [
        _propose_column(name, written, held, table.looks.get(written))
        for place, (name, (written, held)) in enumerate(zip(names, table.header, strict=True))
        if not numbers_rows(place, written) and written and written not in table.doubled
    ]


def _propose_column(name: str, written: str, held: str, look: ColumnLook | None) -> _Column:
    by_name = guess_type(name)
    if look is not None and by_name != "id":
        return _Column(name, written, held, look.type, look.formats)
    return _Column(name, written, held, by_name if by_name == "id" or not held else type_of(held))


def _column_lines(
    table: FoundTable, tables: Sequence[FoundTable], columns: Mapping[str, Sequence[_Column]]
) -> list[str]:
    lines = [*([_BOUNDS] if table is tables[0] else []), *([_LOOKED] if table.looks else [])]
    for place, (written, _) in enumerate(table.header):
        if numbers_rows(place, written):
            called = f"The first column, {toml_string(written)}," if written else "The first column, which has no name,"
            lines.append(f"# {called} is left out: it numbers the rows, as pandas and R write them.")
        elif not written:
            lines.append(f"# Column {place + 1} of the file has no name, and is left out.")
    lines += [
        f"# {toml_string(name)} is left out: the file has several columns of that name." for name in table.doubled
    ]
    return [*lines, *(column.line() for column in columns[table.name])]


def _toml(value: str | Sequence[str]) -> str:
    return toml_string(value) if isinstance(value, str) else f"[{', '.join(map(toml_string, value))}]"
