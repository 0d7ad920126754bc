"""What an engine counts and adds up: over all people, before noise, or over one person's own rows as they are."""

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import ClassVar, Literal, Self, TypeAlias

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
    counts: ClassVar[bool] = False  # whether it counts, and so is a number also where nothing is there

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What it looks at in a row."""
        return ()

    @property
    def grids(self) -> tuple[Numbers, ...]:
        """The numbers that it adds up or chooses from."""
        return ()

    @property
    def counted(self) -> Expression | None:
        """What it counts the values of that are not NULL, if it does that."""
        return None

    @property
    def centred(self) -> bool:
        """Whether it adds up distances from another number than zero."""
        return False

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
    def row(self) -> Sensitivity:
        """How far one row moves it."""
        return Sensitivity(l1=self.magnitude, monotone=self.rises)

    @property
    def usual_move(self) -> float | None:
        """How far a row is taken to move a number, where rows add up."""
        return None

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
        return self.row.times(rows)

    def simulate(self, rows: int) -> int | list[int]:
        """What it gives of so many rows whose values all lie in the middle."""
        return rows

    def spread_evenly(self, rows: Fraction) -> list[Fraction]:
        """What it gives of so many rows whose values are spread evenly over their bounds."""
        return [rows]

    def map_expressions(self, _change: Callable[[Expression], Expression]) -> Self:
        """The same of other expressions."""
        return self

    def own_domain(self, _rows: int) -> Numbers | None:
        """What it can be of a person who has from one to so many rows; None where that is what the values can be."""
        return None


@dataclass(frozen=True)
class OfValue(Scan):
    """An aggregate of the values of one expression."""

    value: Expression

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.value,)

    def map_expressions(self, change: Callable[[Expression], Expression]) -> Self:
        return replace(self, value=change(self.value))


@dataclass(frozen=True)
class Rows(Scan):
    """How many rows: COUNT(*)."""

    tag: ClassVar[str] = "Rows"
    clips: ClassVar[bool] = True
    counts: ClassVar[bool] = True

    @property
    def usual_move(self) -> float:
        return 1.0

    def own_domain(self, rows: int) -> Numbers:
        return Numbers.integers(1, rows)


@dataclass(frozen=True)
class NonNull(OfValue):
    """How many rows where an expression is not NULL: COUNT(expression)."""

    tag: ClassVar[str] = "Present"
    clips: ClassVar[bool] = True
    counts: ClassVar[bool] = True

    @property
    def counted(self) -> Expression:
        return self.value

    @property
    def usual_move(self) -> float:
        return 1.0

    def own_domain(self, rows: int) -> Numbers:
        return Numbers.integers(0, rows)


@hashed_once
@dataclass(frozen=True)
class Total(OfValue):
    """The sum of an expression in steps of its grid, each value counted from `centre`."""

    tag: ClassVar[str] = "Total"
    clips: ClassVar[bool] = True
    adds_up: ClassVar[bool] = True
    domain: Numbers
    centre: int = 0

    @property
    def grids(self) -> tuple[Numbers, ...]:
        return (self.domain,)

    @property
    def centred(self) -> bool:
        return self.centre != 0

    @property
    def step(self) -> Fraction:
        return self.domain.step

    @property
    def magnitude(self) -> int:
        """How far one row moves the sum at most; 1 where it never does, because no noise hides nothing."""
        return max(1, abs(self.domain.grid_lower - self.centre), abs(self.domain.grid_upper - self.centre))

    @property
    def usual_move(self) -> float:
        """Half of what it can."""
        return self.magnitude / 2

    def own_domain(self, rows: int) -> Numbers:
        low, high = self.domain.grid_lower, self.domain.grid_upper
        return Numbers(min(low, rows * low) * self.step, max(high, rows * high) * self.step, self.step)

    def simulate(self, rows: int) -> int:
        """The sum of so many rows whose values all lie in the middle."""
        return rows * (self.domain.middle - self.centre)

    def spread_evenly(self, rows: Fraction) -> list[Fraction]:
        return [rows * (Fraction(self.domain.grid_lower + self.domain.grid_upper, 2) - self.centre)]

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
    counts: ClassVar[bool] = True
    person: Column | None = None

    def derive(self, rows: int, cells: int) -> Sensitivity:
        once = min(rows, cells)
        return Sensitivity(l1=once, l2_squared=once, linf=1, monotone=True)


@dataclass(frozen=True)
class Histogram(OfValue):
    """How many rows hold each value of a grid, of which values are chosen at ranks: `shares` of all, ends included.

    It is read in two steps: how many rows are in each bucket of 2**shift values, and then of each value in `buckets`.
    """

    tag: ClassVar[str] = "Histogram"
    form: ClassVar[Form] = "histogram"
    domain: Numbers
    shares: tuple[Fraction, ...]
    confidence: Fraction  # of the intervals that are chosen with them
    buckets: tuple[int, ...] | None = None

    @property
    def grids(self) -> tuple[Numbers, ...]:
        return (self.domain,)

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
class OwnScan:
    """What is said of one person's own values alone: nothing that is larger because there are more of them."""

    counts: ClassVar[bool] = False
    value: Expression

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What it looks at in a row."""
        return (self.value,)

    def own_domain(self, _rows: int) -> None:
        """It is as its values are."""


@dataclass(frozen=True)
class Average(OwnScan):
    """The mean of one person's own values, from the exact sum of their grid integers."""

    tag: ClassVar[str] = "Average"
    domain: Numbers


@dataclass(frozen=True)
class OwnExtreme(OwnScan):
    """The least or the greatest of one person's own values; of conditions, false being less than true: all, or any."""

    tag: ClassVar[str] = "Extreme"
    greatest: bool


@dataclass(frozen=True)
class OwnMedian(OwnScan):
    """The middle of one person's own numbers, or halfway between the two in the middle: no order of rows changes it."""

    tag: ClassVar[str] = "Median"


@dataclass(frozen=True)
class OwnSpread(OwnScan):
    """The variance of one person's own values, or its root, from exact sums of their grid integers and the squares.

    Each value counts from the middle of its domain, so that the squares stay small. `sample` divides by one row less.
    """

    tag: ClassVar[str] = "Spread"
    domain: Numbers
    root: bool
    sample: bool


@dataclass(frozen=True)
class OwnChoice(OwnScan):
    """One person's own value in the row where another is least or greatest; of several such rows the least or greatest.

    Rows where either is missing do not count, and no order of rows changes it.
    """

    tag: ClassVar[str] = "Choice"
    by: Expression
    greatest: bool

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return self.value, self.by


@dataclass(frozen=True)
class DistinctValues(OfValue):
    """How many different values there are, or one person has: COUNT(DISTINCT expression)."""

    tag: ClassVar[str] = "Different"
    different: ClassVar[bool] = True
    counts: ClassVar[bool] = True

    def own_domain(self, rows: int) -> Numbers:
        return Numbers.integers(0, rows)

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


Additive: TypeAlias = Rows | NonNull | Total  # to which every row adds something by itself
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
