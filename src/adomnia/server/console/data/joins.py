"""Which tables may be joined with one table, and how a question writes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.privacy.kinds import Identity, Text
from adomnia.server.console.data.sql_text import quote_identifier
from adomnia.sql.rows.blocks import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adomnia.catalog.model import Catalog, Table
    from adomnia.privacy.expressions import Column
    from adomnia.server.console.data.links import TableLink

__all__ = ["JoinOffer", "find_joins", "offer_joins"]

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
    looked_up = {(link.table, link.target): link for link in links if link.lookup}
    for other in catalog.tables:
        if other.name == table.name:
            continue
        private, public = (other, table) if table.public else (table, other)
        if table.public or other.public:
            link = looked_up.get((private.name, public.name))
            pair = _find_shared(table, other) if link is None else _orient(link, table)
        else:
            pair = _find_ids(table, other)
        if pair is not None:
            yield JoinOffer(table.name, pair[0], other.name, pair[1], public=table.public or other.public)


def offer_joins(catalog: Catalog, joins: Sequence[JoinOffer]) -> tuple[JoinOffer, ...]:
    """Those that the rules allow, with the rows that one person can have after each."""
    return tuple(offer for each in joins if (offer := _check(catalog, each)) is not None)


def _check(catalog: Catalog, join: JoinOffer) -> JoinOffer | None:
    try:
        relation = rows_of(f"SELECT 1 AS one FROM {join.clause}", catalog).relation
    except Refusal:  # too many pairs: nothing to offer
        return None
    return replace(join, rows_per_person=relation.rows_per_person)


def _orient(link: TableLink, table: Table) -> tuple[str, str]:
    forth = link.table == table.name
    return (link.column, link.target_column) if forth else (link.target_column, link.column)


def _find_ids(table: Table, other: Table) -> tuple[str, str] | None:
    """Two ids of one thing: of what a link leads to, which pairs fewer rows, or else of the person."""
    pairs = [
        (own.kind.person, own.name, foreign.name)
        for own in table.columns
        if isinstance(own.kind, Identity) and (own.kind.person or own.kind.linked)
        for foreign in other.columns
        if foreign.kind == own.kind
    ]
    return min(pairs)[1:] if pairs else None


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
