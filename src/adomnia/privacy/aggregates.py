"""What can be computed from many rows: over all people with noise, or from one person's own rows as they are."""

from dataclasses import dataclass
from typing import TypeAlias

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression


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
    """How many different people: COUNT(DISTINCT person), of the one whom a LEFT JOIN may leave out if given."""

    person: Column | None = None


@dataclass(frozen=True)
class Average:
    """The mean of one person's own values, from the exact sum of their grid integers."""

    value: Expression
    domain: Numbers


@dataclass(frozen=True)
class Extreme:
    """The least or the greatest of one person's own values."""

    value: Expression
    greatest: bool


@dataclass(frozen=True)
class Different:
    """How many different values one person has."""

    value: Expression


Aggregate: TypeAlias = Rows | Present | Total | People
Own: TypeAlias = Rows | Present | Total | Average | Extreme | Different
