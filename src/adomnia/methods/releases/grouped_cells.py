"""Groups of cells of a table: how many cells of each group have each of the values of some of its columns."""

from collections.abc import Iterator
from dataclasses import dataclass
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


def count_by_values(groups: Places, number: int) -> Iterator[CellCounts | CellTable]:
    """The counts by every set of axes but all of them together: of those a cell has one."""
    dense = groups.ndim and number * groups.size // min(groups.shape) <= _MOST_DENSE
    return _count_densely(groups, number) if dense else _count_sparsely(groups, number)


def _count_densely(groups: Places, number: int) -> Iterator[CellTable]:
    """Each from one with an axis more; those with all but one from the cells."""
    tables: dict[Axes, Floats] = {}
    for many in range(groups.ndim - 1, -1, -1):
        for axes in combinations(range(groups.ndim), many):
            wider = [each for each in tables if len(each) == many + 1 and set(axes) <= set(each)]
            tables[axes] = _add_along(tables, axes, wider) if wider else _tabulate(groups, axes, number)
            yield CellTable(axes, tables[axes])


def _add_along(tables: dict[Axes, Floats], axes: Axes, wider: list[Axes]) -> Floats:
    smallest = min(wider, key=lambda each: tables[each].size)
    (added,) = (place for place, axis in enumerate(smallest) if axis not in axes)
    return np.asarray(tables[smallest].sum(axis=added + 1))


def _tabulate(groups: Places, axes: Axes, number: int) -> Floats:
    sizes = [groups.shape[axis] for axis in axes]
    if number <= _FEW:
        others = tuple(axis for axis in range(groups.ndim) if axis not in axes)
        return np.stack([(groups == each).sum(axis=others, dtype=np.int32) for each in range(number)]).astype(float)
    # Cells of no group are the first line, and left out.
    found = np.bincount(_join(groups, axes).ravel(), minlength=(number + 1) * prod(sizes))
    return found.reshape(number + 1, *sizes)[1:].astype(np.float64)


def _join(groups: Places, axes: Axes) -> Places:
    """Of each cell one number that says which group it is in, from 1, and which values of some axes it has."""
    shape = [length if axis in axes else 1 for axis, length in enumerate(groups.shape)]
    width = prod(shape)
    joined: Places = groups * width + np.arange(width, 2 * width).reshape(shape)
    return joined


def _count_sparsely(groups: Places, number: int) -> Iterator[CellCounts]:
    for many in range(groups.ndim):
        for axes in combinations(range(groups.ndim), many):
            width = prod(groups.shape[axis] for axis in axes)
            joined = _join(groups, axes).ravel()
            found, counts = np.unique(joined[joined >= width], return_counts=True)
            yield CellCounts(axes, number, found // width - 1, found % width, counts.astype(np.float64))
