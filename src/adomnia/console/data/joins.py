"""Which tables may be joined with one table, and how a question writes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.api.actions.tables import count_rows_of_a_person
from adomnia.errors import Refusal
from adomnia.explaining.sql_text import quote_identifier
from adomnia.privacy.kinds import Identity, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adomnia.catalog.model import Catalog, Table
    from adomnia.console.data.links import TableLink
    from adomnia.privacy.expressions import Column

_MEETING = {"text", "integer", "date"}


@dataclass(frozen=True)
class JoinOffer:
    """Two tables and the columns by which their rows meet."""

    left: str
    left_column: str
    right: str
    right_column: str
    public: bool
    rows_per_person: int = 0

    @property
    def clause(self) -> str:
        """What stands after FROM."""
        left, right = quote_identifier(self.left), quote_identifier(self.right)
        first, second = quote_identifier(self.left_column), quote_identifier(self.right_column)
        if self.left_column == self.right_column:
            return f"{left} JOIN {right} USING ({first})"
        return f"{left} JOIN {right} ON {left}.{first} = {right}.{second}"

    @property
    def sql(self) -> str:
        """A first question about the rows that meet."""
        return f"SELECT COUNT(*) AS pairs\nFROM {self.clause}"

    @property
    def says(self) -> str:
        """Where rows meet, and how many of one person there can be then."""
        where = "at public values" if self.public else "within one person"
        if not self.rows_per_person:
            return "public rows: exact and free"
        rows = "1 row" if self.rows_per_person == 1 else f"{self.rows_per_person:,} rows"
        return f"rows meet {where}: at most {rows} a person"


def find_joins(catalog: Catalog, table: Table, links: Sequence[TableLink]) -> Iterator[JoinOffer]:
    """Joins of a table with each other one, by the best pair of columns there is."""
    for other in catalog.tables:
        join = None if other.name == table.name else find_join(table, other, links)
        if join is not None:
            yield join


def find_join(table: Table, other: Table, links: Sequence[TableLink]) -> JoinOffer | None:
    """How two tables meet, if they do: within one person, or at public values."""
    public = table.public or other.public
    pair = (_find_lookup(table, other, links) or _find_shared(table, other)) if public else _find_ids(table, other)
    return None if pair is None else JoinOffer(table.name, pair[0], other.name, pair[1], public)


def offer_joins(catalog: Catalog, joins: Sequence[JoinOffer]) -> tuple[JoinOffer, ...]:
    """Those that the rules allow, with the rows that one person can have after each."""
    return tuple(offer for each in joins if (offer := _check(catalog, each)) is not None)


def _check(catalog: Catalog, join: JoinOffer) -> JoinOffer | None:
    try:
        rows = count_rows_of_a_person(join.clause, catalog)
    except Refusal:  # too many pairs: nothing to offer
        return None
    return replace(join, rows_per_person=rows)


def _find_lookup(table: Table, other: Table, links: Sequence[TableLink]) -> tuple[str, str] | None:
    """The column of a category and that which explains it, whichever side they are on."""
    for link in links:
        if (link.lookup, link.table, link.target) == (True, table.name, other.name):
            return link.column, link.target_column
        if (link.lookup, link.table, link.target) == (True, other.name, table.name):
            return link.target_column, link.column
    return None


def _find_ids(table: Table, other: Table) -> tuple[str, str] | None:
    """Two ids of one thing: of what a link leads to, which pairs fewer rows, or else of the person."""
    mine, theirs = _list_ids(table), _list_ids(other)
    both = sorted((kind for kind in mine if kind in theirs), key=lambda kind: kind.person)
    return (mine[both[0]], theirs[both[0]]) if both else None


def _list_ids(table: Table) -> dict[Identity, str]:
    """The columns that say whose rows they are, or to what they belong."""
    ids = [(column.kind, column.name) for column in table.columns if isinstance(column.kind, Identity)]
    return {kind: name for kind, name in reversed(ids) if kind.person or kind.linked}


def _find_shared(table: Table, other: Table) -> tuple[str, str] | None:
    """A column of the same name that holds the same sort of value on both sides."""
    names = {column.name.lower(): column for column in other.columns if _sort(column) in _MEETING}
    for column in table.columns:
        match = names.get(column.name.lower())
        if match is not None and _sort(match) == _sort(column):
            return column.name, match.name
    return None


def _sort(column: Column) -> str:
    return "text" if isinstance(column.kind, Text) else str(column.kind)
