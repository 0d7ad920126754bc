"""Tables of columns that lie in several cliques: joined over the edges between them, each part computed once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from adomnia.methods.releases.graphical.axes import Projection, Table, contract
from adomnia.methods.releases.graphical.trees import Columns, JunctionTree

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
    smaller ones, summed over those columns. The edge is the one that takes the least work.
    """

    tree: JunctionTree
    beliefs: Sequence[Table]
    _tables: dict[Columns, Table] = field(default_factory=dict)
    _plans: dict[Columns, tuple[int, _Split | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._splits = _split(self.tree)

    def find(self, columns: Columns) -> Table:
        """The probabilities of the cells of sorted columns. They are not kept, as what is asked for may be large."""
        split = self._plan(columns)[1]
        if split is None:
            return self._sum_clique(columns)
        one, other = sorted(split.parts(columns), key=self.tree.count)
        return contract((self._condition(one, split.separator), one), (self._keep(other), other), columns)

    def _condition(self, columns: Columns, separator: Columns) -> Table:
        """Probabilities given the columns of a separator; 0 where nothing is in its cell."""
        shares = Projection.between(self.tree.sizes, columns, separator).spread(self._keep(separator))
        table = self._keep(columns)
        return np.divide(table, shares, out=np.zeros(table.shape), where=shares > 0)

    def _keep(self, columns: Columns) -> Table:
        if columns not in self._tables:
            self._tables[columns] = self.find(columns)
        return self._tables[columns]

    def _sum_clique(self, columns: Columns) -> Table:
        place = self.tree.cover(columns)
        if place is None:
            raise ValueError(f"Joints columns must lie in one clique, got {columns}.")
        return Projection.between(self.tree.sizes, self.tree.cliques[place], columns).collapse(self.beliefs[place])

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
