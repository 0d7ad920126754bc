"""Counts of a table by places that lie within each other, from noisy tables of every level of places.

The precisions of all measurements make the inverse of a covariance. A measured sum of places lowers the covariance of
these by one product of a vector with itself (Sherman & Morrison 1950), so that all of it is a number for each place of
the finest level, and one such vector for each place above, which is nowhere but below that place.

What cells of a place differ in and what they add up to are measured apart from each other: there are two covariances.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.geography import Geography
from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

_MOST_PAIRS = 2**22  # of groups and nodes that are added up in one array


@dataclass(frozen=True)
class LevelTable:
    """What was measured of one level: the counts of all cells of its nodes, and their sums if these were, too.

    Both have the precision (one over the variance) of their noise; that of sums is 0 where they were not measured.
    """

    level: int
    cells: Floats  # one line a node
    precision: float
    sums: Floats
    sum_precision: float = 0.0


@dataclass(frozen=True)
class TreeCovariance:
    """The covariance of places of the finest level, of which sums were measured with such precisions, root first.

    An infinite precision is that of a sum which is known.
    """

    geography: Geography
    precisions: tuple[float, ...]

    @cached_property
    def _steps(self) -> list[tuple[Places, Floats, Floats]]:
        """From the level above the finest to the root: the node of each place, a weight of each node, the vectors."""
        *above, own = self.precisions
        vector: Floats = np.full(self.geography.leaves, 1 / own)
        found: list[tuple[Places, Floats, Floats]] = []
        for level in range(len(above) - 1, -1, -1):
            nodes = self.geography.nodes[level]
            spread = np.bincount(nodes, vector, minlength=self.geography.count_nodes(level))
            told = above[level]
            weights = np.asarray(1 / spread if told == inf else told / (1 + told * spread), dtype=np.float64)
            found.append((nodes, weights, vector))
            vector = np.asarray(vector * (1 - weights * spread)[nodes])
        return found

    def apply(self, values: Floats) -> Floats:
        """The covariance times each column of an array with one line a place."""
        found = values / self.precisions[-1]
        for nodes, weights, vector in self._steps:
            sums = add_nodes(nodes, vector[:, None] * values, len(weights))
            found -= vector[:, None] * (weights[:, None] * sums)[nodes]
        return np.asarray(found)

    def vary(self, members: "Members") -> Floats:
        """The variance of the sum of each group."""
        found = members.square_cells() / self.precisions[-1]
        for nodes, weights, vector in self._steps:
            found = found - members.square_nodes(nodes, vector, weights)
        return np.asarray(found)


@dataclass(frozen=True)
class Members:
    """Which cells are in which group: of each that is in one its place, its column, its group and its weight."""

    places: Places
    columns: Places
    groups: Places
    weights: Floats
    number: int
    width: int

    def square_cells(self) -> Floats:
        """Of every group the squares of the weights of its cells, added up."""
        return np.asarray(np.bincount(self.groups, np.square(self.weights), minlength=self.number))

    def square_nodes(self, nodes: Places, vector: Floats, weights: Floats) -> Floats:
        """Of every group the squares of the sums of a vector over each node and column, weighted, and added up."""
        width = len(weights) * self.width
        pairs = self.groups * width + nodes[self.places] * self.width + self.columns
        unique, sums = _add_pairs(pairs, self.weights * vector[self.places], self.number * width)
        squares = weights[unique % width // self.width] * np.square(sums)
        return np.asarray(np.bincount(unique // width, squares, minlength=self.number))

    def join_columns(self) -> "Members":
        """The same, not told apart by columns: of each place one cell, with the weights of all."""
        places = int(self.places.max(initial=0)) + 1
        unique, weights = _add_pairs(self.groups * places + self.places, self.weights, self.number * places)
        return Members(unique % places, np.zeros_like(unique), unique // places, weights, self.number, 1)


def _add_pairs(pairs: Places, values: Floats, number: int) -> tuple[Places, Floats]:
    """The pairs that there are, each once, and the sums of their values."""
    if number <= _MOST_PAIRS:
        sums = np.bincount(pairs, values, minlength=number).astype(np.float64)
        there = np.flatnonzero(sums)
        return there, sums[there]
    unique, inverse = np.unique(pairs, return_inverse=True)
    return unique, np.bincount(inverse, values).astype(np.float64)


@dataclass(frozen=True, eq=False)
class NestedRelease:
    """Least-squares counts of all cells, one line a finest place, and the precisions of each level, root first.

    `contrasts` are those of what cells differ in, `sums` those of what they have in common.
    """

    tag: ClassVar[str] = "NestedRelease"
    geography: Geography
    shape: tuple[int, ...]  # of the table of a place
    values: Floats
    contrasts: tuple[float, ...]
    sums: tuple[float, ...]

    @classmethod
    def solve(
        cls, geography: Geography, shape: tuple[int, ...], tables: Sequence[LevelTable], total: int | None = None
    ) -> Self:
        """The counts that are nearest to all that was measured, and add up to a public total if there is one."""
        cells, levels = prod(shape), len(geography.sizes) + 1
        precisions = np.zeros((2, levels))
        gathered = np.zeros((geography.leaves, cells))
        for each in tables:
            precisions[:, each.level] = each.precision, each.precision + cells * each.sum_precision
            told = each.precision * each.cells + each.sum_precision * each.sums[:, None]
            gathered += told[geography.nodes[each.level]]
        if total is not None:
            precisions[1, 0] = inf
        contrasts, sums = (tuple(each.tolist()) for each in precisions)
        return cls(geography, shape, _solve(geography, (contrasts, sums), gathered, total), contrasts, sums)

    def covers(self, columns: Sequence[int]) -> bool:
        return all(0 <= column < len(self.sizes) for column in columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each column, levels first."""
        return (*self.geography.sizes, *self.shape)

    def add_level(self, level: int) -> Floats:
        """The counts of each node of a level, one line a node."""
        return add_nodes(self.geography.nodes[level], self.values, self.geography.count_nodes(level))

    def vary_level(self, level: int, *, summed: bool) -> Floats:
        """The variances of the noise in each node's sum, or in any one of its cells."""
        nodes, leaves = self.geography.nodes[level], np.arange(self.geography.leaves)
        many = self.geography.count_nodes(level)
        apart, together = (
            each.vary(Members(leaves, np.zeros_like(leaves), nodes, np.ones(len(leaves)), many, 1))
            for each in self._covariances
        )
        cells = self.values.shape[1]
        return np.asarray(together * cells if summed else apart * (1 - 1 / cells) + together / cells)

    def count(self, columns: Sequence[int], groups: Places, number: int) -> tuple[Floats, ...]:
        return self.add(columns, groups, number, np.ones(np.shape(groups)))

    def add(self, columns: Sequence[int], groups: Places, number: int, weights: Floats) -> tuple[Floats, ...]:
        """The same where rows in each cell count for so much."""
        if not self.covers(columns):
            raise ValueError(f"NestedRelease columns must be some of {len(self.sizes)}, got {tuple(columns)}.")
        chosen, counted = (self._spread(columns, np.asarray(each)) for each in (groups, weights))
        leaves, cells = np.nonzero(chosen >= 0)
        members = Members(
            leaves, cells, chosen[leaves, cells].astype(np.int64), counted[leaves, cells], number, self.values.shape[1]
        )
        values = np.bincount(members.groups, members.weights * self.values[leaves, cells], minlength=number)
        contrasts, sums = self._covariances
        joined = members.join_columns()
        variances = contrasts.vary(members) + (sums.vary(joined) - contrasts.vary(joined)) / members.width
        return values.astype(np.float64), np.maximum(variances, 0.0)

    def _spread(self, columns: Sequence[int], table: NDArray[Any]) -> NDArray[Any]:
        """What a table by some columns has for each cell of each finest place."""
        cells = np.indices(self.shape).reshape(len(self.shape), 1, self.values.shape[1])
        every = (*self.geography.coordinates[:, :, None], *cells)
        chosen = table[tuple(every[column] for column in columns)] if columns else table
        return np.broadcast_to(chosen, self.values.shape)

    @cached_property
    def _covariances(self) -> tuple[TreeCovariance, TreeCovariance]:
        return TreeCovariance(self.geography, self.contrasts), TreeCovariance(self.geography, self.sums)

    def to_plain(self) -> dict[str, Any]:
        return {
            "above": [list(each) for each in self.geography.above],
            "levels": len(self.geography.sizes),
            "values": self.values,
            "contrasts": list(self.contrasts),
            "sums": [None if each == inf else each for each in self.sums],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], sizes: Sequence[int]) -> Self:
        levels, values = plain["levels"], np.asarray(plain["values"], dtype=np.float64)
        if type(levels) is not int or not 1 <= levels <= len(sizes):
            raise ValueError(f"NestedRelease levels must be some of {len(sizes)} columns, got others.")
        geography = Geography(tuple(sizes[:levels]), tuple(tuple(each) for each in plain["above"]))
        _check_geography(geography)
        contrasts = tuple(map(float, plain["contrasts"]))
        sums = tuple(inf if each is None else float(each) for each in plain["sums"])
        if len(contrasts) != levels + 1 or len(sums) != levels + 1 or not _are_precisions(contrasts, sums):
            raise ValueError("NestedRelease must have a precision for each level, at the finest above 0, got others.")
        shape = tuple(sizes[levels:])
        if values.shape != (geography.leaves, prod(shape)) or not np.isfinite(values).all():
            raise ValueError("NestedRelease must have a finite count for each cell of each place, got others.")
        return cls(geography, shape, values, contrasts, sums)


def add_nodes(nodes: Places, values: Floats, number: int) -> Floats:
    """The sums of all lines of each node."""
    found = np.zeros((number, values.shape[1]))
    np.add.at(found, nodes, values)
    return found


def _solve(
    geography: Geography, precisions: tuple[tuple[float, ...], ...], gathered: Floats, total: int | None
) -> Floats:
    """Both covariances times the precise sums of what was measured, each on its own part of them."""
    contrasts, sums = (TreeCovariance(geography, each) for each in precisions)
    mean = gathered.mean(axis=1, keepdims=True)
    found = contrasts.apply(gathered - mean) + sums.apply(mean)
    if total is not None:
        # What is known is spread as least squares would: by how little is known of each place beside it.
        free = TreeCovariance(geography, (0.0, *precisions[1][1:])).apply(np.ones((geography.leaves, 1)))
        found += free / free.sum() * total / gathered.shape[1]
    return np.asarray(found)


def _are_precisions(contrasts: Sequence[float], sums: Sequence[float]) -> bool:
    """Finite but for that of a known total, not below 0, and of the finest level above it."""
    finite = np.isfinite([*contrasts, *sums[1:]]).all() and not np.isnan(sums[0])
    return bool(finite) and min(*contrasts, *sums) >= 0 and min(contrasts[-1], sums[-1]) > 0


def _check_geography(geography: Geography) -> None:
    if geography.above and len(geography.above) != len(geography.sizes) - 1:
        raise ValueError("NestedRelease levels must each lie in the one above, got others.")
    for above, size, inside in zip(geography.sizes, geography.sizes[1:], geography.above, strict=False):
        if len(inside) != size or not all(type(each) is int and 0 <= each < above for each in inside):
            raise ValueError("NestedRelease places must each lie in one of the level above, got others.")
