"""Exact integer aggregates that derive their own sensitivity; nobody else writes one."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.kinds import Text, Truth
from adomnia.privacy.relations import Relation
from adomnia.privacy.sensitivity import Sensitivity

MOST_ROWS = 2**48  # of one table: what the static bounds on sums are computed from


@dataclass(frozen=True)
class Rows:
    """How many rows: COUNT(*)."""


@dataclass(frozen=True)
class Present:
    """How many rows where an expression is not NULL: COUNT(expression)."""

    value: Expression


@dataclass(frozen=True)
class Total:
    """The sum of an expression in steps of its grid, each value counted from `centre`."""

    value: Expression
    domain: Numbers
    centre: int = 0

    @property
    def magnitude(self) -> int:
        """How far one row moves the sum at most; 1 where it never does, because no noise hides nothing."""
        return max(1, abs(self.domain.grid_lower - self.centre), abs(self.domain.grid_upper - self.centre))


@dataclass(frozen=True)
class People:
    """How many different people: COUNT(DISTINCT person)."""


Aggregate: TypeAlias = Rows | Present | Total | People


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

    @property
    def cap(self) -> int | None:
        """The rows of one person that are read; None where all are, because a person counts once in all."""
        return None if isinstance(self.aggregate, People) and not self.keys else self.relation.rows_per_person

    @property
    def largest(self) -> int:
        """A bound on the size of any cell, from public facts: it decides which integers the sums are carried in."""
        return MOST_ROWS * (self.aggregate.magnitude if isinstance(self.aggregate, Total) else 1)

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
