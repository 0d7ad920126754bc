"""Groups of cells of a table: how many cells of each group have each of the values of some of its columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import ClassVar, TypeAlias

import numpy as np

from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

Axes: TypeAlias = tuple[int, ...]

_FEW = 12  # groups, of which each is looked at by itself
_MOST_DENSE = 2**23  # cells of tables by groups; beyond it, values that a group has no cells of are left out


@dataclass(frozen=True)
class CellCounts:
    """By the values of some axes, how many cells a group has there: lines of group, place of the values, and number."""

    tag: ClassVar[str] = "CellCounts"
    axes: Axes
    number: int  # of groups
    groups: Places
    places: Places
    counts: Floats

    def square(self) -> Floats:
        """Of each group, the squared numbers added up."""
        return self._add(self.counts**2)

    def weigh(self, weights: Floats) -> Floats:
        """Of each group, its cells added up by what their values weigh."""
        return self._add(self.counts * weights.ravel()[self.places])

    def _add(self, terms: Floats) -> Floats:
        return np.asarray(np.bincount(self.groups, weights=terms, minlength=self.number), np.float64)


@dataclass(frozen=True)
class CellTable:
    """The same as a table with a line for each group and a column for each of the values."""

    tag: ClassVar[str] = "CellTable"
    axes: Axes
    table: Floats

    def square(self) -> Floats:
        """Of each group, the squared numbers added up."""
        flat = self.table.reshape(len(self.table), -1)
        return np.asarray(np.einsum("gt,gt->g", flat, flat), np.float64)

    def weigh(self, weights: Floats) -> Floats:
        """Of each group, its cells added up by what their values weigh."""
        flat = self.table.reshape(len(self.table), -1)
        return np.asarray(np.einsum("gt,t->g", flat, weights.ravel()), np.float64)


@dataclass(frozen=True)
class GroupedCells:
    """Of every cell of a table its group, or -1, and what it counts for: one, where there are no `weights`."""

    tag: ClassVar[str] = "GroupedCells"
    groups: Places
    number: int  # of groups
    weights: Floats | None = None

    @cached_property
    def are_alone(self) -> bool:
        """Whether no group has more than one cell."""
        return not self.number or int(np.bincount(self._lines, minlength=2)[1:].max()) <= 1

    def square(self) -> Floats:
        """Of each group, the squared weights of its cells added up."""
        return self._add(None if self.weights is None else self.weights**2)

    def weigh(self, table: Floats) -> Floats:
        """Of each group, the numbers of its cells in that table, by their weights."""
        return self._add(table if self.weights is None else table * self.weights)

    def count_by_values(self) -> Iterator[CellCounts | CellTable]:
        """The weights by every set of axes but all of them together: there a cell is by itself."""
        shape = self.groups.shape
        dense = shape and self.number * self.groups.size // min(shape) <= _MOST_DENSE
        return self._count_densely() if dense else self._count_sparsely()

    @cached_property
    def _lines(self) -> Places:
        """Groups from 1: the first line is of cells that are in none, and is left out."""
        return self.groups.ravel() + 1

    def _add(self, terms: Floats | None) -> Floats:
        flat = None if terms is None else terms.ravel()
        return np.bincount(self._lines, weights=flat, minlength=self.number + 1)[1:].astype(np.float64)

    def _count_densely(self) -> Iterator[CellTable]:
        """Each from one with an axis more; those with all but one from the cells."""
        tables: dict[Axes, Floats] = {}
        for many in range(self.groups.ndim - 1, -1, -1):
            for axes in combinations(range(self.groups.ndim), many):
                wider = [each for each in tables if len(each) == many + 1 and set(axes) <= set(each)]
                tables[axes] = _add_along(tables, axes, wider) if wider else self._tabulate(axes)
                yield CellTable(axes, tables[axes])

    def _tabulate(self, axes: Axes) -> Floats:
        sizes = [self.groups.shape[axis] for axis in axes]
        if self.number <= _FEW:
            others = tuple(axis for axis in range(self.groups.ndim) if axis not in axes)
            return np.stack([self._add_over(others, group) for group in range(self.number)])
        flat = None if self.weights is None else self.weights.ravel()
        found = np.bincount(self._join(axes).ravel(), weights=flat, minlength=(self.number + 1) * prod(sizes))
        return found.reshape(self.number + 1, *sizes)[1:].astype(np.float64)

    def _add_over(self, axes: Axes, group: int) -> Floats:
        inside = self.groups == group
        if self.weights is None:
            return np.asarray(inside.sum(axis=axes, dtype=np.int32), np.float64)
        return np.asarray(np.where(inside, self.weights, 0.0).sum(axis=axes))

    def _join(self, axes: Axes) -> Places:
        """Of each cell one number that says which line it is in, and which values of some axes it has."""
        shape = [length if axis in axes else 1 for axis, length in enumerate(self.groups.shape)]
        width = prod(shape)
        joined: Places = self.groups * width + np.arange(width, 2 * width).reshape(shape)
        return joined

    def _count_sparsely(self) -> Iterator[CellCounts]:
        for many in range(self.groups.ndim):
            for axes in combinations(range(self.groups.ndim), many):
                width = prod(self.groups.shape[axis] for axis in axes)
                joined = self._join(axes).ravel()
                inside = joined >= width
                found, places = np.unique(joined[inside], return_inverse=True)
                flat = None if self.weights is None else self.weights.ravel()[inside]
                counts = np.bincount(places, weights=flat).astype(np.float64)
                yield CellCounts(axes, self.number, found // width - 1, found % width, counts)


def _add_along(tables: dict[Axes, Floats], axes: Axes, wider: list[Axes]) -> Floats:
    smallest = min(wider, key=lambda each: tables[each].size)
    (added,) = (place for place, axis in enumerate(smallest) if axis not in axes)
    return np.asarray(tables[smallest].sum(axis=added + 1))
