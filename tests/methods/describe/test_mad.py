import numpy as np
import pytest

from kit.describing import LAWS
from kit.robust import RobustNumber, every_price


def plain(values):
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


NUMBER = RobustNumber("mad", plain, widest=1.2)


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
