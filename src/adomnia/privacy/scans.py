"""What can be computed from many rows: over all people with noise, or from one person's own rows as they are."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import ClassVar, TypeAlias

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.kinds import Boolean, Text
from adomnia.privacy.transforms.distances import Distances
from adomnia.privacy.transforms.estimates import BlockEstimates
from adomnia.privacy.transforms.matrices import Combination
from adomnia.privacy.vectors import Variable, Vector

_BUCKET_BITS = 10


@dataclass(frozen=True)
class Rows:
    """How many rows: COUNT(*)."""

    tag: ClassVar[str] = "Rows"


@dataclass(frozen=True)
class NonNull:
    """How many rows where an expression is not NULL: COUNT(expression)."""

    tag: ClassVar[str] = "Present"
    value: Expression


@hashed_once
@dataclass(frozen=True)
class Total:
    """The sum of an expression in steps of its grid, each value counted from `centre`."""

    tag: ClassVar[str] = "Total"
    value: Expression
    domain: Numbers
    centre: int = 0

    @property
    def magnitude(self) -> int:
        """How far one row moves the sum at most; 1 where it never does, because no noise hides nothing."""
        return max(1, abs(self.domain.grid_lower - self.centre), abs(self.domain.grid_upper - self.centre))

    def suppose(self, rows: int) -> int:
        """The sum of so many rows whose values all lie in the middle."""
        return rows * (self.domain.middle - self.centre)

    @property
    def rises(self) -> bool:
        """Whether no row lowers the sum."""
        return self.domain.grid_lower >= self.centre


@dataclass(frozen=True)
class People:
    """How many different people: COUNT(DISTINCT person), of the one whom a LEFT JOIN may leave out if given."""

    tag: ClassVar[str] = "People"
    person: Column | None = None


@dataclass(frozen=True)
class Histogram:
    """How many rows hold each value of a grid, of which values are chosen at ranks: `shares` of all, ends included.

    It is read in two steps: how many rows are in each bucket of 2**shift values, and then of each value in `buckets`.
    """

    tag: ClassVar[str] = "Histogram"
    value: Expression
    domain: Numbers
    shares: tuple[Fraction, ...]
    confidence: Fraction  # of the intervals that are chosen with them
    buckets: tuple[int, ...] | None = None

    @property
    def values(self) -> int:
        """How many values the grid has."""
        return self.domain.width + 1

    @property
    def shift(self) -> int:
        return bucket_bits(self.values)


@dataclass(frozen=True)
class Proposal(Histogram):
    """A histogram with a bound that is proposed for how far one person moves a statistic of it, in steps.

    The statistic is the value at the only one of `shares`. With a `ratio` it is the distance between the values at two
    of them, as an exponent of that ratio.
    """

    tag: ClassVar[str] = "Proposal"
    bound: int = field(kw_only=True)
    ratio: Fraction | None = field(default=None, kw_only=True)


def bucket_bits(values: int) -> int:
    """The shift of buckets that divide so many values into 512 to 1,024 parts, or into single ones."""
    return max(0, (values - 1).bit_length() - _BUCKET_BITS)


@dataclass(frozen=True)
class Average:
    """The mean of one person's own values, from the exact sum of their grid integers."""

    tag: ClassVar[str] = "Average"
    value: Expression
    domain: Numbers


@dataclass(frozen=True)
class OwnExtreme:
    """The least or the greatest of one person's own values; of conditions, false being less than true: all, or any."""

    tag: ClassVar[str] = "Extreme"
    value: Expression
    greatest: bool


@dataclass(frozen=True)
class OwnMedian:
    """The middle of one person's own numbers, or halfway between the two in the middle: no order of rows changes it."""

    tag: ClassVar[str] = "Median"
    value: Expression


@dataclass(frozen=True)
class OwnSpread:
    """The variance of one person's own values, or its root, from exact sums of their grid integers and the squares.

    Each value counts from the middle of its domain, so that the squares stay small. `sample` divides by one row less.
    """

    tag: ClassVar[str] = "Spread"
    value: Expression
    domain: Numbers
    root: bool
    sample: bool


@dataclass(frozen=True)
class OwnChoice:
    """One person's own value in the row where another is least or greatest; of several such rows the least or greatest.

    Rows where either is missing do not count, and no order of rows changes it.
    """

    tag: ClassVar[str] = "Choice"
    value: Expression
    by: Expression
    greatest: bool


@dataclass(frozen=True)
class DistinctValues:
    """How many different values there are, or one person has: COUNT(DISTINCT expression)."""

    tag: ClassVar[str] = "Different"
    value: Expression

    @property
    def most(self) -> float:
        """How many there can be, where that is declared."""
        match self.value.kind:
            case Text(values=tuple() as values):
                return len(values)
            case Boolean():
                return 2
        return inf


Aggregate: TypeAlias = (
    Rows | NonNull | Total | People | DistinctValues | Histogram | Vector | Combination | BlockEstimates | Distances
)
Own: TypeAlias = Rows | NonNull | Total | Average | OwnExtreme | OwnMedian | OwnSpread | OwnChoice | DistinctValues


def values_of(aggregate: Aggregate) -> tuple[Expression, ...]:
    """The expressions of a row that an aggregate looks at."""
    match aggregate:
        case Rows() | People() | Combination() | Distances():
            return ()
        case Vector(variables=variables) | BlockEstimates(sums=Vector(variables=variables)):
            return tuple(variable.value for variable in variables)
        case BlockEstimates(sums=Variable(value=value)):
            return (value,)
        case _:
            return (aggregate.value,)  # type: ignore[union-attr]  # of estimates all sums are above
