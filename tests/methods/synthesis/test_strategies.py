"""What is measured of bins, for which counts and which noise."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.synthesis.line_workloads import WORKLOADS, LineWorkload
from adomnia.methods.synthesis.strategies import (
    MOST_FITTED,
    SparseMatrix,
    build_strategy,
    choose_strategy,
    list_strategies,
    norm_of,
)
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.transforms.matrices import Matrix

FIXTURES = Path(__file__).parents[2] / "fixtures"
FITTED = json.loads((FIXTURES / "vectors2.json").read_text())["hdmm_p_identity_prefix"]
PLAIN = json.loads((FIXTURES / "vectors.json").read_text())["matrix_mechanism_total_sq_error_eps1"]


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
