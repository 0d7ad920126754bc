"""Counts of a column from combinations of its bins."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.methods.synthesis.gram_release import GramRelease
from adomnia.methods.synthesis.line_workloads import LineWorkload
from adomnia.methods.synthesis.strategies import build_strategy

MATRIX = build_strategy("tree", LineWorkload("ranges", 7), 2).without_missing().blocks[0][0]
DENSE = np.zeros((len(MATRIX.rows), 7))
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
