# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""Whose row it is: the person of every row, found along the declared links while the index is built.

A person is a key of the unit's column. A row whose chain breaks is not lost: the key at which it breaks is a person of
its own, kept apart from the unit's keys by `origin`, the number of the link that led nowhere.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from adomnia.catalog.model import Catalog, Link, Table
from adomnia.engines.contract import index_name
from adomnia.engines.dialect import Dialect
from adomnia.engines.index.columns import render_reading
from adomnia.engines.index.source import TableSource, render_key
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Identity
from adomnia.privacy.units import ROW


class Run(Protocol):
    """Runs one SQL statement of our own making and gives its rows."""

    def __call__(self, sql: str, *parameters: object) -> Sequence[tuple[object, ...]]: ...


class Links:
    """The chains of a catalog over its sources. A parent's keys are looked up once, and must be unique."""

    def __init__(self, catalog: Catalog, sources: Mapping[str, TableSource], run: Run, dialect: Dialect) -> None:
        self._catalog, self._sources = catalog, sources
        self._run, self._dialect = run, dialect
        self._lookups: dict[tuple[str, str], int] = {}
        self._check_sorts()
        columns = _key_columns(catalog)
        self._whole = all(sources[table].is_whole(column) for table, column in columns)

    @property
    def key_type(self) -> str:
        """The type of every key of a person: integers are quicker to join, text holds every key."""
        return self._dialect.types.long.name if self._whole else self._dialect.types.text

    def _check_sorts(self) -> None:
        """Refuse keys that could never meet: every row would be a person of its own, and no cap would hold."""
        for table in self._catalog.tables:
            link = table.link
            if link is None or self._catalog.unit == ROW:
                continue
            child = self._sources[table.name].sort_of(link.column)
            parent = self._sources[link.parent].sort_of(link.parent_column)
            if None not in (child, parent) and child != parent:
                what = f"Column {table.name}.{link.column}"
                why = f"holds {child}, and {link.parent}.{link.parent_column}, which it is linked to, holds {parent}"
                raise Refusal(what, why, "store both as the same type")

    def rows(self, table: Table, outputs: Mapping[str, str]) -> str:
        """SQL of the outputs, by name, for every row of a table, and of its person.

        That is " origin" and " key", NULL for nobody.
        """
        unit, link = self._catalog.unit, self._catalog.resolve_link(table.link)
        if unit == ROW:
            listed = ", ".join([*_name(outputs), 'TRUE AS " one"'])
            return f"SELECT {listed} FROM {self._sources[table.name].relation}"
        if link is None:
            return self._directly(table, unit.column, outputs)
        if (link.parent, link.parent_column) == (unit.table, unit.column):
            return self._directly(table, link.column, outputs)
        return self._through(table, link, outputs)

    def read(self, table: Table, column: Column) -> str:
        """A column of a table's source, read as it is declared; an id as the key that links compare."""
        if isinstance(column.kind, Identity):
            return self._key(self._sources[table.name], column.name)
        return render_reading(column, self._dialect)

    def _table(self, name: str) -> Table:
        return next(table for table in self._catalog.tables if table.name == name)

    def _directly(self, table: Table, column: str, outputs: Mapping[str, str]) -> str:
        source = self._sources[table.name]
        person = {'" origin"': "0", '" key"': self._key(source, column)}
        return f"SELECT {', '.join(_name({**outputs, **person}))} FROM {source.relation}"

    def _through(self, table: Table, link: Link, outputs: Mapping[str, str]) -> str:
        source, number = self._sources[table.name], self._lookup(link)
        child = ", ".join(_name({**outputs, '" link"': self._key(source, link.column)}))
        known = "".join(f"child.{name}, " for name in outputs)
        return (
            f"SELECT {known}"
            f'CASE WHEN parent." parent" IS NULL THEN {number} ELSE parent." origin" END AS " origin", '
            f'CASE WHEN parent." parent" IS NULL THEN child." link" ELSE parent." key" END AS " key" '
            f"FROM (SELECT {child} FROM {source.relation}) AS child "
            f'LEFT JOIN {self._lookup_table(number)} AS parent ON child." link" = parent." parent"'
        )

    def _lookup(self, link: Link) -> int:
        """The number of the temporary table that leads from a parent's keys to its people."""
        place = (link.parent, link.parent_column)
        if place not in self._lookups:
            parent = self._table(link.parent)
            key = self._key(self._sources[parent.name], link.parent_column)
            rows = self.rows(parent, {'" parent"': key})
            number = len(self._lookups) + 1
            known = f'SELECT * FROM ({rows}) AS " parents" WHERE " parent" IS NOT NULL'
            self._run(self._dialect.index.temporary.format(self._lookup_table(number), known))
            self._check_unique(link, number)
            self._lookups[place] = number
        return self._lookups[place]

    def _check_unique(self, link: Link, number: int) -> None:
        ((unique,),) = self._run(f'SELECT COUNT(*) = COUNT(DISTINCT " parent") FROM {self._lookup_table(number)}')
        if not unique:
            raise Refusal(
                f"Column {link.parent}.{link.parent_column}",
                "links rows to people, and some of its keys occur more than once",
                "make them unique, or link through another column",
            )

    def _key(self, source: TableSource, column: str) -> str:
        name = self._dialect.quote(index_name(column))
        return f"CAST({name} AS {self.key_type})" if self._whole else render_key(column, source)

    def _lookup_table(self, number: int) -> str:
        return self._dialect.quote(f" lookup {number}")


def _name(outputs: Mapping[str, str]) -> list[str]:
    return [f"{sql} AS {name}" for name, sql in outputs.items()]


def _key_columns(catalog: Catalog) -> list[tuple[str, str]]:
    if catalog.unit == ROW:
        return []
    links = [(table.name, table.link) for table in catalog.tables if table.link is not None]
    ends = [(link.parent, link.parent_column) for _, link in links]
    return [(catalog.unit.table, catalog.unit.column), *((name, link.column) for name, link in links), *ends]
