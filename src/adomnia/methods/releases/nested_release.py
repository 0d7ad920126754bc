"""Counts of a table by places that lie within each other, from noisy tables of every level of places.

The first columns are levels, coarse to fine; the others are counted at each place. Every level is measured with noise
of one variance, and every place of a level has as many below it as any other. Then least squares falls apart into
spaces that do not disturb each other: what places of a level differ in from their mean within one place of the level
above, each once for what cells differ in, and once for their sum. In each of them precisions of measurements add up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

_MOST_PAIRS = 2**22  # of groups and cells that are counted in one array


@dataclass(frozen=True)
class LevelTable:
    """What was measured of one level: the counts of all cells of its places, and of their sums if these were, too.

    Both have the precision (one over the variance) of their noise; that of sums is 0 where they were not measured.
    """

    level: int
    cells: Floats
    precision: float
    sums: Floats
    sum_precision: float = 0.0


@dataclass(frozen=True, eq=False)
class NestedRelease:
    """Least-squares counts of all cells, and the variance of the noise in each space of each level, root first.

    `contrasts` are of what cells differ in, `sums` of what they have in common.
    """

    tag: ClassVar[str] = "NestedRelease"
    values: Floats
    levels: int
    contrasts: tuple[float, ...]
    sums: tuple[float, ...]

    @classmethod
    def solve(cls, shape: Sequence[int], levels: int, tables: Sequence[LevelTable], total: int | None = None) -> Self:
        """The counts that are nearest to all that was measured, and add up to a public total if there is one."""
        cells, below = prod(shape[levels:]), [prod(shape[level:levels]) for level in range(levels + 1)]
        told = np.zeros((levels + 1, 2))
        gathered = np.zeros(tuple(shape))
        for each in tables:
            told[: each.level + 1] += below[each.level] * np.array(
                [each.precision, each.precision + cells * each.sum_precision]
            )
            gathered += _spread(each.precision * each.cells, each.level, shape, levels)
            gathered += each.sum_precision * _repeat(each.sums, len(shape))
        inverses = 1 / told
        if total is not None:
            inverses[0, 1] = 0.0
        values = _combine(gathered, levels, inverses)
        if total is not None:
            values += total / values.size
        return cls(values, levels, tuple(inverses[:, 0].tolist()), tuple(inverses[:, 1].tolist()))

    def covers(self, columns: Sequence[int]) -> bool:
        return all(0 <= column < self.values.ndim for column in columns)

    def table(self, columns: Sequence[int]) -> Floats:
        """The counts by some columns, in their own order."""
        others = tuple(column for column in range(self.values.ndim) if column not in columns)
        return np.asarray(self.values.sum(axis=others))

    def variance(self, columns: Sequence[int]) -> float:
        """That of the noise in a cell of the table by these columns: the same in each."""
        groups = np.full([self.values.shape[column] for column in columns], -1)
        groups[(0,) * groups.ndim] = 0
        return float(self.count(sorted(columns), groups, 1)[1][0])

    def count(self, columns: Sequence[int], groups: Places, number: int) -> tuple[Floats, ...]:
        if not self.covers(columns):
            raise ValueError(f"NestedRelease columns must be some of {self.values.ndim}, got {tuple(columns)}.")
        chosen = np.transpose(groups, np.argsort(columns)) if columns else np.asarray(groups)
        asked = _Groups(sorted(columns), chosen, number)
        values = asked.add(self.table(asked.columns))
        return values, self._vary(asked)

    def _vary(self, asked: "_Groups") -> Floats:
        """The squared length of groups in each space, times the variance there."""
        shape, levels = self.values.shape, self.levels
        before = np.zeros((2, asked.number))
        found = np.zeros(asked.number)
        for level in range(levels + 1):
            kept = [column for column in asked.columns if column < level or column >= levels]
            apart = asked.square(kept, shape)
            together = asked.square([column for column in kept if column < levels], shape)
            lengths = np.stack([apart - together, together])
            found += np.array([self.contrasts[level], self.sums[level]]) @ (lengths - before)
            before = lengths
        return np.maximum(found, 0.0)

    def to_plain(self) -> dict[str, Any]:
        return {
            "values": self.values,
            "levels": self.levels,
            "contrasts": list(self.contrasts),
            "sums": list(self.sums),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], sizes: Sequence[int]) -> Self:
        values, levels = np.asarray(plain["values"], dtype=np.float64), plain["levels"]
        variances = [tuple(map(float, plain[name])) for name in ("contrasts", "sums")]
        if values.shape != tuple(sizes) or type(levels) is not int or not 0 <= levels <= len(sizes):
            raise ValueError("NestedRelease must have a count for each cell, and levels among its columns, got others.")
        if {len(each) for each in variances} != {levels + 1}:
            raise ValueError("NestedRelease must have two variances for each level and the root, got others.")
        if not np.isfinite(values).all() or not np.isfinite(variances).all() or np.min(variances) < 0:
            raise ValueError("NestedRelease numbers must be finite, and variances not below zero, got others.")
        return cls(values, levels, *variances)


@dataclass(frozen=True)
class _Groups:
    """Groups of cells of the table by some columns: for each cell the place of its group, or -1."""

    columns: list[int]
    groups: Places
    number: int

    def add(self, values: Floats) -> Floats:
        """The sum of some values in every group."""
        inside = self.groups >= 0
        return np.bincount(self.groups[inside], values[inside], minlength=self.number).astype(np.float64)

    def square(self, kept: list[int], shape: tuple[int, ...]) -> Floats:
        """The squared length of each group's cells in the whole table, averaged over all columns that are not kept."""
        inside = np.flatnonzero(self.groups.ravel() >= 0)
        groups = self.groups.ravel()[inside].astype(np.int64)
        places = np.unravel_index(inside, self.groups.shape) if self.columns else ()
        owns, cells = np.zeros(len(inside), dtype=np.int64), 1
        for column, place in zip(self.columns, places, strict=True):
            if column in kept:
                owns, cells = owns * shape[column] + place, cells * shape[column]
        pairs = groups * cells + owns
        if self.number * cells <= _MOST_PAIRS:
            counts = np.bincount(pairs, minlength=self.number * cells).reshape(self.number, cells)
            squares = np.square(counts.astype(np.float64)).sum(axis=1)
        else:
            unique, counts = np.unique(pairs, return_counts=True)
            squares = np.bincount(unique // cells, np.square(counts.astype(np.float64)), minlength=self.number)
        averaged = prod(shape[column] for column in self.columns if column not in kept)
        others = prod(size for column, size in enumerate(shape) if column not in self.columns)
        return np.asarray(squares * others / averaged)


def _repeat(sums: Floats, dimensions: int) -> Floats:
    """An array by the first columns, with axes of one for all others."""
    return sums.reshape(*sums.shape, *[1] * (dimensions - sums.ndim))


def _spread(cells: Floats, level: int, shape: Sequence[int], levels: int) -> Floats:
    """A table of a level, with axes of one for the levels below."""
    return cells.reshape(*shape[:level], *[1] * (levels - level), *shape[levels:])


def _combine(gathered: Floats, levels: int, inverses: Floats) -> Floats:
    """The parts of all spaces, each times the variance in it."""
    found, before = np.zeros_like(gathered), np.zeros([1] * gathered.ndim)
    last = tuple(range(levels, gathered.ndim))
    for level in range(levels + 1):
        averages = gathered.mean(axis=tuple(range(level, levels)), keepdims=True)
        own, before = averages - before, averages
        together = own.mean(axis=last, keepdims=True)
        found += inverses[level, 0] * (own - together) + inverses[level, 1] * together
    return found
