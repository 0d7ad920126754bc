# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""How rows find their people, and what caps leave out: the keys of the data, followed as the index follows them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index import Links
from adomnia.engines.sources.reading import file_source, make_runner, open_reader
from adomnia.inspection.changes import Change, Mismatch, say_changes
from adomnia.privacy.units import ROW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog, Table
    from adomnia.engines.index import Run

_DOUBLINGS = 4  # how many larger caps are shown
_MOST_ROWS_PER_PERSON = 1_000_000
_CAP_COSTS = "noise grows with it, and a cap taken from the data tells about it"
# What people who type keys mean alike: 007, 7 and 7.0; upper and lower case; spaces around.
_FOLDED = "REGEXP_REPLACE(REGEXP_REPLACE(LOWER(TRIM(CAST({0} AS VARCHAR))), '^0+([0-9])', '\\1'), '[.]0+$', '')"


@dataclass(frozen=True)
class PeopleOf:
    """The people of one table: its rows, those of nobody, people, those over the cap, and rows that caps leave out.

    `most` is how many rows one person has at most.
    """

    table: str
    rows: int
    of_nobody: int
    people: int
    over_cap: int
    most: int
    left_out: tuple[tuple[int, int], ...]  # of caps: the declared one, then larger ones


def inspect_people(catalog: Catalog) -> tuple[list[PeopleOf], list[Mismatch]]:
    """The people of all private tables, and what does not fit; nothing where every row is a person of its own."""
    if catalog.unit == ROW:
        return [], []
    with _open_keys(catalog) as keys:
        mismatches = list(_find_duplicates(catalog, keys))
        if mismatches:  # the index is not built from such links either
            return [], mismatches
        people = [_count_people(keys, table) for table in keys.tables]
        for table, counted in zip(keys.tables, people, strict=True):
            mismatches += [
                *_find_over_cap(table, counted),
                *_find_nobodies(counted),
                *_find_orphans(keys, table),
            ]
        mismatches += _find_spellings(catalog, keys)
    return people, mismatches


@dataclass(frozen=True)
class _Keys:
    """The private tables and their sources, open."""

    tables: list[Table]
    links: Links
    relations: dict[str, str]
    run: Run

    def number(self, sql: str) -> int:
        ((value,),) = self.run(sql)
        return int(str(value or 0))

    def key(self, table: str, column: str) -> str:
        """SQL of all keys of a column, as the links compare them."""
        own = next(each for each in self.tables if each.name == table)
        found = own.column(column)
        assert found is not None  # noqa: S101 - the catalog declares both ends of every link
        return f"SELECT {self.links.read(own, found)} AS key FROM {self.relations[table]}"


@contextmanager
def _open_keys(catalog: Catalog) -> Iterator[_Keys]:
    private = [table for table in catalog.tables if not table.public]
    with open_reader() as reader:
        run = make_runner(reader.connection)
        sources = {each.name: file_source(reader, each.locate(catalog.folder), each) for each in private}
        links = Links(catalog, sources, run, DUCKDB)
        yield _Keys(private, links, {name: source.relation for name, source in sources.items()}, run)


def _find_duplicates(catalog: Catalog, keys: _Keys) -> Iterator[Mismatch]:
    for table in keys.tables:
        for column in catalog.unique_keys(table.name):
            rows = f"FROM ({keys.key(table.name, column)}) WHERE key IS NOT NULL"
            count = keys.number(f"SELECT COUNT(*) FROM (SELECT key {rows} GROUP BY key HAVING COUNT(*) > 1)")
            if count:
                says = f"{count:,} keys are in several rows, and tables are linked by them: the dataset does not open"
                fix = "keep one row of each in the file, or link through another column"
                yield Mismatch(table.name, column, "duplicate_keys", count, says, fix)


def _count_people(keys: _Keys, table: Table) -> PeopleOf:
    rows = keys.links.rows(table, {'" row"': "1"})
    keys.run(f'CREATE OR REPLACE TEMP TABLE " found" AS SELECT " origin", " key" FROM ({rows})')
    keys.run(
        'CREATE OR REPLACE TEMP TABLE " counted" AS SELECT COUNT(*) AS n FROM " found" '
        'WHERE " key" IS NOT NULL GROUP BY " origin", " key"'
    )
    caps = [min(table.rows_per_person << doubling, _MOST_ROWS_PER_PERSON) for doubling in range(_DOUBLINGS + 1)]
    beyond = ", ".join(f"SUM(GREATEST(n - {cap}, 0))" for cap in caps)
    over = f"COUNT(CASE WHEN n > {table.rows_per_person} THEN 1 END)"
    found = keys.run(f'SELECT COUNT(*), {over}, COALESCE(MAX(n), 0), {beyond} FROM " counted"')
    people, over_cap, most, *left_out = (int(str(number or 0)) for number in found[0])
    return PeopleOf(
        table.name,
        keys.number('SELECT COUNT(*) FROM " found"'),
        keys.number('SELECT COUNT(*) FROM " found" WHERE " key" IS NULL'),
        people,
        over_cap,
        most,
        tuple(zip(caps, left_out, strict=True)),
    )


def _find_over_cap(table: Table, counted: PeopleOf) -> Iterator[Mismatch]:
    (cap, lost), *larger = counted.left_out
    if not counted.over_cap:
        return
    further = ", ".join(f"{rows:,} at {each:,}" for each, rows in larger)
    says = (
        f"{counted.over_cap:,} of {counted.people:,} people have more rows than {cap:,}: {lost:,} of {counted.rows:,} "
        f"rows are left out ({further})"
    )
    enough = cap
    while enough < counted.most:
        enough *= 2
    key = ("rows_per_person",) if table.profile_epsilon is None else ("rows_per_person", "max")
    change = Change(("tables", table.name, *key), min(enough, _MOST_ROWS_PER_PERSON))
    fix = f"{say_changes([change])}, if public knowledge allows it: {_CAP_COSTS}"
    yield Mismatch(table.name, None, "over_cap", counted.over_cap, says, fix, (change,), 0)


def _find_nobodies(counted: PeopleOf) -> Iterator[Mismatch]:
    if counted.of_nobody:
        says = f"{counted.of_nobody:,} of {counted.rows:,} rows name no person, and are left out"
        fix = "write in the file whose rows they are, or leave them out"
        yield Mismatch(counted.table, None, "nobody", counted.of_nobody, says, fix)


def _find_orphans(keys: _Keys, table: Table) -> Iterator[Mismatch]:
    link = table.link
    if link is None:
        return
    parents = keys.key(link.parent, link.parent_column)
    own = keys.key(table.name, link.column)
    known = f"SELECT key FROM ({parents}) WHERE key IS NOT NULL"
    orphans = f"SELECT key FROM ({own}) WHERE key IS NOT NULL AND key NOT IN ({known})"
    count = keys.number(f"SELECT COUNT(*) FROM ({orphans})")
    if not count:
        return
    folded = f"SELECT {_FOLDED.format('key')} FROM ({parents})"
    alike = keys.number(f"SELECT COUNT(*) FROM ({orphans}) WHERE {_FOLDED.format('key')} IN ({folded})")
    spelled = f"; {alike:,} of them would, if keys were spelled alike" if alike else ""
    says = f"{count:,} rows link to no row of {link.parent}, and each such key counts as a person of its own{spelled}"
    fix = f"correct the keys in the file, or the link: person in tables.{table.name}"
    yield Mismatch(table.name, link.column, "orphans", count, says, fix)


def _find_spellings(catalog: Catalog, keys: _Keys) -> Iterator[Mismatch]:
    """People who may be one: keys of the unit that differ only as 007, 7 and 7.0 do, in case or in spaces."""
    unit = catalog.unit
    distinct = f"SELECT DISTINCT key FROM ({keys.key(unit.table, unit.column)}) WHERE key IS NOT NULL"
    groups = f"SELECT COUNT(*) AS n FROM ({distinct}) GROUP BY {_FOLDED.format('key')} HAVING COUNT(*) > 1"
    count = keys.number(f"SELECT SUM(n) FROM ({groups})")
    if count:
        says = f"{count:,} keys differ from another only in spelling (as 007, 7 and 7.0, or in case): each is a person"
        fix = "write them alike in the file if they are one person: a person with two keys is protected only by half"
        yield Mismatch(unit.table, unit.column, "spelling", count, says, fix)
