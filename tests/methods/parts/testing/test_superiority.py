import numpy as np
import pytest

from adomnia.methods.parts.testing.superiority import Pairs, superiority, vary_by_order, vary_by_sampling

COUNTS = np.array([[5.0, 20.0, 75.0], [50.0, 30.0, 20.0]])
RIGHT = 0.05 * 0.25 + 0.20 * 0.65 + 0.75 * 0.9


def test_ties_count_half():
    assert superiority(COUNTS) == pytest.approx(RIGHT)


def test_exact_counts_of_the_data_leave_one_probability():
    lower, upper = Pairs(COUNTS, 0.0, 0.0).interval(3.0)
    assert (lower[0], upper[0]) == pytest.approx((RIGHT, RIGHT))


def test_noise_stays_within_its_standard_errors_and_projected_shares_are_too_small():
    """10,000 draws: a share of 5% is off by 1.1% in one of 10**6 runs, a mean by less than 0.01."""
    wide = np.pad(COUNTS, ((0, 0), (15, 15)))
    noisy = wide + np.random.default_rng(1).normal(0, 4, (10_000, *wide.shape))
    outside = np.abs(Pairs(noisy, 16.0, 0.0).studentize(RIGHT)) > 1.96
    assert 0.03 <= outside.mean() <= 0.06
    assert superiority(noisy).mean() < RIGHT - 0.03


def test_sampling_varies_as_it_does_in_simulations():
    """A variance of 20,000 draws is off by 6% in one of 10**6 runs."""
    random, shares = np.random.default_rng(2), COUNTS / 100
    drawn = np.stack([random.multinomial(100, share, 20_000) for share in shares], axis=1).astype(float)
    assert vary_by_sampling(shares, np.array([100.0, 100.0])) == pytest.approx(
        (superiority(drawn) * 1e4).var(), rel=0.06
    )


def test_where_a_group_is_all_noise_everything_is_possible():
    lower, upper = Pairs(np.array([[1.0, -1.0, 1.0], [50.0, 30.0, 20.0]]), 64.0, 0.0).interval(2.0)
    assert (lower[0], upper[0]) == (0, 1)


def test_order_within_bins_varies_as_any_order_does_and_not_where_one_value_is_alone():
    """A variance of 20,000 draws is off by 6% in one of 10**6 runs."""
    shares = COUNTS / 100
    any_order = np.random.default_rng(3).random((20_000, 3)) - 0.5
    drawn = (any_order * shares[0] * shares[1])[:, 1:].sum(axis=1)
    assert vary_by_order(shares, (True, False, False)) == pytest.approx(drawn.var(), rel=0.06)
    assert vary_by_order(shares, (True, True, True)) == 0
