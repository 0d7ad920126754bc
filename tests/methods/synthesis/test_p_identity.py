"""Sums of bins that are fitted to a workload."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.synthesis import p_identity
from adomnia.methods.synthesis.p_identity import IN_WORDS, WORKLOADS, LineWorkload, fit_sums, measure_lengths

FIXTURES = Path(__file__).parents[2] / "fixtures"
KNOWN = json.loads((FIXTURES / "vectors2.json").read_text())["hdmm_p_identity_prefix"]


def total_error(weights, workload, norm):
    """The error by inverting the whole matrix."""
    strategy = np.concatenate([np.eye(workload.bins), weights.T]) / measure_lengths(weights, norm)
    return float(np.sum(np.linalg.inv(strategy.T @ strategy) * workload.matrix))


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("norm", [1, 2])
def test_the_error_and_its_slope_are_those_of_the_whole_matrix(name, norm):
    workload = LineWorkload(name, 9)
    roots = np.random.default_rng(5).random((9, 3)) + 0.1
    error, slope = p_identity._Sums(workload, norm).judge(roots)
    assert error == pytest.approx(total_error(roots**2, workload, norm))
    for place in [(0, 0), (4, 1), (8, 2)]:
        moved = roots.copy()
        moved[place] += 1e-6
        rise = (total_error(moved**2, workload, norm) - error) / 1e-6
        assert slope[place] == pytest.approx(rise, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("bins", [1, 2, 8, 24])
def test_what_is_fitted_has_the_error_that_it_states_and_is_hardly_worse_than_single_bins(name, norm, bins):
    workload = LineWorkload(name, bins)
    error, weights = fit_sums(workload, norm)
    assert error == pytest.approx(total_error(weights, workload, norm), rel=1e-6)
    assert error <= 1.01 * workload.diagonal.sum()
    assert (weights >= 0).all()


def test_weights_without_end_are_not_followed():
    workload = LineWorkload("quantiles", 8)
    error, _ = p_identity._Sums(workload, 1).judge(np.full((8, 2), 100.0))
    assert error == np.inf


def test_sums_are_added_in_one_order_whatever_the_layout():
    values = np.random.default_rng(1).normal(size=(37, 5)) * 10.0 ** np.arange(37)[:, None]
    turned = np.asfortranarray(values)
    assert p_identity._sum_rows(values).tolist() == p_identity._sum_rows(turned).tolist()


def list_counts(name, bins):
    """All wanted counts as rows, and what each row weighs."""
    if name == "ranges":
        spans = [(start, end) for start in range(bins) for end in range(start + 1, bins + 1)]
        return np.array([[start <= place < end for place in range(bins)] for start, end in spans], dtype=float)
    prefixes = np.tril(np.ones((bins, bins)))
    if name == "prefixes":
        return prefixes
    # Shares in the middle of 2,000 equal parts stand for all between 0 and 1.
    shares = (np.arange(2000) + 0.5) / 2000
    return np.concatenate([(row - share) / np.sqrt(2000) for row in prefixes for share in shares[:, None, None]])


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("bins", [1, 2, 5])
def test_the_matrix_is_that_of_all_counts_written_out(name, bins):
    rows = list_counts(name, bins)
    workload = LineWorkload(name, bins)
    assert workload.matrix == pytest.approx(rows.T @ rows, rel=1e-6)
    assert workload.diagonal == pytest.approx(np.diagonal(workload.matrix))


@pytest.mark.parametrize("bins", [8, 64, 256])
def test_the_bound_of_prefixes_is_the_known_one(bins):
    known = next(each for label, each in KNOWN.items() if f"n={bins}," in label)
    assert LineWorkload("prefixes", bins).bound == pytest.approx(known["svd_bound_gaussian_unit"], rel=1e-4)


def test_every_workload_has_words():
    assert set(IN_WORDS) == set(WORKLOADS)
