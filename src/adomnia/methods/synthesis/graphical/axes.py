"""Tables by the columns of their axes: sums over some, places for others, and products."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.graphical.trees import Columns

Table: TypeAlias = NDArray[np.float64]


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
