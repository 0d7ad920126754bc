"""Quotients of noisy sums: their values, and Fieller's interval where numerator and denominator share noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.distributions import quotients as quotients_module
from adomnia.distributions.quotients import Noisy, Quotient, combine
from adomnia.distributions.ratios import ratio_bounds
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Measured

NOISES = {"s": DiscreteLaplace(Fraction(2000)), "n": DiscreteLaplace(Fraction(20))}


def noisy(values, rounded=0.0, **weights):
    values = np.asarray(values, dtype=np.float64)
    given = {name: np.full(values.shape, float(weight)) for name, weight in weights.items()}
    return Noisy(values, given, np.full(values.shape, rounded))


def quotient(numerator, denominator, limits=(-100.0, 100.0), needed=None):
    return Quotient(numerator, denominator, (denominator,) if needed is None else needed, limits, NOISES)


def test_sums_are_combined_with_their_noise_and_their_rounding():
    both = combine(
        (noisy([1.0, 2.0], 0.5, s=1, n=2), np.asarray(2.0)), (noisy([5.0, 6.0], 0.25, n=3), np.array([-1.0, 1.0]))
    )
    assert both.values.tolist() == [-3.0, 10.0]
    assert {name: weight.tolist() for name, weight in both.weights.items()} == {"s": [2.0, 2.0], "n": [1.0, 7.0]}
    assert both.rounded.tolist() == [1.25, 1.25]


def test_a_plain_ratio_has_the_interval_of_a_plain_ratio():
    s, n = np.array([40_000, -90_000, 0]), np.array([5_000, 3_000, 10_000])
    found = quotient(noisy(s, s=1), noisy(n, n=1)).bounds(0.95, 1)
    known = ratio_bounds(Measured(s, NOISES["s"]), Measured(n, NOISES["n"]), (-100, 100), 0.95, 1)
    for ours, exact in zip(found, known, strict=True):
        assert ours == pytest.approx(exact, rel=0.02, abs=0.02)


def test_an_interval_that_ignored_the_denominator_would_be_too_narrow():
    s, n = noisy([50_000.0], s=1), noisy([1_000.0], n=1)
    lower, upper = quotient(s, n).bounds(0.95, 1)
    alone = NOISES["s"].interval(0.95).half_width / 1000
    assert upper - 50 > 1.05 * alone
    assert 50 - lower > 1.01 * alone


def test_noise_that_both_share_cancels():
    shared = quotient(noisy([2_000.0], n=2), noisy([1_000.0], n=1))
    lower, upper = shared.bounds(0.95, 1)
    assert upper - lower < 0.01


def test_rounding_widens_by_what_it_may_have_moved():
    exact, rounded = (quotient(noisy([2_000.0], off, s=1), noisy([1_000.0], n=1)) for off in (0.0, 500.0))
    (narrow, _), (wide, _) = exact.bounds(0.95, 1), rounded.bounds(0.95, 1)
    assert narrow - wide == pytest.approx([0.5], rel=0.05)


def test_what_is_lost_in_noise_leaves_the_limits():
    usual = NOISES["n"].interval(0.95).half_width
    for rows, known in ((0.9 * usual, False), (1.4 * usual, True), (0.0, False), (-500.0, False)):
        lower, upper = quotient(noisy([50.0], s=1e-9, n=0), noisy([rows], n=1)).bounds(0.95, 1)
        assert bool(lower[0] > -100) is known
        assert bool(upper[0] < 100) is known
    lost = quotient(noisy([50.0], s=1), noisy([1e6], n=1), needed=(noisy([1e6], n=1), noisy([3.0], s=1)))
    assert [end.tolist() for end in lost.bounds(0.95, 1)] == [[-100.0], [100.0]]


def test_the_surer_an_interval_is_to_be_the_clearer_its_denominator_must_be():
    one = quotient(noisy([50.0], s=1), noisy([200.0], n=1))
    assert one.bounds(0.95, 1)[1] < 100
    assert one.bounds(0.95, 10**6)[1] == 100


def test_values_stay_within_limits_and_intervals_hold_them():
    far = quotient(noisy([1.2e6, -1.2e6, 5.0, 5.0], s=1), noisy([10_000.0, 10_000.0, 0.0, -10.0], n=1))
    assert far.values.tolist() == [100.0, -100.0, 0.0, 0.0]
    lower, upper = far.bounds(0.95, 1)
    assert (lower <= far.values).all()
    assert (far.values <= upper).all()
    # What would lie wholly beyond begins at the limit, a tenth as wide as it is.
    assert (upper[0], lower[1]) == (100.0, -100.0)
    assert lower[0] == -upper[1]
    assert 90.0 < lower[0] < 99.9


def test_gaussian_noise_is_told_by_its_variance():
    noises = {"s": DiscreteGaussian(Fraction(10**6)), "n": DiscreteGaussian(Fraction(1))}
    one = Quotient(noisy(0.0, s=1), noisy(10_000.0, n=1), (noisy(1e12, n=1),), (-9.0, 9.0), noises)
    lower, upper = one.bounds(0.95, 1)
    assert upper == pytest.approx(1.959964 * 1000.5 / 10_000, rel=1e-3)
    assert lower == pytest.approx(-upper)


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, float("nan")])
def test_a_confidence_that_is_none_is_refused(confidence):
    with pytest.raises(ValueError, match="confidence must be above 0 and below 1"):
        quotient(noisy([5.0], s=1), noisy([5.0], n=1)).bounds(confidence, 1)


def test_cells_are_solved_in_blocks_as_they_are_all_at_once(monkeypatch):
    values = np.linspace(-9e4, 9e4, 35).reshape(5, 7)
    one = quotient(noisy(values, 10.0, s=1, n=0.5), noisy(np.full((5, 7), 4e3), n=1))
    whole = one.bounds(0.95, 1)
    monkeypatch.setattr(quotients_module, "_AT_ONCE", 4)
    for found, known in zip(one.bounds(0.95, 1), whole, strict=True):
        assert found.shape == (5, 7)
        assert found.tolist() == known.tolist()
    assert (np.diff(whole[0].ravel()) > 0).all()
