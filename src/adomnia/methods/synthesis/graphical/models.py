"""A fitted distribution of all columns, and any of its tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from adomnia.methods.synthesis.graphical.axes import Table
from adomnia.methods.synthesis.graphical.joints import Joints
from adomnia.methods.synthesis.graphical.trees import Columns, JunctionTree

MOST_CELLS = 2_000_000  # of a table that is asked for


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
