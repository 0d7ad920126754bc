"""What relations mean, in plain Python: all rows of each, with whose they are, made slowly from the rows of files.

A row says of each of its columns, by the name of its side and its own, what it holds there. The person of a row is in
it too, once for each side of a join: None where LEFT JOIN found nobody.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from adomnia.engines.contract import PERSON
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.kinds import Identity, Text
from adomnia.privacy.relations import (
    Join,
    Lookup,
    Named,
    OwnValue,
    PerBlock,
    PerPerson,
    Private,
    Public,
    PublicGroups,
    Relation,
    Select,
    Union,
    Where,
)
from adomnia.privacy.scans import (
    Average,
    DistinctValues,
    NonNull,
    Own,
    OwnChoice,
    OwnExtreme,
    OwnMedian,
    OwnSpread,
    Rows,
    Total,
)
from engines.databases import ranked
from kit.hospital import KEY
from kit.reference import Cell, Row, block_of, grid, place, read, value

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.catalog.model import Table as Declared

Owned = list[tuple["Hashable", Row]]
Files = list[dict[str, Any]]


@dataclass(frozen=True)
class Database:
    """What the files of a catalog hold, and whose row each is: (0, person), or (1, id) where a link breaks off."""

    catalog: Catalog
    files: dict[str, Files]

    def owner(self, table: str, row: dict[str, Any]) -> Hashable:
        """The person of a row; None for rows of nobody."""
        if "person_id" in row:
            return None if row["person_id"] is None else (0, row["person_id"])
        if row["visit_id"] is None:
            return None
        parents = [visit for visit in self.files["visits"] if visit["visit_id"] == row["visit_id"]]
        return self.owner("visits", parents[0]) if parents else (1, row["visit_id"])

    def without(self, who: Hashable) -> Database:
        """The same without one person."""
        public = {table.name for table in self.catalog.tables if table.public}
        kept = {
            name: [row for row in rows if name in public or self.owner(name, row) != who]
            for name, rows in self.files.items()
        }
        return Database(self.catalog, kept)

    def rows(self, name: str, cap: int) -> Owned:
        """The rows that count: of each person the first in the order that the key gives, as many as the cap allows."""
        return [(who, row) for who, some in self._ranked[name].items() for row in some[:cap]]

    def public(self, name: str) -> Owned:
        """The rows of nobody."""
        columns = self.catalog.table(name).columns  # type: ignore[union-attr]  # a table of the catalog
        return [(None, _stored(columns, row)) for row in self.files[name]]

    @cached_property
    def _ranked(self) -> dict[str, dict[Hashable, list[Row]]]:
        """Of each private table, by person, the rows in their order."""
        return {
            table.name: dict(self._in_order(table))
            for table in self.catalog.tables
            if table.name in self.files and not table.public
        }

    def _in_order(self, table: Declared) -> Iterator[tuple[Hashable, list[Row]]]:
        own: defaultdict[Any, Files] = defaultdict(list)
        for row in self.files[table.name]:
            own[self.owner(table.name, row)].append(row)
        own.pop(None, None)
        hashed = tuple(each for each in table.columns if not isinstance(each.kind, Identity) or each.kind.linked)
        for who, some in own.items():
            order = ranked(KEY, hashed, some, ":".join(map(str, who)))
            yield who, [{("", PERSON): Cell(who), **_stored(table.columns, row)} for row in order]


def _stored(columns: Sequence[Column], row: dict[str, Any]) -> Row:
    found: Row = {}
    for column in columns:
        if not isinstance(column.kind, Identity) or column.kind.linked:
            known = read(column, row[column.name])
            found["", column.name] = Cell(known, column.domain.grid(known) if column.domain else None)
    return found


def rows(relation: Relation, database: Database) -> Owned:  # noqa: PLR0911 - one for each node
    """All rows of a relation."""
    match relation:
        case Private(name=name, rows_per_person=cap):
            return database.rows(name, cap)
        case Public(name=name):
            return database.public(name)
        case Union(parts=parts):
            return [each for part in parts for each in rows(part, database)]
        case Join():
            return list(_joined(relation, database))
        case Lookup():
            return list(_looked_up(relation, database))
        case PerBlock():
            return list(_in_blocks(relation, database))
        case PerPerson() | PublicGroups():
            return list(_grouped(relation, database))
    return list(_one_by_one(relation, database))


def _one_by_one(relation: Where | Named | Select, database: Database) -> Iterator[tuple[Hashable, Row]]:
    """What looks at one row at a time."""
    for who, row in rows(relation.source, database):
        match relation:
            case Where(condition=condition) if value(condition, row) is True:
                yield who, row
            case Named(name=label):
                yield who, {(label, name): cell for (_, name), cell in row.items()}
            case Select():
                yield who, _selected(relation, who, row)


def _selected(select: Select, who: Hashable, row: Row) -> Row:
    found: Row = {("", PERSON): Cell(who)} if select.rows_per_person else {}
    for output in select.outputs:
        if not _is_person(output.column):
            number = grid(output.value, output.column.domain, row) if output.column.domain else None
            found["", output.name] = Cell(value(output.value, row), number)
    return found


def _joined(join: Join, database: Database) -> Iterator[tuple[Hashable, Row]]:
    others: defaultdict[Hashable, list[Row]] = defaultdict(list)
    for whose, other in rows(join.right, database):
        others[whose].append(other)
    nothing: Row = dict.fromkeys(map(place, join.right.columns), Cell(None))
    nothing[join.right.name, PERSON] = Cell(None)
    for who, row in rows(join.left, database):
        met = [
            row | other
            for other in others[who if join.right.rows_per_person else None]
            if all(value(condition, row | other) is True for condition in join.on)
        ]
        for pair in met:
            yield who, pair
        if join.outer and not met:
            yield who, row | nothing


def _looked_up(lookup: Lookup, database: Database) -> Iterator[tuple[Hashable, Row]]:
    """Each row with the one that it finds, NULL being like NULL."""
    private = bool(lookup.right.rows_per_person)
    others = rows(lookup.right, database)
    nothing: Row = dict.fromkeys(map(place, lookup.right.columns), Cell(None))
    nothing[lookup.right.name, PERSON] = Cell(None)
    for who, row in rows(lookup.left, database):
        met = [
            row | other
            for whose, other in others
            if (whose == who or not private) and all(value(each, row | other) is True for each in lookup.on)
        ]
        assert len(met) <= 1
        yield who, met[0] if met else row | nothing


def _grouped(relation: PerPerson | PublicGroups, database: Database) -> Iterator[tuple[Hashable, Row]]:
    groups: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    public = isinstance(relation, PublicGroups)
    if public and not relation.keys:
        groups[(None,)] = []  # one row, of no rows too
    for who, row in rows(relation.source if public else relation.read, database):
        groups[who, *(value(key.value, row) for key in relation.keys)].append(row)
    for (who, *values), inside in groups.items():
        found: Row = {} if public else {("", PERSON): Cell(who)}
        for key, known in zip(relation.keys, values, strict=True):
            found["", key.name] = Cell(known, key.column.domain.grid(known) if key.column.domain else None)
        for output in relation.outputs:
            found["", output.name] = _own(output, inside)
        yield who, found


def _in_blocks(relation: PerBlock, database: Database) -> Iterator[tuple[Hashable, Row]]:
    """Rows of blocks, which are told apart by their numbers."""
    groups: defaultdict[int, list[Row]] = defaultdict(list)
    for who, row in rows(relation.read, database):
        groups[block_of(who, relation.blocks.count)].append(row)
    for block, inside in groups.items():
        found: Row = {("", PERSON): Cell(("block", block))}
        yield ("block", block), found | {("", output.name): _own(output, inside) for output in relation.outputs}


def _own(output: OwnValue, inside: list[Row]) -> Cell:  # noqa: PLR0911 - one for each aggregate
    match output.aggregate:
        case OwnExtreme(value=each, greatest=greatest):
            choose = max if greatest else min
            domain = output.column.domain
            known = [found for found in (value(each, row) for row in inside) if found is not None]
            grids = [found for found in (grid(each, domain, row) for row in inside if domain) if found is not None]
            return Cell(choose(known, default=None), choose(grids, default=None))
        case OwnChoice(value=each, by=by, greatest=greatest):
            choose = max if greatest else min
            pairs = [(value(by, row), value(each, row), row) for row in inside]
            known = [pair for pair in pairs if None not in pair[:2]]
            chosen = choose(known, key=lambda pair: (pair[0], _code(each, pair[1])), default=None)
            domain = output.column.domain
            number = grid(each, domain, chosen[2]) if chosen and domain else None
            return Cell(chosen[1], number) if chosen else Cell(None)
        case OwnMedian(value=each):
            known = sorted(found for found in (value(each, row) for row in inside) if found is not None)
            low, high = (known[(len(known) - 1) // 2], known[len(known) // 2]) if known else (None, None)
            return Cell(float(low) + (float(high) - float(low)) * 0.5 if known else None)
        case OwnSpread() as spread:
            return Cell(_spread(spread, inside))
        case Average(value=each, domain=domain):
            grids = [found for found in (grid(each, domain, row) for row in inside) if found is not None]
            return Cell(float(sum(grids)) / float(len(grids)) * float(domain.step) if grids else None)
    counted = _integer(output.aggregate, inside)
    if counted is None:
        return Cell(None)
    if output.domain:
        counted = min(max(counted, output.domain.grid_lower), output.domain.grid_upper)
    step = output.aggregate.domain.step if isinstance(output.aggregate, Total) else 1
    return Cell(float(counted) * float(step), counted)


def _code(each: Expression, known: Any) -> Any:
    """Categories are told apart by their place in the list."""
    match each:
        case Column(kind=Text(values=tuple() as values)):
            return values.index(known)
    return known


def _spread(spread: OwnSpread, inside: list[Row]) -> float | None:
    grids = [found for found in (grid(spread.value, spread.domain, row) for row in inside) if found is not None]
    divisor = float(len(grids)) - 1 if spread.sample else float(len(grids))
    if not grids or not divisor:
        return None
    centred, count = [each - spread.domain.middle for each in grids], float(len(grids))
    mean, square = float(sum(centred)) / count, float(sum(each * each for each in centred)) / count
    variance = max((square - mean * mean) * (count / divisor), 0.0)
    step = float(spread.domain.step if spread.root else spread.domain.step**2)
    return (math.sqrt(variance) if spread.root else variance) * step


def _integer(aggregate: Own, inside: list[Row]) -> int | None:
    match aggregate:
        case Rows():
            return len(inside)
        case NonNull(value=each):
            return sum(value(each, row) is not None for row in inside)
        case DistinctValues(value=each):
            return len({value(each, row) for row in inside} - {None})
    assert isinstance(aggregate, Total)
    grids = [grid(aggregate.value, aggregate.domain, row) for row in inside]
    known = [found for found in grids if found is not None]
    return sum(known) - aggregate.centre * len(known) if known else None


def _is_person(column: Column) -> bool:
    return isinstance(column.kind, Identity) and column.kind.person
