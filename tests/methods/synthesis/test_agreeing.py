"""Whole tables: not negative, of one total, and every overlap agrees."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from adomnia.methods.synthesis.agreeing import agree, project_to_sums, project_to_total, round_to_total
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.noise.afterwards import follow

DATA = ["spread", "sparse", "constant", "nobody", "one"]


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


def test_the_projection_to_a_total_is_the_nearest():
    assert project_to_total(np.array([5.0, 1.0, -3.0]), 4.0) == pytest.approx([4.0, 0.0, 0.0])
    assert project_to_total(np.array([5.0, 4.0, -3.0]), 4.0) == pytest.approx([2.5, 1.5, 0.0])
    assert project_to_total(np.array([5.0, 4.0]), 0) == pytest.approx([0.0, 0.0])
    assert project_to_total(np.array([-5.0, -4.0]), 3) == pytest.approx([1.0, 2.0])


def test_largest_remainders_are_rounded_up():
    assert round_to_total(np.array([1.2, 0.7, 3.1]), 5).tolist() == [1, 1, 3]


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
