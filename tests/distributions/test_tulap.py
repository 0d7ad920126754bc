import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from adomnia.distributions.tulap import smooth_cdf, upper_tail
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace

KNOWN = json.loads((Path(__file__).parents[1] / "fixtures" / "vectors2.json").read_text())["ump_binomial"]


def test_its_distribution_is_the_published_one():
    found = smooth_cdf(DiscreteLaplace(1), np.array([-1.2, 0.0, 0.3, 2.0]))
    assert found == pytest.approx(KNOWN["tulap_cdf(1,t=-1.2,0,.3,2)"], abs=1e-6)


@pytest.mark.parametrize("observed", [27.0, 31.3])
def test_the_p_value_of_the_most_powerful_test_is_the_published_one(observed):
    counts = np.arange(KNOWN["n"] + 1.0)
    chances = stats.binom(KNOWN["n"], KNOWN["theta0"]).pmf(counts)
    found = upper_tail(observed, counts, chances, DiscreteLaplace(1))
    assert found == pytest.approx(KNOWN[f"p(z={observed})"], rel=1e-5)


@pytest.mark.parametrize(
    "distribution", [DiscreteLaplace(3), DiscreteGaussian(1), DiscreteGaussian(64), DiscreteGaussian(20_000)]
)
def test_halfway_between_whole_numbers_it_is_the_sum_of_the_distribution(distribution):
    """Where a normal distribution takes its place, to 2e-6."""
    for k in (-7, -1, 0, 4):
        exact = sum(distribution.probability(each) for each in range(-1_500, k + 1))
        assert smooth_cdf(distribution, np.array([k + 0.5]))[0] == pytest.approx(exact, abs=2e-6)


def test_between_these_it_is_a_straight_line():
    low, middle, high = smooth_cdf(DiscreteGaussian(3), np.array([1.5, 2.0, 2.5]))
    assert middle == pytest.approx((low + high) / 2)
