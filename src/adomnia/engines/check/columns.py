"""The columns that rows offer, as far as the text and the catalog prove something about them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from adomnia.catalog.model import Catalog, Link, Table
from adomnia.engines.contract import PERSON, index_name
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.privacy.units import ROW

_EXACT = 2**53  # integers up to here are doubles
_KEPT = 256  # tables of which the columns are remembered: every statement reads one
_PEOPLE = f"{PERSON} of "  # no name of a key: those start with the name of a table, which has no spaces


@dataclass(frozen=True)
class Range:
    """Integers between two ends."""

    lowest: int
    highest: int

    @property
    def magnitude(self) -> int:
        return max(1, abs(self.lowest), abs(self.highest))


@dataclass(frozen=True)
class ProvedColumn:
    """A column: the type of its values, and `grid` if they are integers of which sums may be made.

    `among` is the list in which a code is a place, or the key that an id is: columns of different ones never meet.
    `repeats` is in how many rows one value can stand: of one person, or of all where rows are nobody's; None: unknown.
    `room` is the largest integer of its type, where the text itself says which that is; 0: unknown.
    """

    type: str
    grid: Range | None = None
    among: tuple[str, ...] | str | None = None
    repeats: int | None = None
    room: int = 0

    @property
    def is_person(self) -> bool:
        return isinstance(self.among, str) and self.among.startswith(_PEOPLE)


def list_columns(table: Table, catalog: Catalog) -> tuple[tuple[str, ProvedColumn], ...]:
    """What the index keeps of a table."""
    often = {column.name: max(1, rows) for column, rows in zip(table.columns, table.repeats, strict=False)}
    often |= dict.fromkeys(() if table.public else catalog.unique_keys(table.name), 1)
    # Where every row is a person of its own, each table numbers its rows: number 7 of another table is nobody here.
    people = None if table.public else _PEOPLE + (table.name if catalog.unit == ROW else "")
    return _list_columns(table.name, table.columns, tuple(often.items()), people, catalog.resolve_link(table.link))


@lru_cache(maxsize=_KEPT)
def _list_columns(
    table: str, columns: tuple[Column, ...], often: tuple[tuple[str, int], ...], people: str | None, link: Link | None
) -> tuple[tuple[str, ProvedColumn], ...]:
    repeats = dict(often)
    found = [] if people is None else [(PERSON, ProvedColumn("id", among=people))]
    for column in columns:
        found += _forms(column, repeats.get(column.name), _key(table, column, link))
    return tuple(found)


def _forms(column: Column, repeats: int | None, key: str) -> Iterator[tuple[str, ProvedColumn]]:
    kept = index_name(column.name)
    match column.kind:
        case Quantity(whole=whole):
            yield kept, _number(column, repeats)
            if column.domain is not None and not whole:
                yield f"{kept} grid", ProvedColumn("number", _grid(column.domain))
        case Boolean():
            yield kept, ProvedColumn("boolean", repeats=repeats)
        case Day():
            yield kept, ProvedColumn("day", repeats=repeats)
        case Moment():
            yield kept, ProvedColumn("number", repeats=repeats)
        case Text(values=None):
            yield kept, ProvedColumn("text", repeats=repeats)
        case Text(values=values):
            yield kept, ProvedColumn("code", among=values, repeats=repeats)
        case Identity(person=False, linked=str() as end) if end:
            yield kept, ProvedColumn("id", among=key, repeats=repeats)


def _number(column: Column, repeats: int | None) -> ProvedColumn:
    whole = isinstance(column.kind, Quantity) and column.kind.whole
    if column.domain is None or not whole:
        return ProvedColumn("number", repeats=repeats)
    # Numbers are compared as doubles: beyond 2**53, different integers are the same one.
    return ProvedColumn("number", _grid(column.domain), repeats=repeats if column.domain.magnitude <= _EXACT else None)


def _grid(domain: Numbers) -> Range:
    return Range(domain.grid_lower, domain.grid_upper)


def _key(table: str, column: Column, link: Link | None) -> str:
    """The end of the links that an id belongs to: ids of one end are stored alike, hence can be compared."""
    ours = link is None or link.column != column.name
    return f"{table}.{column.name}" if link is None or ours else f"{link.parent}.{link.parent_column}"
