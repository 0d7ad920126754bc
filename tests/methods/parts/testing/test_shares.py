import numpy as np
import pytest
from scipy.optimize import minimize

from adomnia.methods.parts.testing.shares import project

RANDOM = np.random.default_rng(4)


def test_shares_are_none_below_zero_and_add_up_to_one_whatever_the_counts():
    counts = RANDOM.normal(0, 30, (500, 7))
    shares = project(counts)
    assert shares.min() >= 0
    assert shares.sum(axis=-1) == pytest.approx(1)


def test_counts_that_are_shares_already_stay_as_they_are():
    assert project(np.array([2.0, 0.0, 6.0])).tolist() == [0.25, 0.0, 0.75]


def test_no_other_shares_are_nearer():
    for counts in RANDOM.normal(3, 6, (20, 4)):
        total = counts.sum()
        if total <= 1:
            continue
        best = minimize(
            lambda at, counts=counts: np.square(at - counts).sum(),
            np.full(4, total / 4),
            bounds=[(0, None)] * 4,
            constraints={"type": "eq", "fun": lambda at, total=total: at.sum() - total},
        )
        assert np.square(project(counts) * total - counts).sum() <= best.fun + 1e-5


def test_nothing_at_all_is_spread_evenly():
    assert project(np.array([-3.0, 1.0])).tolist() == [0.5, 0.5]
    assert project(np.zeros(4)).tolist() == [0.25] * 4
