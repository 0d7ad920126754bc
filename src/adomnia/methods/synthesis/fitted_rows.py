"""Rows of nobody whose tables come near to given ones: tables of rows agree by themselves, however they overlap."""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from adomnia.methods.synthesis.residuals import Columns
from adomnia.noise.afterwards import Generator
from adomnia.statistics.products import Places

MOST_ROWS = 2_000_000
_MOST_PASSES = 40
_WORK = 30_000_000  # rows that are looked at in all passes over all tables
_SLOWER = 0.9  # of what is wrong is moved, in each pass so much of what the one before moved


def fit_rows(tables: Mapping[Columns, Places], sizes: Sequence[int], total: int, generator: Generator) -> Places:
    """So many rows, with the place of a value in every column: moved towards one table after the other.

    The gradual update of Zhang et al. 2021: of cells that have too many rows some are given to cells that have too few,
    where they become copies of a row of that cell, or take over its values alone.
    """
    rows = np.empty((total, len(sizes)), dtype=np.int32)
    for column in range(len(sizes)):
        rows[:, column] = generator.permutation(_start(tables, column, total))
    passes = max(2, min(_MOST_PASSES, _WORK // max(1, total * len(tables))))
    names = list(tables)
    for step in range(passes if total else 0):
        for place in generator.permutation(len(names)):
            _move(rows, names[place], tables[names[place]], _SLOWER**step, generator)
    return rows


def tabulate_rows(rows: Places, columns: Columns, sizes: Sequence[int]) -> Places:
    """How many rows have each of the values of some columns."""
    shape = [sizes[column] for column in columns]
    return np.bincount(_place(rows, columns, shape), minlength=prod(shape)).reshape(shape)


def _start(tables: Mapping[Columns, Places], column: int, total: int) -> Places:
    """The values of a column, as often as the first table that has it says."""
    columns, table = next((columns, table) for columns, table in tables.items() if column in columns)
    others = tuple(axis for axis, each in enumerate(columns) if each != column)
    return np.repeat(np.arange(table.shape[columns.index(column)]), table.sum(axis=others))[:total]


def _place(rows: Places, columns: Columns, shape: Sequence[int]) -> Places:
    if not columns:
        return np.zeros(len(rows), dtype=np.int64)
    return np.ravel_multi_index([rows[:, column] for column in columns], shape)


def _move(rows: Places, columns: Columns, table: Places, pace: float, generator: Generator) -> None:
    """Give rows of cells with too many to cells with too few."""
    places, wanted = _place(rows, columns, table.shape), table.ravel()
    counts = np.bincount(places, minlength=wanted.size)
    shuffled = generator.permutation(len(rows))
    small = places.astype(
        np.uint16 if wanted.size <= 2**16 else np.int64
    )  # sorted without comparing, where they can be
    order = shuffled[np.argsort(small[shuffled], kind="stable")]  # by cells, in each of them at random
    starts = np.cumsum(counts) - counts
    surplus = np.ceil(pace * np.maximum(counts - wanted, 0)).astype(np.int64)
    ranks = np.arange(len(rows)) - starts[places[order]]
    moved = generator.permutation(order[ranks < surplus[places[order]]])
    missing = np.maximum(wanted - counts, 0)
    cells = generator.permutation(np.repeat(np.arange(wanted.size), missing))[: len(moved)]
    moved = moved[: len(cells)]
    copied = (generator.random(len(cells)) < 0.5) & (counts[cells] > 0)
    models = order[starts[cells[copied]] + generator.integers(0, counts[cells[copied]])]
    rows[moved[copied]] = rows[models]
    rows[np.ix_(moved[~copied], columns)] = np.stack(np.unravel_index(cells[~copied], table.shape), axis=1)
