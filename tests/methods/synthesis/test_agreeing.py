"""Whole tables: not negative, of one total, and every overlap agrees."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from adomnia.methods.synthesis.agreeing import (
    agree,
    estimate_counts,
    fit_rows,
    project_to_sums,
    round_within,
    tabulate_rows,
)
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.noise.afterwards import follow
from kit.searches import examples

DATA = ["spread", "sparse", "constant", "nobody", "one"]
SIZES = (3, 4, 2, 3)


def draw():
    return follow([np.array([1, 2])], "tests")


def people(data, sizes, random):
    match data:
        case "spread":
            return random.integers(0, sizes, size=(2000, len(sizes)))
        case "sparse":
            return np.minimum(random.geometric(0.6, size=(500, len(sizes))) - 1, np.array(sizes) - 1)
        case "constant":
            return np.ones((300, len(sizes)), dtype=int)
        case "nobody":
            return np.zeros((0, len(sizes)), dtype=int)
    return np.zeros((1, len(sizes)), dtype=int)


def estimate(rows, sizes, ways, deviation, random):
    told = []
    for columns in combinations(range(len(sizes)), ways):
        shape = [sizes[column] for column in columns]
        places = np.ravel_multi_index(rows[:, list(columns)].T, shape)
        exact = np.bincount(places, minlength=int(np.prod(shape))).reshape(shape)
        told.append(NoisyMarginal(columns, exact + random.normal(0, deviation, shape), deviation**2))
    return Residuals.from_measured(sizes, told)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("sizes", "ways"), [((3, 5, 2, 4), 2), ((3, 5, 2, 4), 1), ((3, 4, 2), 3), ((3, 2, 2, 3), 3)])
def test_every_overlap_agrees(data, sizes, ways):
    random = np.random.default_rng(4)
    found = agree(estimate(people(data, sizes, random), sizes, ways, 6.0, random), ways, draw)
    assert len(found.tables) == sum(1 for many in range(ways + 1) for _ in combinations(sizes, many))
    for columns, table in found.tables.items():
        assert table.shape == tuple(sizes[column] for column in columns)
        assert table.dtype == np.int64
        assert table.min() >= 0
        for axis in range(len(columns)):
            less = columns[:axis] + columns[axis + 1 :]
            assert np.array_equal(table.sum(axis=axis), found.tables[less])
    assert (found.rows is None) == (ways < 3 or ways == len(sizes))


@pytest.mark.parametrize(("sizes", "ways"), [((3, 5, 2, 4), 2), ((3, 2, 2, 3), 3)])
def test_whole_tables_are_nearer_than_estimates_where_most_cells_are_empty(sizes, ways):
    random = np.random.default_rng(5)
    rows = people("sparse", sizes, random)[:100]
    exact = estimate(rows, sizes, ways, 1e-9, random)
    noisy = estimate(rows, sizes, ways, 8.0, random)
    found = agree(noisy, ways, draw).tables
    tables = list(combinations(range(len(sizes)), ways))
    error = sum(np.abs(found[columns] - exact.marginal(columns)).sum() for columns in tables)
    assert error < 0.9 * sum(np.abs(noisy.marginal(columns) - exact.marginal(columns)).sum() for columns in tables)


def test_exact_tables_stay_as_they_are():
    random = np.random.default_rng(6)
    sizes = (3, 5, 2, 4)
    exact = estimate(people("spread", sizes, random), sizes, 2, 1e-9, random)
    found = agree(exact, 2, draw).tables
    assert all(np.array_equal(table, np.rint(exact.marginal(columns))) for columns, table in found.items())


def test_rows_are_drawn_the_same_again():
    random = np.random.default_rng(7)
    noisy = estimate(people("spread", (3, 2, 2, 3), random), (3, 2, 2, 3), 3, 5.0, random)
    assert np.array_equal(agree(noisy, 3, draw).rows, agree(noisy, 3, draw).rows)


def test_more_rows_than_can_be_drawn_have_no_whole_tables():
    told = [NoisyMarginal(columns, np.full((2, 2, 2), 1e6), 1.0) for columns in combinations(range(4), 3)]
    assert agree(Residuals.from_measured((2,) * 4, told), 3, draw).tables == {}


def test_a_total_below_zero_is_nobody():
    found = agree(Residuals.from_measured((2, 2), [NoisyMarginal((0, 1), np.full((2, 2), -4.0), 1.0)]), 2, draw)
    assert all(not table.any() for table in found.tables.values())


def test_the_projection_to_sums_is_the_nearest():
    random = np.random.default_rng(8)
    rows, columns = np.array([6, 0, 9]), np.array([3, 5, 5, 2])
    table = random.normal(1, 4, (3, 4))
    found = project_to_sums(table, rows, columns)
    sums = [{"type": "eq", "fun": lambda x, k=k: x.reshape(3, 4)[k].sum() - rows[k]} for k in range(3)]
    sums += [{"type": "eq", "fun": lambda x, k=k: x.reshape(3, 4)[:, k].sum() - columns[k]} for k in range(3)]
    best = minimize(
        lambda x: ((x - table.ravel()) ** 2).sum(), np.full(12, 1.0), bounds=[(0, None)] * 12, constraints=sums
    )
    assert found.min() >= 0
    assert found.sum(axis=1) == pytest.approx(rows)
    assert found.sum(axis=0) == pytest.approx(columns)
    assert ((found - table) ** 2).sum() == pytest.approx(best.fun, rel=0.02)


def keeps_sums(table, rows, columns):
    return np.array_equal(table.sum(axis=1), rows) and np.array_equal(table.sum(axis=0), columns)


@settings(max_examples=examples(60))
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 3000), st.floats(0.02, 3), st.integers(0, 2**20))
def test_numbers_are_those_below_or_above_and_sums_are_kept(height, width, total, spread, seed):
    random = np.random.default_rng(seed)
    exact = random.multinomial(total, random.dirichlet(np.full(height * width, spread))).reshape(height, width)
    rows, columns = exact.sum(axis=1), exact.sum(axis=0)
    table = project_to_sums(exact + random.normal(0, 5, exact.shape), rows, columns)
    found = round_within(table, rows, columns)
    assert keeps_sums(found, rows, columns)
    assert found.min() >= 0
    assert np.abs(found - table).max() < 1 + 1e-6


def test_numbers_are_rounded_to_the_nearer_side_where_that_is_possible():
    table = np.array([[0.9, 0.1, 2.0], [0.1, 0.9, 0.0]])
    found = round_within(table, np.array([3, 1]), np.array([1, 1, 2]))
    assert found.tolist() == [[1, 0, 2], [0, 1, 0]]


def test_what_was_rounded_up_first_is_given_back_where_others_need_it():
    # Greedy from the largest would take 0.8 in the first row and column, and leave 0.2 + 0.2 for the others.
    table = np.array([[0.6, 0.4], [0.4, 0.6]])
    found = round_within(table, np.array([1, 1]), np.array([1, 1]))
    assert keeps_sums(found, [1, 1], [1, 1])


@pytest.mark.parametrize("total", [10**9, 10**12, 2**48])
def test_sums_are_kept_where_doubles_are_too_coarse(total):
    random = np.random.default_rng(0)
    exact = random.multinomial(total, random.dirichlet(np.full(300, 0.1))).reshape(20, 15)
    rows, columns = exact.sum(axis=1), exact.sum(axis=0)
    found = round_within(project_to_sums(exact + random.normal(0, 90, exact.shape), rows, columns), rows, columns)
    assert keeps_sums(found, rows, columns)
    assert found.min() >= 0


def test_a_table_without_its_sums_gets_them():
    rows, columns = np.array([5, 0, 3]), np.array([4, 4])
    found = round_within(np.array([[9.0, 9.0], [2.0, 0.0], [0.0, 0.0]]), rows, columns)
    assert keeps_sums(found, rows, columns)
    assert found.min() >= 0


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


def test_intervals_of_many_are_wider():
    estimate = estimate_counts(np.array([5.0]), np.array([4.0]), "gaussian", "least squares")
    lower, upper = estimate.interval(0.95, 1)
    assert upper - lower == pytest.approx(2 * 2 * 1.959964)
    assert estimate.interval(0.95, 100)[1] > upper
