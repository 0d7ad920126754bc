"""What is measured of bins, for which counts and which noise."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.synthesis.p_identity import WORKLOADS, LineWorkload
from adomnia.methods.synthesis.strategies import (
    MOST_FITTED,
    GramRelease,
    SparseMatrix,
    build_strategy,
    choose_strategy,
    cost_levels,
    fit_tree,
    list_strategies,
    norm_of,
)
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.transforms.matrices import Matrix

FIXTURES = Path(__file__).parents[2] / "fixtures"
FITTED = json.loads((FIXTURES / "vectors2.json").read_text())["hdmm_p_identity_prefix"]
PLAIN = json.loads((FIXTURES / "vectors.json").read_text())["matrix_mechanism_total_sq_error_eps1"]
MATRIX = build_strategy("tree", LineWorkload("ranges", 7), 2).without_missing().blocks[0][0]
DENSE = np.zeros((len(MATRIX.rows), 7))


def total_error(strategy, workload, norm):
    """The sum of all variances at unit noise, by the integers themselves and the sensitivity that they derive."""
    row = strategy.without_missing().row
    length = row.l1**2 if norm == 1 else row.l2_squared
    inverse = np.linalg.inv(SparseMatrix(strategy.matrix).gram)
    return float(length * np.sum(inverse * workload.matrix))


@pytest.mark.parametrize("bins", [8, 64, 256])
def test_laplace_errors_of_prefixes_are_the_known_ones(bins):
    workload = LineWorkload("prefixes", bins)
    known = next(each for label, each in FITTED.items() if f"n={bins}," in label)
    fitted = 2 * total_error(build_strategy("p_identity", workload, 1), workload, 1)
    assert fitted <= 1.02 * known["laplace_total_sq_error_eps1 = 2*loss"]
    assert 2 * total_error(build_strategy("identity", workload, 1), workload, 1) == pytest.approx(known["identity"])


@pytest.mark.parametrize(("bins", "name", "label"), [(8, "prefixes", "prefix"), (64, "ranges", "allrange")])
def test_errors_are_those_of_the_matrix_mechanism(bins, name, label):
    workload, known = LineWorkload(name, bins), PLAIN[str(bins)]
    assert 2 * total_error(build_strategy("identity", workload, 1), workload, 1) == pytest.approx(
        known[f"{label}_identity"]
    )
    levels = [
        np.kron(np.eye(bins // run), np.ones((1, run))) for run in (2**level for level in range(bins.bit_length()))
    ]
    plain = Matrix.dense(np.concatenate(levels).astype(int).tolist())
    inverse = np.linalg.inv(SparseMatrix(plain).gram)
    assert 2 * len(levels) ** 2 * np.sum(inverse * workload.matrix) == pytest.approx(known[f"{label}_H2"])
    assert 2 * build_strategy("tree", workload, 1).error < known[f"{label}_H2"]


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("bins", [2, 7, 64])
def test_integers_keep_the_stated_error(workload, norm, bins):
    wanted = LineWorkload(workload, bins)
    for name in list_strategies(wanted):
        strategy = build_strategy(name, wanted, norm)
        lost = total_error(strategy, wanted, norm) / strategy.error
        assert lost <= 1.003
        assert lost >= (0.85 if name == "tree" else 0.997)


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("bins", [24, 100])
def test_gaussian_errors_are_near_the_bound_that_none_is_below(workload, bins):
    wanted = LineWorkload(workload, bins)
    chosen = build_strategy(choose_strategy(wanted, 2), wanted, 2)
    assert wanted.bound < total_error(chosen, wanted, 2) < 1.25 * wanted.bound


def test_the_least_error_is_chosen_and_of_equals_the_simplest():
    assert choose_strategy(LineWorkload("prefixes", 8), 1) == "identity"
    assert choose_strategy(LineWorkload("prefixes", 64), 1) == "p_identity"
    assert choose_strategy(LineWorkload("ranges", 512), 2) == "tree"
    assert list_strategies(LineWorkload("ranges", MOST_FITTED + 1)) == ("identity", "tree")


def test_the_noise_of_a_price_says_which_length_counts():
    assert norm_of(Pure(1)) == 1
    assert norm_of(Concentrated(1)) == 2


@pytest.mark.parametrize("norm", [1, 2])
def test_missing_values_are_counted_without_more_noise(norm):
    strategy = build_strategy("p_identity", LineWorkload("ranges", 24), norm)
    alone, beside = strategy.without_missing(), strategy.with_missing(norm)
    assert beside.columns == alone.columns + 1
    assert (beside.row.l1, beside.row.l2_squared)[norm - 1] == (alone.row.l1, alone.row.l2_squared)[norm - 1]


# Measurements that are stored were made with these matrices and are read with them again.
STORED = {
    ("tree", "ranges", 100, 1): "0cbfa7371d50f90b",
    ("tree", "prefixes", 100, 2): "3086b2eacd9ad8b7",
    ("p_identity", "ranges", 24, 1): "16dc1dfcb60419d7",
    ("p_identity", "quantiles", 64, 2): "cdfc63930bcc9fc8",
}


@pytest.mark.parametrize("key", STORED)
def test_a_strategy_stays_what_it_was_when_others_were_measured_with_it(key):
    name, workload, bins, norm = key
    matrix = build_strategy(name, LineWorkload(workload, bins), norm).matrix
    assert sha256(repr(matrix.rows).encode()).hexdigest()[:16] == STORED[key]


def test_a_sparse_matrix_is_the_matrix():
    rows = [[1, 0, 2], [0, 3, 0], [1, 1, 1]]
    sparse, dense = SparseMatrix(Matrix.dense(rows)), np.array(rows, dtype=float)
    assert sparse.gram.tolist() == (dense.T @ dense).tolist()
    assert sparse.gather(np.array([1.0, 10.0, 100.0])).tolist() == (dense.T @ [1.0, 10.0, 100.0]).tolist()


def total_error_of_trees(tree, workload):
    rows = [dict(run) for run in tree.list_runs()]
    strategy = np.array([[row.get(place, 0.0) for place in range(workload.bins)] for row in rows])
    return float(np.sum(np.linalg.inv(strategy.T @ strategy) * workload.matrix))


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("norm", [1, 2])
def test_the_error_of_a_full_tree_is_that_of_its_matrix(name, norm):
    workload = LineWorkload(name, 64)
    tree = fit_tree(workload, norm)
    assert tree.error == pytest.approx(total_error_of_trees(tree, workload), rel=1e-9)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("bins", [3, 10, 100])
def test_runs_that_are_cut_off_have_less_error_than_stated(norm, bins):
    workload = LineWorkload("ranges", bins)
    tree = fit_tree(workload, norm)
    assert 0.85 * tree.error <= total_error_of_trees(tree, workload) <= tree.error * (1 + 1e-9)


def test_gaussian_levels_are_weighted_as_the_closed_form_says():
    """Without limits, the least sum of cost / told at a given length has told as sqrt(cost / (length of a unit))."""
    workload = LineWorkload("prefixes", 256)
    tree = fit_tree(workload, 2)
    units = [2.0**-level - 2.0 ** -(level + 1) for level in range(8)] + [2.0**-8]
    optimum = sum(sqrt(cost * unit) for cost, unit in zip(cost_levels(workload, 2), units, strict=True)) ** 2
    assert tree.branches == 2
    assert optimum <= tree.error <= 1.0005 * optimum


@pytest.mark.parametrize("norm", [1, 2])
def test_portions_add_up_and_no_move_of_one_is_better(norm):
    tree = fit_tree(LineWorkload("ranges", 100), norm)
    assert sum(tree.portions) == 1024
    assert tree.weigh() == tree
    equal = replace(tree, portions=(1024 - 10 * (len(tree.portions) - 1), *[10] * (len(tree.portions) - 1)))
    assert tree.error < equal.error


for line, pairs in enumerate(MATRIX.rows):
    for column, coefficient in pairs:
        DENSE[line, column] = coefficient


MEASURED = np.random.default_rng(3).integers(-(10**5), 10**6, len(MATRIX.rows))


RELEASE = GramRelease.solve(MATRIX, MEASURED, 50.0**2)


def test_counts_are_least_squares():
    inverse = np.linalg.pinv(DENSE)
    assert RELEASE.values == pytest.approx(inverse @ MEASURED)
    assert RELEASE.covariance == pytest.approx(2500 * inverse @ inverse.T)


def test_groups_have_the_sums_and_variances_of_their_bins():
    groups = np.array([0, 0, -1, 2, 2, 2, 0])
    values, variances = RELEASE.count([0], groups, 3)
    members = np.array([groups == group for group in range(3)], dtype=float)
    assert values == pytest.approx(members @ RELEASE.values)
    assert variances == pytest.approx(np.diagonal(members @ RELEASE.covariance @ members.T))
    assert values[1] == variances[1] == 0


def test_weights_count_rows_for_more():
    weights = np.arange(7.0)
    values, variances = RELEASE.add([0], np.zeros(7, dtype=int), 1, weights)
    assert values[0] == pytest.approx(weights @ RELEASE.values)
    assert variances[0] == pytest.approx(weights @ RELEASE.covariance @ weights)


def test_all_rows_are_counted_without_naming_a_column():
    values, variances = RELEASE.count([], np.array(0), 1)
    sums, spread = RELEASE.add_up()
    assert values[0] == pytest.approx(sums[-1])
    assert variances[0] == pytest.approx(spread[-1])


def test_other_columns_are_not_covered():
    assert RELEASE.covers([0])
    assert not RELEASE.covers([1])
    with pytest.raises(ValueError, match="only one"):
        RELEASE.count([1], np.zeros(7, dtype=int), 1)


def test_plain_data_is_read_again():
    again = GramRelease.from_plain(RELEASE.to_plain(), (7,))
    assert again.count([0], np.zeros(7, dtype=int), 1) == RELEASE.count([0], np.zeros(7, dtype=int), 1)


@pytest.mark.parametrize(
    "changed",
    [{"values": np.zeros(6)}, {"covariance": np.eye(6)}, {"covariance": -np.eye(7)}, {"values": np.full(7, np.nan)}],
)
def test_plain_data_of_a_stranger_is_checked(changed):
    with pytest.raises(ValueError, match="GramRelease"):
        GramRelease.from_plain(RELEASE.to_plain() | changed, (7,))
