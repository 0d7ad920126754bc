"""The counts that a release of one column should answer well."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.synthesis.line_workloads import IN_WORDS, WORKLOADS, LineWorkload

FIXTURES = Path(__file__).parents[2] / "fixtures"
KNOWN = json.loads((FIXTURES / "vectors2.json").read_text())["hdmm_p_identity_prefix"]


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
