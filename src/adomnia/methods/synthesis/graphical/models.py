"""A fitted distribution of all columns: any of its tables, and rows of nobody that are drawn from it.

Tables of columns that lie in several cliques are joined over the edges between them, each part computed once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.graphical.trees import Columns, JunctionTree, Projection, Table, contract, spread
from adomnia.noise.afterwards import Generator

MOST_CELLS = 2_000_000  # of a table that is asked for
_Windows: TypeAlias = Mapping[int, slice]
_COPYING = 10  # what it takes to bring a cell into its place, in products that are summed


@dataclass(frozen=True)
class Model:
    """A distribution that is Markov to a junction tree: what is expected of `total` rows.

    `beliefs` are the probabilities of the cells of each clique. `factors` are logarithms of tables whose product, up
    to a constant, is the joint distribution: a later fit starts from them.
    """

    tag: ClassVar[str] = "Model"
    sizes: tuple[int, ...]
    tree: JunctionTree
    factors: Mapping[Columns, Table]
    beliefs: tuple[Table, ...]
    total: float

    def marginal(self, columns: Sequence[int]) -> Table:
        """Expected counts by the values of these columns, an axis for each in the order of their naming."""
        return next(self.iterate_marginals([columns]))

    def marginals(self, tables: Sequence[Sequence[int]]) -> list[Table]:
        """Expected counts of several tables, which share what they have in common to compute."""
        return list(self.iterate_marginals(tables))

    def iterate_marginals(self, tables: Sequence[Sequence[int]]) -> Iterator[Table]:
        """The same one after the other, so that not all of them need be held at once."""
        for columns in tables:
            _check(self.sizes, columns)
        joints = Joints(self.tree, self.beliefs)
        for columns in tables:
            named = tuple(sorted(columns))
            yield (joints.find(named) * self.total).transpose([named.index(column) for column in columns])


def _check(sizes: tuple[int, ...], columns: Sequence[int]) -> None:
    if len(set(columns)) < len(columns) or not set(columns) <= set(range(len(sizes))):
        raise ValueError(f"Model columns must be different places below {len(sizes)}, got {tuple(columns)}.")
    cells = 1
    for column in columns:
        cells *= sizes[column]
    if cells > MOST_CELLS:
        raise ValueError(f"Model tables must have at most {MOST_CELLS} cells, got {cells} for {tuple(columns)}.")


def draw_rows(model: Model, number: int, generator: Generator) -> NDArray[np.int32]:
    """So many rows, one place of a value for each column.

    Cliques are filled one after the other. The rows that agree on what a clique shares with those before it are dealt
    to the values of its other columns in whole numbers next to what is expected, and in random order: in a fixed order
    columns of different cliques would rise and fall together, where given the shared ones they are independent.
    """
    rows = np.zeros((number, len(model.sizes)), np.int32)
    separators = ((), *model.tree.separators)
    for clique, separator, belief in zip(model.tree.cliques, separators, model.beliefs, strict=True):
        added = tuple(column for column in clique if column not in separator)
        axes = [clique.index(column) for column in (*separator, *added)]
        weights = belief.transpose(axes).reshape(model.tree.count(separator), -1).astype(float)
        groups = _code(model.tree, rows, separator)
        order = _sort_randomly(groups, generator)
        counts = _round_counts(weights, np.bincount(groups, minlength=len(weights)), generator)
        values = np.repeat(np.tile(np.arange(counts.shape[1]), len(counts)), counts.ravel())
        places = np.unravel_index(values, model.tree.shape(added))
        for column, place in zip(added, places, strict=True):
            rows[order, column] = place
    return rows[generator.permutation(number)]


def _code(tree: JunctionTree, rows: NDArray[np.int32], columns: Columns) -> NDArray[np.int64]:
    """One number for each row, from the values of these columns."""
    codes = np.zeros(len(rows), np.int64)
    for column in columns:
        codes = codes * tree.sizes[column] + rows[:, column]
    return codes


def _sort_randomly(groups: NDArray[np.int64], generator: Generator) -> NDArray[np.int64]:
    """The places of rows by group, those of a group in random order."""
    mixed = generator.permutation(len(groups))
    return mixed[np.argsort(groups[mixed], kind="stable")]


def _round_counts(weights: NDArray[np.float64], totals: NDArray[np.int64], generator: Generator) -> NDArray[np.int64]:
    """Whole numbers whose lines have these totals and are less than 1 from the expected ones, on average equal to them.

    Running sums are rounded after the same random shift for the whole line: each number goes up as often as it should.
    """
    sums = np.cumsum(weights, axis=1)
    whole = sums[:, -1:]
    shares = np.divide(sums, whole, out=np.zeros_like(sums), where=whole > 0)
    shares[:, -1] = 1.0
    ends = np.floor(shares * totals[:, None] + generator.random((len(totals), 1)))
    ends[:, -1] = totals
    return np.diff(ends, axis=1, prepend=0).astype(np.int64)


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
