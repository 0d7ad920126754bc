"""Noisy counts as whole numbers that are not negative and add up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from adomnia.distributions.projections import fit_whole, project, project_shares, round_remainders, round_sums

RANDOM, COUNTS = np.random.default_rng(11), np.random.default_rng(4)


@pytest.mark.parametrize("total", [0.0, 1.0, 37.5, 1e9])
@pytest.mark.parametrize("values", [RANDOM.normal(0, 5, 12), np.zeros(12), -np.arange(12.0), np.full(12, 1e6)])
def test_projected_numbers_are_the_nearest_of_their_sum(values, total):
    found = project(values, np.array(total))
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total, rel=1e-9, abs=1e-6)
    # Of a nearest point, what is above zero was lowered by one number, and what is zero lies below it.
    lowered = values - found
    kept = found > 1e-9
    if kept.any():
        assert np.ptp(lowered[kept]) <= 1e-6 * max(1.0, abs(total), np.abs(values).max())
        assert (values[~kept] <= lowered[kept].max() + 1e-6 * max(1.0, np.abs(values).max())).all()


def test_what_is_not_there_stays_zero():
    assert project(np.array([1.0, 2.0, -np.inf]), np.array(9.0)).tolist() == [4.0, 5.0, 0.0]


def test_ranges_of_rounded_sums_are_off_by_less_than_one():
    values = RANDOM.exponential(0.4, 200)
    whole = round_sums(values)
    assert (whole >= 0).all()
    gaps = np.cumsum(whole) - np.cumsum(values)
    assert np.abs(gaps).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("total", [0, 1, 17, 10**12])
def test_remainders_add_up_and_nothing_moves_by_more_than_one(total):
    values = project(RANDOM.normal(0, 3, (5, 4, 9)), np.full((5, 4), float(total)))
    whole = round_remainders(values, np.full((5, 4), total))
    assert (whole.sum(axis=-1) == total).all()
    assert (whole >= 0).all()
    assert np.abs(whole - values).max() <= 1 + 1e-3


def test_whole_counts_are_near_the_least_squares_that_are_not_negative():
    rows = RANDOM.normal(size=(14, 6))
    gram, values = rows.T @ rows, np.array([5.0, -4.0, 30.0, -1.0, 0.5, 9.0])
    total = round(values.sum())
    found = fit_whole(values, gram)
    best = minimize(
        lambda x: (x - values) @ gram @ (x - values),
        np.full(6, total / 6),
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda x: x.sum() - total},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.sum() == total
    assert (found >= 0).all()
    assert np.abs(found - best.x).max() <= 1.01


@pytest.mark.parametrize("values", [np.full(4, -3.0), np.zeros(4)])
def test_nobody_is_counted_where_the_total_is_not_above_zero(values):
    assert fit_whole(values, np.eye(4)).tolist() == [0, 0, 0, 0]


def test_shares_are_none_below_zero_and_add_up_to_one_whatever_the_counts():
    counts = COUNTS.normal(0, 30, (500, 7))
    shares = project_shares(counts)
    assert shares.min() >= 0
    assert shares.sum(axis=-1) == pytest.approx(1)


def test_counts_that_are_shares_already_stay_as_they_are():
    assert project_shares(np.array([2.0, 0.0, 6.0])).tolist() == [0.25, 0.0, 0.75]


def test_no_other_shares_are_nearer():
    for counts in COUNTS.normal(3, 6, (20, 4)):
        total = counts.sum()
        if total <= 1:
            continue
        best = minimize(
            lambda at, counts=counts: np.square(at - counts).sum(),
            np.full(4, total / 4),
            bounds=[(0, None)] * 4,
            constraints={"type": "eq", "fun": lambda at, total=total: at.sum() - total},
        )
        assert np.square(project_shares(counts) * total - counts).sum() <= best.fun + 1e-5


def test_nothing_at_all_is_spread_evenly():
    assert project_shares(np.array([-3.0, 1.0])).tolist() == [0.5, 0.5]
    assert project_shares(np.zeros(4)).tolist() == [0.25] * 4
