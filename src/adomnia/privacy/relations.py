"""Relations: which rows a question is about. Each node derives how many rows of one person can reach its output."""

from dataclasses import dataclass
from typing import TypeAlias

from adomnia.privacy.expressions import Column, Expression


@dataclass(frozen=True)
class Table:
    """A private table as the catalog declares it.

    Rows per person: the declared cap, which the contribution index enforces. Columns and their domains: declared.
    """

    name: str
    rows_per_person: int
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Where:
    """The rows of a relation for which a condition is true.

    Rows per person: those of the source, because a filter looks at one row at a time. Columns: unchanged.
    """

    source: "Relation"
    condition: Expression

    @property
    def rows_per_person(self) -> int:
        return self.source.rows_per_person

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.source.columns


Relation: TypeAlias = Table | Where
