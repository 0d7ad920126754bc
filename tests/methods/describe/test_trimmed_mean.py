import numpy as np
import pytest

from kit.describing import EPSILON, LAWS, covers_as_often
from kit.robust import RobustNumber, every_price


def plain(values):
    low, high = np.quantile(values, [0.1, 0.9])
    return float((np.clip(values, low, high).mean() - 0.1 * (low + high)) / 0.8)


NUMBER = RobustNumber("trimmed_mean", plain, widest=0.8)


@pytest.mark.parametrize("law", ["normal", "lognormal", "constant"])
def test_with_little_noise_it_is_that_of_the_data(law):
    NUMBER.check_without_noise(law)


@every_price
@pytest.mark.parametrize("law", ["lognormal", "rounded"])
def test_its_interval_holds_for_the_population_and_says_something(law, price):
    NUMBER.check_interval(law, price)


@pytest.mark.soak
@every_price
@pytest.mark.parametrize("size", [1000, 10_000, 100_000])
@pytest.mark.parametrize("law", LAWS)
def test_coverage_is_near_what_is_promised(law, size, price):
    NUMBER.check_coverage(law, size, price)


def test_values_that_are_all_equal_are_not_taken_for_spread_ones():
    """All rows lie between two cuts: nothing tells that they do not lie at one place, as they do."""
    values = LAWS["constant"](np.random.default_rng(6), 1000)
    ends = [NUMBER.ends(EPSILON, values, seed) for seed in range(15)]
    assert covers_as_often(sum(low - 1e-3 <= 37.3 <= high + 1e-3 for low, high in ends), 15, 0.94)


def test_it_is_the_mean_of_the_rows_in_the_middle_as_scipy_has_it():
    from scipy.stats import trim_mean

    values = LAWS["lognormal"](np.random.default_rng(5), 20_000)
    assert plain(values) == pytest.approx(trim_mean(values, 0.1), abs=0.01)
