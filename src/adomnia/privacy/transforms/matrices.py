"""Public matrices of integers that are applied to exact counts: marginals, ranges, differences.

One row of data moves one count by one, so it moves the result by one column. Proof: docs/proofs/vectors.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from math import prod
from typing import Any, ClassVar, TypeAlias

import numpy as np

from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.keys import AnyKey, count_cells
from adomnia.privacy.scans import Exact, Integers, Rows, spread
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.contract import Inner, Transform

MOST_CELLS_COMBINED = 2**20
MOST_COMBINATIONS = 2**20
MOST_PRODUCTS = 2**24  # that applying one factor takes: 128 MiB of integers
LARGEST_PRODUCT = 2**78  # as of any number that is added up over rows

_Norms: TypeAlias = tuple[int, int]  # L1 and squared L2


@hashed_once
@dataclass(frozen=True)
class Matrix:
    """Rows of (column, coefficient), in the order of columns, without zeros; no row is empty.

    >>> Matrix.dense([[0, 2], [1, 1]])
    Matrix(columns=2, rows=(((1, 2),), ((0, 1), (1, 1))))
    """

    tag: ClassVar[str] = "Matrix"
    columns: int
    rows: tuple[tuple[tuple[int, int], ...], ...]

    def __post_init__(self) -> None:
        if any(type(number) is not int for row in self.rows for pair in row for number in pair):
            raise TypeError("Matrix rows must be of integers, got others.")
        if not self.rows or not all(self.rows):
            raise ValueError("Matrix rows must have an entry each, got one without.")
        if any(coefficient == 0 for row in self.rows for _, coefficient in row):
            raise ValueError("Matrix coefficients must not be 0, got one that is.")
        if any(first >= second for row in self.rows for (first, _), (second, _) in pairwise(row)):
            raise ValueError("Matrix rows must be in the order of their columns, got one that is not.")
        if any(not 0 <= row[0][0] <= row[-1][0] < self.columns for row in self.rows):
            raise ValueError(f"Matrix columns must number {self.columns}, got an entry beyond.")

    @classmethod
    def dense(cls, rows: Sequence[Sequence[int]]) -> "Matrix":
        """The matrix of all its numbers, zeros included."""
        kept = (tuple((column, each) for column, each in enumerate(row) if each) for row in rows)
        return cls(max(map(len, rows)), tuple(kept))

    @classmethod
    def identity(cls, size: int) -> "Matrix":
        """Every count by itself."""
        return cls(size, tuple(((place, 1),) for place in range(size)))

    @classmethod
    def total(cls, size: int) -> "Matrix":
        """All counts together."""
        return cls(size, (tuple((place, 1) for place in range(size)),))

    @cached_property
    def largest(self) -> int:
        """The size of the largest entry."""
        return max(abs(coefficient) for row in self.rows for _, coefficient in row)

    @cached_property
    def norms(self) -> tuple[_Norms, ...]:
        """The L1 and the squared L2 norm of every column."""
        sums: defaultdict[int, int] = defaultdict(int)
        squares: defaultdict[int, int] = defaultdict(int)
        for row in self.rows:
            for column, coefficient in row:
                sums[column] += abs(coefficient)
                squares[column] += coefficient**2
        return tuple((sums[column], squares[column]) for column in range(self.columns))


@dataclass(frozen=True)
class Combination(Transform):
    """Integer combinations of how many rows there are in each cell: blocks of them, one below the other.

    A block is the Kronecker product of its factors, whose columns together are all cells in their order: one factor for
    each key makes a marginal of small matrices, one for all cells is any matrix. All blocks divide the cells alike.
    """

    tag: ClassVar[str] = "Combination"
    blocks: tuple[tuple[Matrix, ...], ...]

    def __post_init__(self) -> None:
        if len({tuple(factor.columns for factor in block) for block in self.blocks}) != 1:
            raise ValueError("Combination blocks must have factors of the same numbers of columns, got others.")
        if self.columns > MOST_CELLS_COMBINED or self.results > MOST_COMBINATIONS:
            raise ValueError(f"Combination must be of at most 2**20 cells and results, got {self.columns}.")
        if max(map(_largest_step, self.blocks)) > MOST_PRODUCTS:
            raise ValueError(f"Combination blocks must take at most {MOST_PRODUCTS:,} products a factor, got more.")
        if self.magnitude > LARGEST_PRODUCT:
            raise ValueError(f"Combination coefficients must stay within 2**78, got {self.magnitude}.")

    def check(self, keys: tuple[AnyKey, ...]) -> None:
        if self.columns != count_cells(keys):
            raise ValueError(f"Query cells must number {self.columns}, as combined, got {count_cells(keys)}.")

    def inner(self, keys: tuple[AnyKey, ...]) -> tuple[Inner, ...]:
        return ((keys, Rows()),)

    @property
    def columns(self) -> int:
        """The number of cells that are combined."""
        return prod(factor.columns for factor in self.blocks[0])

    @property
    def results(self) -> int:
        """The number of combinations."""
        return sum(prod(len(factor.rows) for factor in block) for block in self.blocks)

    @cached_property
    def magnitude(self) -> int:
        """The size of the largest coefficient of all."""
        return max(prod(factor.largest for factor in block) for block in self.blocks)

    def largest(self, rows: int) -> int:
        return rows * self.magnitude

    def derive(self, inner: Iterable[Sensitivity]) -> Sensitivity:
        (counts,) = inner
        found = self.row.times(int(counts.l1))
        return replace(found, monotone=found.monotone and counts.monotone)

    def apply(self, exact: Sequence[Exact], largest: int) -> Integers:
        (counted,) = exact
        # By the public bound alone: the size of what was counted must not decide how it is computed.
        counts: Integers = spread(counted).astype(np.int64 if largest < 2**63 else object)
        return np.concatenate([_apply_block(block, counts) for block in self.blocks])

    @cached_property
    def row(self) -> Sensitivity:
        """How far one row of data moves all results: by the column of its cell, in any norm the worst of them."""
        l1, squares = (max(self._columns(norm)) for norm in (0, 1))
        rises = all(each > 0 for block in self.blocks for factor in block for row in factor.rows for _, each in row)
        return Sensitivity(l1, squares, self.magnitude, rises)

    def simulate(self, rows: int) -> list[int]:
        """The results where every cell has so many rows."""
        sums = ([[sum(each for _, each in row) for row in factor.rows] for factor in block] for block in self.blocks)
        return [rows * prod(chosen) for block in sums for chosen in product(*block)]

    def spread_evenly(self, rows: Fraction) -> list[Fraction]:
        return [Fraction(each) for each in self.simulate(round(rows))]

    def _columns(self, norm: int) -> Iterator[int]:
        """That norm of every column, each different one at least once.

        The norm of a column of a Kronecker product is the product of the factors' own; blocks add up.
        """
        different = [
            {tuple(own[norm] for own in columns) for columns in zip(*(factor.norms for factor in factors), strict=True)}
            for factors in zip(*self.blocks, strict=True)
        ]
        for parts in product(*different):
            yield sum(map(prod, zip(*parts, strict=True)))


def _largest_step(block: tuple[Matrix, ...]) -> int:
    """How many products the largest factor takes, which are applied one after the other to what those before left."""
    sizes = [factor.columns for factor in block]
    steps = []
    for place, factor in enumerate(block):
        entries = sum(map(len, factor.rows))
        steps.append(entries * prod(sizes[:place]) * prod(sizes[place + 1 :]))
        sizes[place] = len(factor.rows)
    return max(steps)


def _apply_block(factors: tuple[Matrix, ...], counts: Integers) -> Integers:
    """The Kronecker product of factors times all counts: one factor after the other, each along its own axis."""
    values = counts.reshape([factor.columns for factor in factors])
    for factor in factors:  # what was the first axis becomes the last, so that all are in their order at the end
        values = np.moveaxis(_apply(factor, values), 0, -1)
    return values.ravel()


def _apply(factor: Matrix, values: Integers) -> Integers:
    """Sums of slices of the first axis."""
    entries = [entry for row in factor.rows for entry in row]
    columns = [column for column, _ in entries]
    coefficients = np.array([coefficient for _, coefficient in entries], dtype=values.dtype)
    starts = np.cumsum([0, *map(len, factor.rows[:-1])])
    taken: Any = values[columns] * coefficients.reshape(-1, *[1] * (values.ndim - 1))  # type: ignore[operator]
    added: Integers = np.add.reduceat(taken, starts, axis=0)
    return added
