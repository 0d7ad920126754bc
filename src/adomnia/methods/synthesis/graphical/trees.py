"""Junction trees: cliques of columns, joined so that one has whatever is measured; and tables by their columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from string import ascii_letters
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

Columns: TypeAlias = tuple[int, ...]
Table: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class JunctionTree:
    """Cliques of columns in an order in which each but the first hangs on one that stands before it.

    `edges` are pairs of places, parent and child. What a clique shares with all that stand before it, it shares with
    its parent. Parts that nothing joins hang on each other by an edge that shares no column: they are independent.
    """

    tag: ClassVar[str] = "JunctionTree"
    sizes: tuple[int, ...]
    cliques: tuple[Columns, ...]
    edges: tuple[tuple[int, int], ...]

    @cached_property
    def cells(self) -> int:
        """How many cells the tables of its cliques have together."""
        return sum(self.count(clique) for clique in self.cliques)

    @cached_property
    def separators(self) -> tuple[Columns, ...]:
        """The columns that the cliques of each edge share."""
        return tuple(_shared(self.cliques[parent], self.cliques[child]) for parent, child in self.edges)

    def count(self, columns: Sequence[int]) -> int:
        """How many cells the table of these columns has."""
        return prod(self.sizes[column] for column in columns)

    def shape(self, columns: Sequence[int]) -> tuple[int, ...]:
        """The number of values of each of these columns."""
        return tuple(self.sizes[column] for column in columns)

    def cover(self, columns: Sequence[int]) -> int | None:
        """The place of the smallest clique that has all these columns, if one has."""
        covering = [place for place, clique in enumerate(self.cliques) if set(columns) <= set(clique)]
        return min(covering, key=lambda place: self.count(self.cliques[place]), default=None)


def build_tree(sizes: Sequence[int], cliques: Sequence[Columns]) -> JunctionTree:
    """A junction tree of few cells whose cliques hold all of these, and every column.

    >>> build_tree([2, 3, 4], [(0, 1), (1, 2)]).cliques
    ((0, 1), (1, 2))
    """
    if not sizes or min(sizes) < 1:
        raise ValueError(f"JunctionTree sizes must be at least one, each of at least 1, got {tuple(sizes)}.")
    maximal = sorted(_columns(mask) for mask in _triangulate(tuple(sizes), cliques)[1])
    order, edges = _span(maximal)
    return JunctionTree(tuple(sizes), tuple(maximal[place] for place in order), edges)


def count_cells(sizes: Sequence[int], cliques: Sequence[Columns]) -> int:
    """How many cells the junction tree of these cliques has, without building it.

    >>> count_cells([2, 3, 4], [(0, 1), (1, 2)])
    18
    """
    return _triangulate(tuple(sizes), cliques)[0]


def _triangulate(sizes: tuple[int, ...], cliques: Sequence[Columns]) -> tuple[int, list[int]]:
    """Cells and maximal cliques, as bits, that two rules of elimination lead to: the fewer cells of both."""
    neighbours = _join(len(sizes), cliques)
    found = [_eliminate(sizes, list(neighbours), by_fill=by_fill) for by_fill in (False, True)]
    return min(found, key=lambda pair: pair[0])


def _join(number: int, cliques: Sequence[Columns]) -> list[int]:
    """The columns that share a clique with each column, itself among them, as bits."""
    neighbours = [1 << column for column in range(number)]
    for clique in cliques:
        mask = sum(1 << column for column in clique)
        for column in clique:
            neighbours[column] |= mask
    return neighbours


def _eliminate(sizes: tuple[int, ...], neighbours: list[int], *, by_fill: bool) -> tuple[int, list[int]]:
    """Cells and maximal cliques when the column goes first that makes the smallest clique, or joins the fewest pairs.

    Ties go to the smaller clique, then to the first column: the same tables always give the same tree.
    """
    left = set(range(len(sizes)))
    keys = {column: _key(sizes, neighbours, column, by_fill=by_fill) for column in left}
    cells, maximal = 0, list[int]()
    while left:
        chosen = min(left, key=keys.__getitem__)
        clique = neighbours[chosen]
        if all(clique & ~other for other in maximal):
            maximal.append(clique)
            cells += keys[chosen][1]
        left.remove(chosen)
        touched = _columns(clique & ~(1 << chosen))
        if len(touched) == len(left):
            break  # all that are left are in this clique
        for column in touched:
            neighbours[column] = (neighbours[column] | clique) & ~(1 << chosen)
        stale = {near for column in touched for near in _columns(neighbours[column])} if by_fill else touched
        keys.update((column, _key(sizes, neighbours, column, by_fill=by_fill)) for column in stale)
    return cells, maximal


def _key(sizes: tuple[int, ...], neighbours: list[int], column: int, *, by_fill: bool) -> tuple[int, int, int]:
    near = neighbours[column]
    cells = _count(sizes, near)
    fill = sum((near & ~neighbours[other]).bit_count() for other in _columns(near)) if by_fill else 0
    return fill, cells, column


@lru_cache(maxsize=2**14)
def _columns(mask: int) -> Columns:
    return tuple(column for column in range(mask.bit_length()) if mask >> column & 1)


@lru_cache(maxsize=2**14)
def _count(sizes: tuple[int, ...], mask: int) -> int:
    return prod(sizes[column] for column in _columns(mask))


def _span(cliques: Sequence[Columns]) -> tuple[list[int], tuple[tuple[int, int], ...]]:
    """The order in which cliques join a spanning tree that shares the most columns, and its edges in that order."""
    order, edges = [0], list[tuple[int, int]]()
    best = {place: (len(_shared(cliques[0], cliques[place])), 0) for place in range(1, len(cliques))}
    while best:
        child = max(best, key=lambda place: (best[place][0], -place))
        edges.append((best.pop(child)[1], len(order)))
        for place, (weight, _) in best.items():
            shared = len(_shared(cliques[child], cliques[place]))
            if shared > weight:
                best[place] = (shared, len(order))
        order.append(child)
    return order, tuple(edges)


def _shared(one: Columns, other: Columns) -> Columns:
    return tuple(column for column in one if column in other)


@dataclass(frozen=True)
class Projection:
    """From tables of some sorted columns onto some of these columns, and back."""

    sums: str  # for einsum, which is several times as fast as a sum over axes that are not the last ones
    dropped: tuple[int, ...]
    shape: tuple[int, ...]

    @classmethod
    def between(cls, sizes: Sequence[int], columns: Columns, kept: Columns) -> "Projection":
        """The projection of tables with these columns onto those that are kept."""
        letters = dict(zip(columns, ascii_letters, strict=False))
        sums = f"{''.join(letters.values())}->{''.join(letters[column] for column in kept)}"
        dropped = tuple(axis for axis, column in enumerate(columns) if column not in kept)
        return cls(sums, dropped, tuple(sizes[column] if column in kept else 1 for column in columns))

    def collapse(self, table: Table) -> Table:
        """The sums over all columns but the kept ones."""
        return np.einsum(self.sums, table) if self.dropped else table

    def peak(self, table: Table) -> Table:
        """The largest values over all columns but the kept ones."""
        return np.asarray(np.maximum.reduce(table, axis=self.dropped)) if self.dropped else table

    def spread(self, table: Table) -> Table:
        """A table of the kept columns with an axis of length 1 for each of the others."""
        return table.reshape(self.shape)


def spread(table: Table, columns: Columns, onto: Columns) -> Table:
    """A table of sorted columns with an axis of length 1 for each of the others of a sorted tuple."""
    lengths = dict(zip(columns, table.shape, strict=True))
    return table.reshape([lengths.get(column, 1) for column in onto])


def contract(one: tuple[Table, Columns], other: tuple[Table, Columns], kept: Columns) -> Table:
    """The product of two tables, summed over the columns that both have and that are not kept."""
    shared = [column for column in one[1] if column in other[1]]
    batch = [column for column in shared if column in kept]
    summed = [column for column in shared if column not in kept]
    left = [column for column in one[1] if column not in shared]
    right = [column for column in other[1] if column not in shared]
    product = _arrange(one, batch, left, summed) @ _arrange(other, batch, summed, right)
    lengths = dict(zip(one[1] + other[1], one[0].shape + other[0].shape, strict=True))
    order = [*batch, *left, *right]
    table: Table = product.reshape([lengths[column] for column in order])
    return table.transpose([order.index(column) for column in kept])


def _arrange(table: tuple[Table, Columns], *groups: Sequence[int]) -> Table:
    """A table with one axis for each group of its columns."""
    values, columns = table
    turned = values.transpose([columns.index(column) for group in groups for column in group])
    return turned.reshape([prod(values.shape[columns.index(column)] for column in group) for group in groups])
