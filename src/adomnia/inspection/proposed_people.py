"""Proposes whose presence a draft hides, and how rows of other tables find their person. What is in doubt is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adomnia.inspection.key_names import KeyRank, fold_name, names_concept, read_key_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adomnia.inspection.found_tables import FoundColumn, FoundTable


@dataclass(frozen=True)
class ProposedLink:
    """A column of a table, and the one of another table that it leads to."""

    column: FoundColumn
    parent: FoundColumn


@dataclass(frozen=True)
class ProposedPeople:
    """The column that names people, and how other tables are linked to it, by their names.

    Without a `unit`, each row is by itself; but if there are `doubts`, columns that may name people, the owner is
    asked. A unit that is not `certain` is the key of something, and the owner is asked whether of people.
    """

    unit: FoundColumn | None = None
    certain: bool = False
    doubts: tuple[FoundColumn, ...] = ()
    links: Mapping[str, ProposedLink] = field(default_factory=dict)

    @property
    def is_row(self) -> bool:
        """Whether nothing looks as if one person had several rows."""
        return self.unit is None and not self.doubts

    def uses(self, column: FoundColumn) -> bool:
        """Whether a column is an end of a link, or the unit."""
        ends = (end for link in self.links.values() for end in (link.column, link.parent))
        place = (column.table.name, column.written)
        return any(place == (end.table.name, end.written) for end in (*ends, self.unit) if end)


def propose_people(tables: Sequence[FoundTable]) -> ProposedPeople:
    """Choose the key of people that links most tables; by the names of columns, and by values if we may look."""
    columns = [column for table in tables for column in table.columns() if column.may_be_key]
    named = [column for column in columns if _rank(column) >= KeyRank.PERSON]
    keys = [column for column in columns if _rank(column) > KeyRank.NAME]
    if named:
        return _choose(named, columns, tables)
    leading = [column for column in columns if column.count is not None and column.count.leads_to]
    if leading:
        ends = [_follow(column, columns) for column in leading]
        unit = max(ends, key=lambda end: (_rank(end) > KeyRank.NAME, sum(end is other for other in ends)))
        doubts = _tell_apart(column for column in keys if _group(column) != _group(unit))
        return ProposedPeople(unit, False, doubts, _find_links(unit, columns, tables))
    shared = [column for column in keys if _count_tables(column, keys) > 1]
    things = [column for column in keys if _rank(column) is KeyRank.THING]
    if shared or things:
        found = _choose(shared or things, columns, tables)
        others = tuple(column for column in keys if _group(column) != _group(found.unit))
        return ProposedPeople(found.unit, False, _tell_apart(others), found.links)
    doubled = [column for table in tables for column in table.doubled_columns() if _rank(column) > KeyRank.NAME]
    firsts = [column for table in tables if (column := table.row_numbers()) is not None and _repeats(column)]
    return ProposedPeople(doubts=(*(column for column in columns if _may_name_people(column)), *doubled, *firsts))


def _choose(
    candidates: Sequence[FoundColumn], columns: Sequence[FoundColumn], tables: Sequence[FoundTable]
) -> ProposedPeople:
    """The unit among columns that look like keys: the one that is in the most tables, in the people's own table."""
    best = max(candidates, key=lambda column: (_count_tables(column, candidates), _repeats(column), _rank(column)))
    same = [column for column in candidates if _group(column) == _group(best)]
    unit = max(same, key=lambda column: _suits_as_unit(column, same))
    doubts = _tell_apart(column for column in candidates if _group(column) != _group(best))
    certain = _rank(best) is KeyRank.PERSON_KEY
    return ProposedPeople(unit, certain, doubts, _find_links(unit, columns, tables))


def _suits_as_unit(column: FoundColumn, same: Sequence[FoundColumn]) -> tuple[int, int, bool, bool, bool]:
    """Of keys of the same people: those that values lead to, that more tables have, and the people's own table has."""
    led = sum((column.table.name, column.written) in other.count.leads_to for other in same if other.count is not None)
    alike = sum(_is_alike(other, column) for other in same)
    own_table = names_concept(column.table.name, column.key.concept)
    by_itself = read_key_name(column.written).concept == column.key.concept
    return led, alike, _is_unique(column), own_table, by_itself


def _find_links(
    unit: FoundColumn, columns: Sequence[FoundColumn], tables: Sequence[FoundTable]
) -> dict[str, ProposedLink]:
    """Links to the unit, and from tables that lack it through one that is linked."""
    links: dict[str, ProposedLink] = {}
    for table in tables:
        own = [column for column in columns if column.table is table]
        direct = [column for column in own if _leads(column, unit)]
        if table is not unit.table and direct:
            links[table.name] = ProposedLink(max(direct, key=lambda column: _is_alike(column, unit)), unit)
    for table in tables:
        if table is not unit.table and table.name not in links:
            links.update(_find_detour(table, columns, links))
    return links


def _find_detour(
    table: FoundTable, columns: Sequence[FoundColumn], links: Mapping[str, ProposedLink]
) -> dict[str, ProposedLink]:
    """A link through a key that a linked table has too, and that is another one in each of its rows."""
    own = [column for column in columns if column.table is table and _rank(column) > KeyRank.NAME]
    parents = [
        parent
        for parent in columns
        if parent.table.name in links and not _repeats(parent) and links[parent.table.name].column.name != parent.name
    ]
    pairs = ((column, parent) for column in own for parent in parents if _group(column) == _group(parent))
    found = next(pairs, None)
    return {} if found is None else {table.name: ProposedLink(*found)}


def find_shared_key(table: FoundTable, unit: FoundColumn) -> FoundColumn | None:
    """A key of a table that the people's own table has too, beside the unit: links may not lead there."""
    others = [column for column in unit.table.columns() if column.may_be_key and _group(column) != _group(unit)]
    known = {_group(column) for column in others if _rank(column) > KeyRank.NAME}
    return next((column for column in table.columns() if column.may_be_key and _group(column) in known), None)


def _leads(column: FoundColumn, unit: FoundColumn) -> bool:
    ends = column.count.leads_to if column.count is not None else ()
    return _group(column) == _group(unit) or (unit.table.name, unit.written) in ends


def _follow(column: FoundColumn, columns: Sequence[FoundColumn]) -> FoundColumn:
    """The column that values lead to: one of which each row has another, if there is one."""
    assert column.count is not None  # noqa: S101 - only who was counted leads anywhere
    ends = [each for each in columns if (each.table.name, each.written) in column.count.leads_to]
    return max(ends, key=_is_unique) if any(map(_is_unique, ends)) else column


def _group(column: FoundColumn | None) -> tuple[str, str]:
    """What is the same in keys that may link tables: of people, the people; of anything else, the name too."""
    if column is None:
        return "", ""
    rank = _rank(column)
    return ("key", column.key.concept) if rank > KeyRank.NAME else ("name", fold_name(column.written))


def _rank(column: FoundColumn) -> KeyRank:
    """The rank of its name; a word for people names none of them where there are few different values."""
    few = column.count is not None and column.count.is_category
    return KeyRank.NONE if few and column.key.rank <= KeyRank.PERSON else column.key.rank


def _may_name_people(column: FoundColumn) -> bool:
    if _rank(column) is KeyRank.NAME and column.count is not None:
        return column.count.repeats
    return _rank(column) is not KeyRank.NONE or (column.count is not None and column.count.may_name_people)


def _count_tables(column: FoundColumn, columns: Sequence[FoundColumn]) -> int:
    return len({each.table.name for each in columns if _group(each) == _group(column)})


def _repeats(column: FoundColumn) -> bool:
    return column.count is not None and column.count.repeats


def _is_unique(column: FoundColumn) -> bool:
    return column.count is not None and column.count.is_unique


def _is_alike(column: FoundColumn, unit: FoundColumn) -> bool:
    return fold_name(column.written) == fold_name(unit.written)


def _tell_apart(columns: Iterator[FoundColumn] | Sequence[FoundColumn]) -> tuple[FoundColumn, ...]:
    """One column for each concept."""
    return tuple({_group(column): column for column in reversed(list(columns))}.values())[::-1]
