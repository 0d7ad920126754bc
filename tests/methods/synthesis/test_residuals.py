"""Least squares and variances in closed form, against matrices of all cells."""

from __future__ import annotations

from functools import reduce
from itertools import combinations

import numpy as np
import pytest

from adomnia.methods.synthesis import grouped_cells
from adomnia.methods.synthesis.bases import BASES
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals, list_subsets

SIZES = (2, 3, 2)
CELLS = 12


def marginal_matrix(columns, sizes=SIZES):
    """The counts of some columns, from those of all cells."""
    return kron(np.eye(n) if place in columns else np.ones((1, n)) for place, n in enumerate(sizes))


def kron(factors):
    return reduce(np.kron, factors, np.ones((1, 1)))


def contrast_matrix(columns, sizes=SIZES):
    return kron(n * np.eye(n) - 1 if place in columns else np.ones((1, n)) for place, n in enumerate(sizes))


def fourier_matrix(columns, sizes=SIZES):
    return kron(np.array([[1, -1]]) if place in columns else np.ones((1, n)) for place, n in enumerate(sizes))


MATRICES = {"counts": marginal_matrix, "contrasts": contrast_matrix, "fourier": fourier_matrix}
# Columns, basis and variance of measurements that tell of all pairs, some contrasts more than once.
PLANS = {
    "counts": [((0, 1), "counts", 3.0), ((1, 2), "counts", 1.0), ((0, 2), "counts", 2.0), ((1,), "counts", 0.5)],
    "contrasts": [(part, "contrasts", 1.0 + len(part)) for part in list_subsets((0, 1, 2)) if len(part) < 3],
    "mixed": [
        ((0, 1), "counts", 3.0),
        ((1, 2), "contrasts", 40.0),
        ((2,), "fourier", 2.0),
        ((0, 2), "fourier", 5.0),
        ((0,), "contrasts", 7.0),
    ],
}


def least_squares(plan):
    """The estimates of all cells as a matrix of what was measured, and the covariance of their noise."""
    rows = [MATRICES[basis](columns) / variance**0.5 for columns, basis, variance in plan]
    stacked = np.vstack(rows)
    inverse = np.linalg.pinv(stacked)
    scales = np.concatenate([np.full(len(m), v**-0.5) for m, (_, _, v) in zip(rows, plan, strict=True)])
    return inverse * scales, inverse @ inverse.T


@pytest.mark.parametrize("name", PLANS)
def test_estimates_are_those_of_weighted_least_squares(name):
    plan = PLANS[name]
    random = np.random.default_rng(1)
    told = [random.normal(size=len(MATRICES[basis](columns))) * 10 for columns, basis, _ in plan]
    found = Residuals.from_measured(
        SIZES, [NoisyMarginal(c, values, v, b) for (c, b, v), values in zip(plan, told, strict=True)]
    )
    solve, covariance = least_squares(plan)
    cells = solve @ np.concatenate(told)
    for columns in list_subsets((0, 1, 2)):
        if len(columns) < 3:
            matrix = marginal_matrix(columns)
            assert found.covers(columns)
            assert found.marginal(columns).ravel() == pytest.approx(matrix @ cells)
            assert np.diag(matrix @ covariance @ matrix.T) == pytest.approx(found.variance(columns))
    assert not found.covers((0, 1, 2))


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("number", [1, 3, 20])
@pytest.mark.parametrize("columns", [(0, 1), (1, 0), (2, 1), (1,), (0, 2)])
def test_counts_of_groups_have_the_variance_of_the_sums_of_their_cells(columns, number, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(grouped_cells, "_MOST_DENSE", 0)
    plan = PLANS["mixed"]
    random = np.random.default_rng(number)
    told = [random.normal(size=len(MATRICES[basis](places))) for places, basis, _ in plan]
    found = Residuals.from_measured(
        SIZES, [NoisyMarginal(c, values, v, b) for (c, b, v), values in zip(plan, told, strict=True)]
    )
    _, covariance = least_squares(plan)
    groups = random.integers(-1, number, size=[SIZES[column] for column in columns])
    values, variances = found.count(columns, groups, number)
    ordered = np.transpose(groups, np.argsort(columns)).ravel()
    indicators = (ordered == np.arange(number)[:, np.newaxis]).astype(float) @ marginal_matrix(columns)
    assert values == pytest.approx([found.marginal(columns)[groups == each].sum() for each in range(number)], abs=1e-9)
    assert variances == pytest.approx(np.diag(indicators @ covariance @ indicators.T), abs=1e-9)
    weights = random.normal(size=groups.shape)
    values, variances = found.add(columns, groups, number, weights)
    ordered_weights = np.transpose(weights, np.argsort(columns)).ravel()
    weighted = ((ordered == np.arange(number)[:, np.newaxis]) * ordered_weights) @ marginal_matrix(columns)
    assert values == pytest.approx(
        [(found.marginal(columns) * weights)[groups == each].sum() for each in range(number)], abs=1e-9
    )
    assert variances == pytest.approx(np.diag(weighted @ covariance @ weighted.T), abs=1e-9)


def test_more_groups_than_are_looked_at_one_by_one_count_the_same(monkeypatch):
    random = np.random.default_rng(5)
    sizes = (4, 5, 6)
    found = Residuals.from_measured(sizes, [NoisyMarginal((0, 1, 2), random.normal(size=sizes), 2.0)])
    groups = random.integers(-1, 9, size=sizes)
    one_by_one = found.count((0, 1, 2), groups, 9)
    monkeypatch.setattr(grouped_cells, "_FEW", 0)
    for some, others in zip(one_by_one, found.count((0, 1, 2), groups, 9), strict=True):
        assert some == pytest.approx(others)
    weights = random.normal(size=sizes)
    monkeypatch.setattr(grouped_cells, "_FEW", 12)
    weighted = found.add((0, 1, 2), groups, 9, weights)
    monkeypatch.setattr(grouped_cells, "_FEW", 0)
    for some, others in zip(weighted, found.add((0, 1, 2), groups, 9, weights), strict=True):
        assert some == pytest.approx(others)
    # One table alone: the noise of its cells is independent.
    assert one_by_one[1] == pytest.approx([2.0 * (groups == each).sum() for each in range(9)])


def test_every_cell_by_itself_has_the_variance_of_the_table():
    found = Residuals.from_measured(SIZES, [NoisyMarginal((0, 1), np.arange(6), 2.0), NoisyMarginal((0,), [9, 1], 1.0)])
    values, variances = found.count((0, 1), np.arange(6).reshape(2, 3), 7)
    assert values[:6] == pytest.approx(found.marginal((0, 1)).ravel())
    assert variances == pytest.approx([*[found.variance((0, 1))] * 6, 0])
    assert values[6] == 0
    values, variances = found.add((0, 1), np.arange(6).reshape(2, 3), 6, np.full((2, 3), -3.0))
    assert values == pytest.approx(-3 * found.marginal((0, 1)).ravel())
    assert variances == pytest.approx(9 * found.variance((0, 1)))


def test_no_groups_have_no_counts():
    found = Residuals.from_measured((2,), [NoisyMarginal((0,), [3, 4], 1.0)])
    values, variances = found.count((0,), np.array([-1, -1]), 0)
    assert len(values) == len(variances) == 0


def test_the_total_is_a_count_of_no_columns():
    found = Residuals.from_measured((2, 3), [NoisyMarginal((0, 1), np.ones((2, 3)), 1.0)])
    values, variances = found.count((), np.array(0), 1)
    assert values == pytest.approx([6])
    assert variances == pytest.approx([6])


def test_a_column_of_one_value_changes_nothing():
    random = np.random.default_rng(2)
    values = random.normal(size=(2, 3))
    with_one = Residuals.from_measured((2, 1, 3), [NoisyMarginal((0, 1, 2), values.reshape(2, 1, 3), 1.5)])
    without = Residuals.from_measured((2, 3), [NoisyMarginal((0, 1), values, 1.5)])
    groups = random.integers(-1, 2, size=(2, 1, 3))
    assert with_one.covers((0, 1, 2))
    assert with_one.marginal((1, 0)).shape == (1, 2)
    for some, others in zip(with_one.count((0, 1, 2), groups, 2), without.count((0, 1), groups[:, 0], 2), strict=True):
        assert some == pytest.approx(others)


def test_variances_are_those_that_are_seen():
    """The noise of 2,000 draws; a false alarm is below one in a million, and 40% more would be found out."""
    random = np.random.default_rng(7)
    groups, seen = np.array([[0, 1, 1], [0, 0, -1]]), []
    for _ in range(2000):
        pair, single = random.normal(0, 2.0, (2, 3)), random.normal(0, 1.0, 3)
        found = Residuals.from_measured((2, 3), [NoisyMarginal((0, 1), pair, 4.0), NoisyMarginal((1,), single, 1.0)])
        values, variances = found.count((0, 1), groups, 2)
        seen.append(values)
    ratios = np.var(seen, axis=0) / variances
    assert np.abs(ratios - 1).max() < 5 * (2 / 2000) ** 0.5
    assert (np.abs(1.4 * ratios - 1) > 5 * (2 / 2000) ** 0.5).all()


@pytest.mark.parametrize("basis", ["contrasts", "fourier"])
def test_what_bases_keep_of_the_noise_is_what_their_matrices_do(basis):
    matrix = MATRICES[basis]((0, 2), (2, 3, 2))[:, [0, 1, 2 * 3, 2 * 3 + 1]]  # of both columns of two values
    columns = np.abs(matrix)
    facts = BASES[basis]
    assert columns.sum(axis=0) == pytest.approx(facts.l1(2) ** 2)
    assert (columns**2).sum(axis=0) == pytest.approx(facts.l2_squared(2) ** 2)


def test_they_are_written_as_plain_data_and_read_again():
    found = Residuals.from_measured((2, 1, 3), [NoisyMarginal((0, 1, 2), np.arange(6.0), 1.5)])
    again = Residuals.from_plain(found.to_plain(), (2, 1, 3))
    assert again.variances == found.variances
    assert all(np.array_equal(again.contrasts[part], found.contrasts[part]) for part in found.contrasts)


def change(plain, **changes):
    return {"contrasts": [*plain["contrasts"][:-1], plain["contrasts"][-1] | changes]}


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": [1, 0]},
        {"columns": [0, 0]},
        {"columns": [0, 7]},
        {"columns": [0, -1]},
        {"columns": [0]},
        {"values": np.zeros((3, 2))},
        {"values": np.full((2, 3), np.nan)},
        {"variance": 0.0},
        {"variance": float("inf")},
        {"variance": True},
    ],
    ids=str,
)
def test_what_is_no_plain_form_of_them_is_refused(changes):
    plain = Residuals.from_measured((2, 3), [NoisyMarginal((0, 1), np.arange(6.0), 1.5)]).to_plain()
    with pytest.raises(ValueError, match="Residuals"):
        Residuals.from_plain(change(plain, **changes), (2, 3))


@pytest.mark.parametrize("missing", range(3))
def test_contrasts_of_fewer_columns_may_not_be_missing(missing):
    plain = Residuals.from_measured((2, 3), [NoisyMarginal((0, 1), np.arange(6.0), 1.5)]).to_plain()
    del plain["contrasts"][missing]
    with pytest.raises(ValueError, match="fewer"):
        Residuals.from_plain(plain, (2, 3))


def test_all_pairs_agree_on_what_they_share():
    random = np.random.default_rng(3)
    sizes = (3, 4, 2, 5)
    told = [
        NoisyMarginal(pair, random.normal(size=[sizes[c] for c in pair]), 1.0) for pair in combinations(range(4), 2)
    ]
    found = Residuals.from_measured(sizes, told)
    for first, second in combinations(range(4), 2):
        assert found.marginal((first, second)).sum(axis=1) == pytest.approx(found.marginal((first,)))
        assert found.marginal((first, second)).sum(axis=0) == pytest.approx(found.marginal((second,)))
