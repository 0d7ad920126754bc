"""Exact integer aggregates that derive their own sensitivity; nobody else writes one."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from adomnia.privacy.aggregates import Aggregate, People, Total
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text, Truth
from adomnia.privacy.relations import Relation, everything, most_rows
from adomnia.privacy.sensitivity import Sensitivity


@dataclass(frozen=True)
class Query:
    """One aggregate over a relation, in every cell of its declared keys."""

    relation: Relation
    keys: tuple[Column, ...]
    aggregate: Aggregate

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of declared values of each key."""
        return tuple(len(key_values(key)) for key in self.keys)

    @cached_property
    def read(self) -> Relation:
        """The rows that are read: all of them where a person counts once in all."""
        once = isinstance(self.aggregate, People) and not self.keys
        return everything(self.relation) if once else self.relation

    @property
    def largest(self) -> int:
        """A bound on the size of any cell, from public facts: it decides which integers the sums are carried in."""
        return most_rows(self.relation) * (self.aggregate.magnitude if isinstance(self.aggregate, Total) else 1)

    def sensitivity(self) -> Sensitivity:
        """How far one person moves the cells: their rows may all fall into one, or into as many as they have rows."""
        return self._sensitivity

    @cached_property
    def _sensitivity(self) -> Sensitivity:
        rows = self.relation.rows_per_person
        match self.aggregate:
            case People():
                cells = min(rows, prod(self.shape))
                return Sensitivity(l1=cells, l2_squared=cells, linf=1, monotone=True)
            case Total() as total:
                one_row = Sensitivity(l1=total.magnitude, monotone=total.domain.grid_lower >= total.centre)
                return one_row.times(rows)
        return Sensitivity(l1=1, monotone=True).times(rows)


def key_values(key: Column) -> tuple[str | bool, ...]:
    """The values that a grouping column may take: declared, hence public."""
    match key.kind:
        case Text(values=tuple() as values):
            return values
        case Truth():
            return (False, True)
    raise ValueError(f"Query key must have declared values, got {key.name}.")
