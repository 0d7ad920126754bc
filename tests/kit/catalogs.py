"""Catalogs of very different shapes: made in memory for drawings, or written down to be opened and asked."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from adomnia.catalog.model import Analyst, Catalog, Link, Table, View
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Identity, Kind, Quantity, Text
from adomnia.privacy.units import Unit
from adomnia.session.curator import read_catalog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PERSON = Column("person_id", Identity(person=True))

_HEAD = """
[dataset]
name = "shape"
version = 1
unit = "{unit}"

[budget]
epsilon = 10

[analysts.alice]
epsilon = 10
"""
_ROWS = """
[tables.{name}]
source = "{name}.csv"
{more}
[tables.{name}.columns]
{columns}
"""


def gather(
    tables: Sequence[Table],
    views: Sequence[View] = (),
    unit: str = "people.person_id",
    analysts: Sequence[Analyst] = (),
) -> Catalog:
    """A catalog of tables, which lies in no folder."""
    everybody = tuple(analysts) or (Analyst("alice", Budget(10)),)
    return Catalog("shape", 1, Unit.parse(unit), Budget(10), everybody, tuple(tables), Path(), tuple(views))


def people(*columns: Column, rows: int = 1) -> Table:
    return Table("people", "", (PERSON, *columns), rows_per_person=rows)


def belongings(name: str, parent: str = "people", *columns: Column, rows: int = 10) -> Table:
    """Rows that belong to those of another table: to people by the person, to others by a key of their own."""
    if parent == "people":
        link, kind = Link("person_id", "people", "person_id"), Identity(person=True)
    else:
        link, kind = Link(f"{parent}_id", parent, f"{parent}_id"), Identity(linked=f"{parent}.{parent}_id")
    key = Column(f"{name}_id", Identity(linked=f"{name}.{name}_id"))
    return Table(name, "", (key, Column(link.column, kind), *columns), link=link, rows_per_person=rows)


def public(name: str, *columns: Column, repeats: Sequence[int] = ()) -> Table:
    return Table(name, "", columns, public=True, repeats=tuple(repeats) or (1,) * len(columns))


def category(name: str, *values: str, others: bool = False) -> Column:
    return Column(name, Text(values, others=others))


def plain(name: str, kind: Kind | None = None) -> Column:
    return Column(name, kind or Text())


def whole(name: str, lower: int, upper: int) -> Column:
    return Column(name, Quantity(Fraction(lower), Fraction(upper), whole=True))


def declare(folder: Path, unit: str, *tables: str, files: Mapping[str, str] | None = None, views: str = "") -> Catalog:
    """Write a catalog and the files of its public tables, and read it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "catalog.toml").write_text(_HEAD.format(unit=unit) + "".join(tables) + views, encoding="utf-8")
    for name, text in (files or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return read_catalog(folder)


def rows_of(name: str, columns: str, more: str = "rows_per_person = 1") -> str:
    """The section of a table."""
    return _ROWS.format(name=name, columns=columns, more=more)
