"""Counts of places within places, against least squares written out."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from adomnia.methods.synthesis.geography import Geography
from adomnia.methods.synthesis.nested_release import LevelTable, NestedRelease

ALL_COMBINATIONS = Geography((2, 3))
UNEVEN = Geography((2, 5), ((0, 0, 1, 1, 1),))
DEEP = Geography((2, 3, 5), ((0, 0, 1), (0, 0, 1, 2, 2)))
ONE = Geography((4,))
GEOGRAPHIES = [ALL_COMBINATIONS, UNEVEN, DEEP, ONE]
SHAPES = [(), (3,), (2, 2)]


def measure(geography, shape, *, summed, levels=None):
    random = np.random.default_rng(8)
    tables = []
    for level in range(len(geography.sizes) + 1) if levels is None else levels:
        nodes = geography.count_nodes(level)
        cells = random.normal(50, 20, (nodes, prod(shape)))
        sums, precision = random.normal(150, 20, nodes), 0.3 * (level + 1)
        tables.append(LevelTable(level, cells, 1 / (level + 2), sums, precision if summed else 0.0))
    return tables


def solve_written_out(geography, shape, tables, total=None):
    """Least squares over all cells, and their covariance; of normal noise, given the total."""
    cells = prod(shape)
    rows, told, precisions = [], [], []
    for table in tables:
        for node in range(geography.count_nodes(table.level)):
            inside = (geography.nodes[table.level] == node).astype(float)
            for cell in range(cells):
                rows.append(np.kron(inside, np.arange(cells) == cell))
                told.append(table.cells[node, cell])
                precisions.append(table.precision)
            if table.sum_precision:
                rows.append(np.kron(inside, np.ones(cells)))
                told.append(table.sums[node])
                precisions.append(table.sum_precision)
    matrix, weights = np.array(rows), np.array(precisions)
    covariance = np.linalg.inv(matrix.T @ (weights[:, None] * matrix))
    values = covariance @ (matrix.T @ (weights * np.array(told)))
    if total is None:
        return values, covariance
    gain = covariance.sum(axis=1) / covariance.sum()
    return values + gain * (total - values.sum()), covariance - np.outer(gain, covariance.sum(axis=1))


@pytest.mark.parametrize("geography", GEOGRAPHIES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("total", [None, 777])
def test_counts_and_variances_are_those_of_least_squares(geography, shape, summed, total):
    tables = measure(geography, shape, summed=summed)
    release = NestedRelease.solve(geography, shape, tables, total)
    values, covariance = solve_written_out(geography, shape, tables, total)
    assert release.values.ravel() == pytest.approx(values, rel=1e-9, abs=1e-9)
    # Any groups of cells, told by the finest level and the other columns.
    size = prod(shape)
    groups = np.random.default_rng(2).integers(-1, 4, (geography.leaves, size))
    last = [len(geography.sizes) + place for place in range(len(shape))]
    if geography.is_nested:
        columns, asked = [len(geography.sizes) - 1, *last], groups.reshape(-1, *shape)
    else:
        columns, asked = [*range(len(geography.sizes)), *last], groups.reshape(*geography.sizes, *shape)
    members = np.array([(groups == group).ravel() for group in range(4)], dtype=float)
    found, variances = release.count(columns, asked, 4)
    assert found == pytest.approx(members @ values, rel=1e-9, abs=1e-9)
    assert variances == pytest.approx(np.diagonal(members @ covariance @ members.T), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("geography", GEOGRAPHIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_levels_have_the_sums_and_variances_of_what_is_below(geography, shape):
    tables = measure(geography, shape, summed=True)
    release = NestedRelease.solve(geography, shape, tables)
    _, covariance = solve_written_out(geography, shape, tables)
    for level in range(len(geography.sizes) + 1):
        nodes = geography.count_nodes(level)
        inside = np.array([geography.nodes[level] == node for node in range(nodes)], dtype=float)
        assert release.add_level(level) == pytest.approx(inside @ release.values)
        sums = np.kron(inside, np.ones(prod(shape)))
        first = np.kron(inside, np.arange(prod(shape)) == 0)
        assert release.vary_level(level, summed=True) == pytest.approx(np.diagonal(sums @ covariance @ sums.T))
        assert release.vary_level(level, summed=False) == pytest.approx(np.diagonal(first @ covariance @ first.T))


def test_a_level_that_was_not_measured_follows_from_the_others():
    tables = measure(UNEVEN, (), summed=False, levels=(1, 2))
    values, _ = solve_written_out(UNEVEN, (), tables, 90)
    assert NestedRelease.solve(UNEVEN, (), tables, 90).values.ravel() == pytest.approx(values, rel=1e-9, abs=1e-9)


def test_all_measurements_are_used():
    """Whoever took the finest level alone would have more noise in its sums, and see that here."""
    release = NestedRelease.solve(UNEVEN, (3,), measure(UNEVEN, (3,), summed=False))
    finest = NestedRelease.solve(UNEVEN, (3,), measure(UNEVEN, (3,), summed=False, levels=(2,)))
    assert (release.vary_level(0, summed=True) < 0.2 * finest.vary_level(0, summed=True)).all()


def test_columns_may_be_named_in_any_order_or_not_at_all():
    release = NestedRelease.solve(ALL_COMBINATIONS, (4,), measure(ALL_COMBINATIONS, (4,), summed=True))
    groups = np.random.default_rng(1).integers(-1, 3, (4, 2))
    turned = release.count([2, 0], groups, 3)
    plain = release.count([0, 2], groups.T, 3)
    assert turned[0].tolist() == plain[0].tolist()
    assert turned[1].tolist() == plain[1].tolist()
    values, variances = release.count([], np.array(0), 1)
    assert values[0] == pytest.approx(release.values.sum())
    assert variances[0] == pytest.approx(release.vary_level(0, summed=True)[0])
    assert not release.covers([3])
    with pytest.raises(ValueError, match="some of 3"):
        release.count([3], np.zeros(1, dtype=int), 1)


def test_weights_count_rows_for_more_and_many_groups_are_counted_as_few():
    release = NestedRelease.solve(DEEP, (3,), measure(DEEP, (3,), summed=True))
    weights = np.random.default_rng(6).normal(size=(5, 3))
    groups = np.arange(15).reshape(5, 3) % 2
    values, variances = release.add([2, 3], groups, 2, weights)
    _, covariance = solve_written_out(DEEP, (3,), measure(DEEP, (3,), summed=True))
    members = np.array([np.where(groups == group, weights, 0.0).ravel() for group in range(2)])
    assert values == pytest.approx(members @ release.values.ravel())
    assert variances == pytest.approx(np.diagonal(members @ covariance @ members.T))
    spread = release.add([2, 3], groups * 10**6, 10**6 + 1, weights)
    assert spread[0][[0, -1]] == pytest.approx(values)
    assert spread[1][[0, -1]] == pytest.approx(variances)


def test_groups_of_nothing_are_empty():
    release = NestedRelease.solve(UNEVEN, (3,), measure(UNEVEN, (3,), summed=True))
    values, variances = release.count([1, 2], np.full((5, 3), -1), 2)
    assert values.tolist() == variances.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("total", [None, 12])
def test_plain_data_is_read_again(total):
    release = NestedRelease.solve(DEEP, (3,), measure(DEEP, (3,), summed=True), total)
    again = NestedRelease.from_plain(release.to_plain(), (*DEEP.sizes, 3))
    assert again.geography == DEEP
    assert again.vary_level(1, summed=True).tolist() == release.vary_level(1, summed=True).tolist()


@pytest.mark.parametrize(
    "changed",
    [
        {"levels": 9},
        {"levels": "3"},
        {"above": [[0, 0, 1]]},
        {"above": [[0, 0, 7], [0, 0, 1, 2, 2]]},
        {"contrasts": [1.0]},
        {"sums": [1.0, None, 1.0, 1.0]},
        {"sums": [float("nan"), 1.0, 1.0, 1.0]},
        {"contrasts": [1.0, 1.0, 1.0, 0.0]},
        {"contrasts": [1.0, -1.0, 1.0, 1.0]},
        {"values": np.zeros((5, 2))},
        {"values": np.full((5, 3), np.inf)},
    ],
)
def test_plain_data_of_a_stranger_is_checked(changed):
    release = NestedRelease.solve(DEEP, (3,), measure(DEEP, (3,), summed=True))
    with pytest.raises(ValueError, match="NestedRelease"):
        NestedRelease.from_plain(release.to_plain() | changed, (*DEEP.sizes, 3))
