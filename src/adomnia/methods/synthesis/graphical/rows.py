"""Rows of nobody: drawn from a model so that their counts are as close to it as whole numbers can be."""

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.graphical.trees import Columns, JunctionTree
from adomnia.noise.afterwards import Generator


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
