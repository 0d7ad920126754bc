"""Tables of columns that lie in several cliques: joined over the edges between them, each part computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from adomnia.methods.synthesis.graphical.axes import Projection, Table, contract, spread
from adomnia.methods.synthesis.graphical.trees import Columns, JunctionTree

_Windows: TypeAlias = Mapping[int, slice]
_COPYING = 10  # what it takes to bring a cell into its place, in products that are summed


@dataclass(frozen=True)
class _Split:
    """The columns on the two sides of an edge, and those that both have."""

    near: frozenset[int]
    far: frozenset[int]
    separator: Columns

    def divides(self, columns: Columns) -> bool:
        """Whether these columns lie on neither side alone."""
        return not (self.near.issuperset(columns) or self.far.issuperset(columns))

    def parts(self, columns: Columns) -> tuple[Columns, Columns]:
        """These columns on each side, and the separator with both."""
        wanted = {*columns, *self.separator}
        return tuple(sorted(wanted & self.near)), tuple(sorted(wanted & self.far))


@dataclass
class Joints:
    """Probabilities of tables of a junction tree's columns.

    What lies on both sides of an edge is independent given the columns of the edge, so a table is the product of two
    smaller ones, summed over those columns. The edge is the one that takes the least work. A table whose parts would
    be too large is computed in blocks: windows of the values of its columns.
    """

    tree: JunctionTree
    beliefs: Sequence[Table]
    most_cells: int = 2**23  # of a part, and of all parts that are kept for other tables
    _tables: dict[Columns, Table] = field(default_factory=dict)
    _plans: dict[Columns, tuple[int, _Split | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._splits = _split(self.tree)

    def find(self, columns: Columns) -> Table:
        """The probabilities of the cells of sorted columns. They are not kept, as what is asked for may be large."""
        lengths = self._choose_lengths(columns)
        if not lengths:
            return self._find(columns, {})
        table = np.empty(self.tree.shape(columns))
        ranges = [range(0, self.tree.sizes[column], lengths[column]) for column in columns]
        for starts in product(*ranges):
            block = [slice(start, start + lengths[column]) for column, start in zip(columns, starts, strict=True)]
            table[tuple(block)] = self._find(columns, dict(zip(columns, block, strict=True)))
        return table

    def _find(self, columns: Columns, windows: _Windows) -> Table:
        """A table within windows of some of its columns."""
        split = self._plan(columns)[1]
        if split is None:
            return self._sum_clique(columns, windows)
        one, other = sorted(split.parts(columns), key=self.tree.count)
        given = self._condition(one, split.separator, windows)
        return contract((given, one), (self._keep(other, windows), other), columns)

    def _condition(self, columns: Columns, separator: Columns, windows: _Windows) -> Table:
        """Probabilities given the columns of a separator; 0 where nothing is in its cell."""
        shares = spread(self._keep(separator, windows), separator, columns)
        table = self._keep(columns, windows)
        return np.divide(table, shares, out=np.zeros(table.shape), where=shares > 0)

    def _keep(self, columns: Columns, windows: _Windows) -> Table:
        """A part, kept for other tables if it is a whole one and there is room. Columns without a window are summed."""
        inside = {column: window for column, window in windows.items() if column in columns}
        if inside:
            return self._find(columns, inside)
        if columns in self._tables:
            return self._tables[columns]
        table = self._find(columns, {})
        if table.size + sum(kept.size for kept in self._tables.values()) <= self.most_cells:
            self._tables[columns] = table
        return table

    def _sum_clique(self, columns: Columns, windows: _Windows) -> Table:
        place = self.tree.cover(columns)
        if place is None:
            raise ValueError(f"Joints columns must lie in one clique, got {columns}.")
        clique = self.tree.cliques[place]
        belief = self.beliefs[place][tuple(windows.get(column, slice(None)) for column in clique)]
        return Projection.between(self.tree.sizes, clique, columns).collapse(belief)

    def _plan(self, columns: Columns) -> tuple[int, _Split | None]:
        """What work it takes to find a table, and over which edge; none where one clique has all its columns."""
        if columns not in self._plans:
            splits = [split for split in self._splits if split.divides(columns)]
            plans = [(self._count_work(columns, split), split) for split in splits]
            self._plans[columns] = min(plans, key=lambda plan: plan[0], default=(0, None))
        return self._plans[columns]

    def _count_work(self, columns: Columns, split: _Split) -> int:
        parts = split.parts(columns)
        joined = self.tree.count([*{*columns, *split.separator}])
        return joined + sum(_COPYING * self.tree.count(part) + self._plan(part)[0] for part in parts)

    def _choose_lengths(self, columns: Columns) -> dict[int, int]:
        """How long windows of the columns are to be, so that no part is too large; none if the whole table may be."""
        lengths = {column: self.tree.sizes[column] for column in columns}
        # Parts that have none of these columns are as large as they are; shorter windows would not help.
        most = max(self.most_cells, self._count_largest(columns, dict.fromkeys(columns, 1)))
        while self._count_largest(columns, lengths) > most:
            longest = max(lengths, key=lengths.__getitem__)
            lengths[longest] = (lengths[longest] + 1) // 2
        return {} if all(length == self.tree.sizes[column] for column, length in lengths.items()) else lengths

    def _count_largest(self, columns: Columns, lengths: Mapping[int, int]) -> int:
        """How many cells the largest part has, with windows of these lengths."""
        split = self._plan(columns)[1]
        if split is None:
            return 0
        largest = 0
        for part in split.parts(columns):
            inside = {column: length for column, length in lengths.items() if column in part}
            cells = prod(inside.get(column, self.tree.sizes[column]) for column in part)
            largest = max(largest, cells, self._count_largest(part, inside))
        return largest


def _split(tree: JunctionTree) -> tuple[_Split, ...]:
    """The two sides of each edge."""
    below = [set(clique) for clique in tree.cliques]
    for parent, child in reversed(tree.edges):
        below[parent] |= below[child]
    everything = below[0]
    return tuple(
        _Split(frozenset(everything - below[child] | set(separator)), frozenset(below[child]), separator)
        for (_, child), separator in zip(tree.edges, tree.separators, strict=True)
    )
