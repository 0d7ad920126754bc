"""How far errors go whose variance is known."""

from fractions import Fraction
from math import erfc, exp, log, sqrt

import numpy as np
import pytest

from adomnia.distributions.margins import deviations, divide_confidence, margin
from adomnia.mechanisms.contract import find_alpha
from adomnia.mechanisms.laplace import DiscreteLaplace

ONE = np.ones(1)
MANY = 40_000


def test_a_normal_error_and_a_laplace_error_have_their_own_quantiles():
    assert deviations(ONE, 0 * ONE, 0.05)[0] == pytest.approx(1.959964, rel=1e-4)
    assert deviations(ONE, 3 * ONE, 0.05)[0] == pytest.approx(log(20) / sqrt(2), rel=1e-4)
    assert deviations(ONE, 3 * ONE, 1e-6)[0] == pytest.approx(log(1e6) / sqrt(2), rel=1e-3)


def test_ten_cells_at_once_need_the_quantile_of_all_of_them():
    alpha = find_alpha(0.95, 10)
    assert deviations(ONE, 0 * ONE, alpha)[0] == pytest.approx(2.79963, rel=1e-4)
    assert deviations(ONE, 3 * ONE, alpha)[0] * sqrt(2) == pytest.approx(5.27534, rel=1e-4)


@pytest.mark.parametrize("many", [2, 3, 5, 9])
def test_sums_of_laplace_noises_stay_within_their_quantile(many):
    draws = np.random.default_rng(many).laplace(size=(400_000, many)).sum(axis=1) / sqrt(2 * many)
    found = deviations(ONE, 3 * ONE / many, 0.05)[0]
    # 400,000 draws tell a share of 5% to 0.2% with less than one false alarm in a million.
    assert 0.047 < np.mean(np.abs(draws) > found) < 0.058
    assert np.mean(np.abs(draws) > found * 0.9) > 0.062


def test_an_error_next_to_zero_is_taken_for_one_noise():
    tiny = 1e-160 * ONE
    assert deviations(tiny, ONE, 0.05)[0] == pytest.approx(log(20) / sqrt(2), rel=1e-4)


@pytest.mark.parametrize("weights", [(1.0,), (1.0, 1.0), (5.0, 1.0, 1.0), (1.0,) * 12, (3.0, 2.0, 1.0, 0.5)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_a_sum_of_laplace_noise_is_within_its_reach_as_often_as_said(weights, confidence):
    """Of 40,000 sums, five standard deviations below the stated share: a right one fails once in three million runs."""
    noise = np.random.default_rng(1).laplace(size=(MANY, len(weights))) @ np.array(weights)
    error = np.sqrt(2 * np.sum(np.square(weights)))
    held = (np.abs(noise) <= margin("laplace", find_alpha(confidence)) * error).mean()
    assert held >= confidence - 5 * np.sqrt(confidence * (1 - confidence) / MANY)


def test_the_reach_of_gaussian_noise_would_be_too_short_for_one_laplace_noise():
    noise = np.random.default_rng(2).laplace(size=MANY)
    held = (np.abs(noise) <= margin("gaussian", find_alpha(0.999)) * np.sqrt(2)).mean()
    assert held < 0.999 - 5 * np.sqrt(0.999 * 0.001 / MANY)


@pytest.mark.parametrize("tails", ["gaussian", "laplace"])
def test_many_sums_at_once_are_held_together_however_they_depend_on_each_other(tails):
    generator = np.random.default_rng(3)
    draw = generator.normal if tails == "gaussian" else generator.laplace
    mixed = generator.normal(size=(6, 10))
    noise = draw(size=(MANY, 6)) @ mixed
    errors = np.sqrt((1 if tails == "gaussian" else 2) * np.square(mixed).sum(axis=0))
    held = (np.abs(noise) <= margin(tails, find_alpha(0.9, 10)) * errors).all(axis=1).mean()
    assert held >= 0.9 - 5 * np.sqrt(0.09 / MANY)
    assert (np.abs(noise) <= margin(tails, find_alpha(0.9, 1)) * errors).all(axis=1).mean() < 0.85


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-3, 1e-12])
def test_margins_are_the_quantiles_of_both_distributions(alpha):
    normal, both = margin("gaussian", alpha), margin("laplace", alpha)
    assert erfc(normal / sqrt(2)) == pytest.approx(alpha)
    assert both >= normal
    assert exp(-both * sqrt(2)) <= alpha * (1 + 1e-9)


def test_margins_are_of_what_is_continuous_because_those_of_the_exact_variance_would_miss_too_often():
    """A small Laplace noise has less variance than its continuous counterpart, and tails that fall no faster."""
    noise, alpha = DiscreteLaplace(Fraction(1, 2)), 0.01

    def missed(deviation):
        return noise.tail(int(margin("laplace", alpha) * deviation))

    assert noise.cumulants.variance == pytest.approx(0.362, abs=1e-3)
    assert missed(noise.continuous.deviation) < alpha < 3 * alpha < missed(sqrt(noise.cumulants.variance))


@pytest.mark.parametrize("confidence", [2.0**-53, 0.5, 0.95, 1 - 2.0**-53, 1.0])
@pytest.mark.parametrize("intervals", [1, 7, 10**9])
def test_what_is_left_open_is_divided_and_stays_a_confidence(confidence, intervals):
    each = divide_confidence(confidence, intervals)
    assert 0 < each < 1
    assert intervals * (1 - each) == pytest.approx(1 - confidence, abs=intervals * 2.0**-52)
