"""What an engine counts and adds up: over all people, before noise, or over one person's own rows as they are."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Expression
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.kinds import Boolean, Text
from adomnia.privacy.sensitivity import Sensitivity

_BUCKET_BITS = 10

# What a scan gives: 64-bit where a static bound allows, Python's own integers otherwise.
Integers: TypeAlias = NDArray[np.int64] | NDArray[np.object_]

# What the exact answer to a query is: a number in every cell, which are public; counts of the values that some rows
# have; or the keys that some people have. Of the last two even the number is private.
Form: TypeAlias = Literal["cells", "histogram", "keys"]


class Scan(ABC):
    """An aggregate of rows that an engine computes in every cell of a query, exactly."""

    tag: ClassVar[str]
    form: ClassVar[Form] = "cells"
    of_people: ClassVar[bool] = False  # whether it looks at whose a row is
    different: ClassVar[bool] = False  # whether it counts what is there several times once
    clips: ClassVar[bool] = False  # whether it may be shortened person by person
    adds_up: ClassVar[bool] = False  # whether it adds up values, in integers as wide as they need

    @property
    @abstractmethod
    def expressions(self) -> tuple[Expression, ...]:
        """What it looks at in a row."""

    @property
    def columns(self) -> int:
        """How many columns of a statement it takes."""
        return 1

    @property
    def magnitude(self) -> int:
        """How far one row moves it at most."""
        return 1

    @property
    def rises(self) -> bool:
        """Whether no row lowers it."""
        return True

    @property
    def step(self) -> Fraction:
        """What its integers count in."""
        return Fraction(1)

    def result_shape(self, cells: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of what it gives in so many cells."""
        return cells

    def largest(self, rows: int) -> int:
        """A bound on its size in any cell, over so many rows."""
        return rows * self.magnitude

    def derive(self, rows: int, _cells: int) -> Sensitivity:
        """How far a person moves it who has at most so many rows, in so many cells."""
        return Sensitivity(l1=self.magnitude, monotone=self.rises).times(rows)

    def simulate(self, rows: int) -> int | list[int]:
        """What it gives of so many rows whose values all lie in the middle."""
        return rows


@dataclass(frozen=True)
class Rows(Scan):
    """How many rows: COUNT(*)."""

    tag: ClassVar[str] = "Rows"
    clips: ClassVar[bool] = True

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return ()


@dataclass(frozen=True)
class NonNull(Scan):
    """How many rows where an expression is not NULL: COUNT(expression)."""

    tag: ClassVar[str] = "Present"
    clips: ClassVar[bool] = True
    value: Expression

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.value,)


@hashed_once
@dataclass(frozen=True)
class Total(Scan):
    """The sum of an expression in steps of its grid, each value counted from `centre`."""

    tag: ClassVar[str] = "Total"
    clips: ClassVar[bool] = True
    adds_up: ClassVar[bool] = True
    value: Expression
    domain: Numbers
    centre: int = 0

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.value,)

    @property
    def step(self) -> Fraction:
        return self.domain.step

    @property
    def magnitude(self) -> int:
        """How far one row moves the sum at most; 1 where it never does, because no noise hides nothing."""
        return max(1, abs(self.domain.grid_lower - self.centre), abs(self.domain.grid_upper - self.centre))

    def simulate(self, rows: int) -> int:
        """The sum of so many rows whose values all lie in the middle."""
        return rows * (self.domain.middle - self.centre)

    @property
    def rises(self) -> bool:
        """Whether no row lowers the sum."""
        return self.domain.grid_lower >= self.centre


@dataclass(frozen=True)
class People(Scan):
    """How many different people: COUNT(DISTINCT person), of the one whom a LEFT JOIN may leave out if given."""

    tag: ClassVar[str] = "People"
    of_people: ClassVar[bool] = True
    different: ClassVar[bool] = True
    person: Column | None = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return ()

    def derive(self, rows: int, cells: int) -> Sensitivity:
        once = min(rows, cells)
        return Sensitivity(l1=once, l2_squared=once, linf=1, monotone=True)


@dataclass(frozen=True)
class Histogram(Scan):
    """How many rows hold each value of a grid, of which values are chosen at ranks: `shares` of all, ends included.

    It is read in two steps: how many rows are in each bucket of 2**shift values, and then of each value in `buckets`.
    """

    tag: ClassVar[str] = "Histogram"
    form: ClassVar[Form] = "histogram"
    value: Expression
    domain: Numbers
    shares: tuple[Fraction, ...]
    confidence: Fraction  # of the intervals that are chosen with them
    buckets: tuple[int, ...] | None = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.value,)

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
class DistinctValues(Scan):
    """How many different values there are, or one person has: COUNT(DISTINCT expression)."""

    tag: ClassVar[str] = "Different"
    different: ClassVar[bool] = True
    value: Expression

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.value,)

    def derive(self, rows: int, cells: int) -> Sensitivity:
        # Each row adds one value to one cell at most, and a cell holds no more of them than there can be.
        cell = int(min(rows, self.most))
        l1 = min(rows, cell * cells)
        return Sensitivity(l1, l1 * cell, cell, monotone=True)

    @property
    def most(self) -> float:
        """How many there can be, where that is declared."""
        match self.value.kind:
            case Text(values=tuple() as values):
                return len(values)
            case Boolean():
                return 2
        return inf


Own: TypeAlias = Rows | NonNull | Total | Average | OwnExtreme | OwnMedian | OwnSpread | OwnChoice | DistinctValues


@dataclass(frozen=True)
class SparseIntegers:
    """Those that are not 0, and their places: a table of a million cells has few of them."""

    shape: tuple[int, ...]
    places: NDArray[np.intp]
    values: Integers

    @classmethod
    def of(cls, exact: "Exact") -> "SparseIntegers":
        """The same integers without the zeros."""
        if isinstance(exact, SparseIntegers):
            return exact
        places = np.flatnonzero(exact)
        return cls(exact.shape, places, exact.ravel()[places])


Exact: TypeAlias = Integers | SparseIntegers


def spread(exact: Exact) -> Integers:
    """The same integers with all zeros, in their shape."""
    if not isinstance(exact, SparseIntegers):
        return exact
    found: Integers = np.zeros(exact.shape, dtype=exact.values.dtype)  # type: ignore[assignment]  # of the same type
    found.reshape(-1)[exact.places] = exact.values
    return found
