"""Rows that are moved towards tables: they come near, and do so without order among the columns."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from adomnia.methods.synthesis.fitted_rows import fit_rows, tabulate_rows
from adomnia.noise.afterwards import follow

SIZES = (3, 4, 2, 3)


def exact_tables(rows, ways):
    return {columns: tabulate_rows(rows, columns, SIZES) for columns in combinations(range(4), ways)}


@pytest.fixture
def dependent():
    """Rows whose columns depend on each other, three at a time."""
    random = np.random.default_rng(1)
    rows = random.integers(0, SIZES, size=(4000, 4))
    rows[:, 3] = (rows[:, 0] + rows[:, 2]) % 3
    rows[:2000, 1] = rows[:2000, 0]
    return rows


def distance(rows, tables):
    return max(
        np.abs(tabulate_rows(rows, columns, SIZES) - table).sum() / 2 / len(rows) for columns, table in tables.items()
    )


def test_tables_of_dependent_columns_are_met(dependent):
    tables = exact_tables(dependent, 3)
    start = np.random.default_rng(2).integers(0, SIZES, size=dependent.shape)
    found = fit_rows(tables, SIZES, len(dependent), follow([np.array([1])], "tests"))
    assert distance(start, tables) > 0.5  # what rows without any dependence are off by
    assert distance(found, tables) < 0.03


@pytest.mark.parametrize("total", [0, 1, 5])
def test_few_rows_are_as_many_as_asked(total):
    rows = np.zeros((total, 4), dtype=int)
    found = fit_rows(exact_tables(rows, 3), SIZES, total, follow([np.array([1])], "tests"))
    assert found.shape == (total, 4)
    assert not found.any()


def test_siblings_that_are_independent_stay_so(dependent):
    """Columns that depend on a third alone must not follow each other beyond that: within 5 standard errors of 0."""
    random = np.random.default_rng(3)
    rows = random.integers(0, SIZES, size=(6000, 4))
    rows[:, 1], rows[:, 3] = rows[:, 0], np.where(random.random(6000) < 0.8, rows[:, 0], rows[:, 3])
    rows[:, 2] = random.random(6000) < 0.3 + 0.2 * rows[:, 0]
    tables = {columns: table for columns, table in exact_tables(rows, 2).items() if columns in {(0, 2), (0, 3)}}
    tables[(1,)] = tabulate_rows(rows, (1,), SIZES)
    found = fit_rows(tables, SIZES, 6000, follow([np.array([1])], "tests"))
    for value in range(3):
        same = found[found[:, 0] == value]
        assert abs(np.corrcoef(same[:, 2], same[:, 3])[0, 1]) < 5 / len(same) ** 0.5


def test_rows_are_counted_by_their_values():
    rows = np.array([[0, 1], [0, 1], [1, 2]])
    assert tabulate_rows(rows, (0, 1), (2, 3)).tolist() == [[0, 2, 0], [0, 0, 1]]
    assert tabulate_rows(rows, (), (2, 3)) == 3
