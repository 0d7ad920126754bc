from math import log, sqrt

import numpy as np
import pytest

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.parts.describe.error_laws import cumulants, deviations, left_open

ONE = np.ones(1)


def test_a_normal_error_and_a_laplace_error_have_their_own_quantiles():
    assert deviations(ONE, 0 * ONE, 0.05)[0] == pytest.approx(1.959964, rel=1e-4)
    assert deviations(ONE, 3 * ONE, 0.05)[0] == pytest.approx(log(20) / sqrt(2), rel=1e-4)
    assert deviations(ONE, 3 * ONE, 1e-6)[0] == pytest.approx(log(1e6) / sqrt(2), rel=1e-3)


def test_ten_cells_at_once_need_the_quantile_of_all_of_them():
    alpha = left_open(0.95, 10)
    assert deviations(ONE, 0 * ONE, alpha)[0] == pytest.approx(2.79963, rel=1e-4)
    assert deviations(ONE, 3 * ONE, alpha)[0] * sqrt(2) == pytest.approx(5.27534, rel=1e-4)


@pytest.mark.parametrize("many", [2, 3, 5, 9])
def test_sums_of_laplace_noises_stay_within_their_quantile(many):
    draws = np.random.default_rng(many).laplace(size=(400_000, many)).sum(axis=1) / sqrt(2 * many)
    found = deviations(ONE, 3 * ONE / many, 0.05)[0]
    # 400,000 draws tell a share of 5% to 0.2% with less than one false alarm in a million.
    assert 0.047 < np.mean(np.abs(draws) > found) < 0.058
    assert np.mean(np.abs(draws) > found * 0.9) > 0.062


def test_the_law_of_a_noise_is_that_of_its_mechanism():
    assert cumulants(DiscreteLaplace(10)) == (200.0, 120_000.0)
    assert cumulants(DiscreteGaussian(9)) == (9.0, 0.0)


def test_a_confidence_is_a_probability():
    with pytest.raises(ValueError, match="confidence"):
        left_open(1.0, 1)


def test_an_error_next_to_zero_has_the_law_of_one_noise():
    tiny = 1e-160 * ONE
    assert deviations(tiny, ONE, 0.05)[0] == pytest.approx(log(20) / sqrt(2), rel=1e-4)
