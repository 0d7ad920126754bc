"""Tables by the columns of their axes: sums over some, places for others, and products."""

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.releases.graphical.trees import Columns

Table: TypeAlias = NDArray[np.floating[Any]]


def sum_onto(table: Table, columns: Columns, kept: Sequence[int]) -> Table:
    """The sums of a table over all its columns but these, which stay in the table's order."""
    dropped = tuple(axis for axis, column in enumerate(columns) if column not in kept)
    return np.asarray(table.sum(axis=dropped)) if dropped else table


def spread(table: Table, columns: Columns, onto: Columns) -> Table:
    """A table of sorted columns with an axis of length 1 for each of the others of a sorted tuple."""
    lengths = dict(zip(columns, table.shape, strict=True))
    return table.reshape([lengths.get(column, 1) for column in onto])


def divide(one: Table, other: Table) -> Table:
    """Ratios, which are 0 where the divisor is."""
    return np.divide(one, other, out=np.zeros_like(one), where=other > 0)


def contract(one: tuple[Table, Columns], other: tuple[Table, Columns], kept: Columns) -> Table:
    """The product of two tables, summed over the columns that both have and that are not kept."""
    shared = [column for column in one[1] if column in other[1]]
    batch = [column for column in shared if column in kept]
    summed = [column for column in shared if column not in kept]
    left = [column for column in one[1] if column not in shared]
    right = [column for column in other[1] if column not in shared]
    product = _arrange(one, batch, left, summed) @ _arrange(other, batch, summed, right)
    order = [*batch, *left, *right]
    lengths = dict(zip(one[1] + other[1], one[0].shape + other[0].shape, strict=True))
    table: Table = product.reshape([lengths[column] for column in order])
    return table.transpose([order.index(column) for column in kept])


def _arrange(table: tuple[Table, Columns], *groups: Sequence[int]) -> Table:
    """A table with one axis for each group of its columns."""
    values, columns = table
    turned = values.transpose([columns.index(column) for group in groups for column in group])
    return turned.reshape([prod(values.shape[columns.index(column)] for column in group) for group in groups])
