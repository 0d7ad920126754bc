"""The variance of a population: coverage as of its mean (measured on 20,000 samples: 0.948 to 0.985)."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from adomnia.privacy.events import Pure
from adomnia.statistics.joint import Joint
from adomnia.statistics.population.variance import PopulationVariance
from adomnia.statistics.variance import Variance
from kit.samples import (
    PAY,
    POPULATIONS,
    PRICES,
    SIZES,
    WIDTH,
    cover,
    draw_samples,
    estimate_samples,
    query_of,
    truth_of,
)

PAID = query_of(PAY)
SPREAD = PopulationVariance(PAID, "STDDEV_SAMP")
every_price = pytest.mark.parametrize("price", PRICES, ids=str)


@every_price
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", POPULATIONS)
def test_its_interval_holds_the_population_as_often_as_it_says(name, size, price):
    true, samples = truth_of(POPULATIONS[name]), draw_samples(name, size)
    estimate = estimate_samples(SPREAD, price, samples, np.random.default_rng(size))
    # A deviation of zero is at the end of what there can be: it is missed from one side only.
    assert 0.92 <= cover(estimate, true.deviation) <= (1 if name == "constant" else 0.985)


@pytest.mark.parametrize("name", ["normal", "lognormal", "rounded", "mostly zero", "clusters"])
def test_of_many_rows_it_is_hardly_wider_than_it_has_to_be(name):
    true, samples = truth_of(POPULATIONS[name]), draw_samples(name, 10_000)
    lower, upper = estimate_samples(SPREAD, Pure(1), samples, np.random.default_rng(1)).interval(0.95, 1)
    sampled = sqrt(true.fourth - true.deviation**4) / (2 * true.deviation) / 100
    assert (upper - lower).mean() <= 1.3 * 3.92 * sampled


@pytest.mark.parametrize("name", ["normal", "lognormal", "rounded", "mostly zero", "clusters"])
def test_an_interval_of_noise_alone_is_seen_to_miss_the_population(name):
    true, samples = truth_of(POPULATIONS[name]), draw_samples(name, 10_000)
    alone = Joint(Variance(PAID, "STDDEV_SAMP"), (PAID.aggregate,), 4)
    assert cover(estimate_samples(alone, Pure(1), samples, np.random.default_rng(1)), true.deviation) < 0.8


def test_a_normal_distribution_in_place_of_the_measured_scatter_would_miss_heavy_tails():
    true, samples = truth_of(POPULATIONS["lognormal"]), draw_samples("lognormal", 10_000)
    estimate = estimate_samples(SPREAD, Pure(1), samples, np.random.default_rng(1))
    supposed = 1.96 * true.deviation / sqrt(2 * 10_000)
    assert float(np.mean(np.abs(estimate.values - true.deviation) <= supposed)) < 0.8


@every_price
@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("function", ["VAR_POP", "STDDEV_SAMP"])
def test_few_rows_leave_what_the_bounds_allow_and_never_no_number(function, size, price):
    samples = np.random.default_rng(3).multinomial(size, POPULATIONS["normal"], 500).astype(float)
    estimate = estimate_samples(PopulationVariance(PAID, function), price, samples, np.random.default_rng(size))
    most = (WIDTH / 2) ** (1 if function == "STDDEV_SAMP" else 2)
    for confidence, cells in ((1e-12, 1), (0.95, 1), (0.999999, 10**6)):
        lower, upper = estimate.interval(confidence, cells)
        assert np.isfinite(lower).all()
        assert np.isfinite(upper).all()
        assert ((lower >= 0) & (lower <= estimate.values) & (estimate.values <= upper) & (upper <= most)).all()


def test_all_spellings_are_the_population_s_variance():
    samples = draw_samples("normal", 100)
    found = {
        name: estimate_samples(PopulationVariance(PAID, name), Pure(1), samples, np.random.default_rng(6)).values
        for name in ("VAR_POP", "VAR_SAMP", "STDDEV_POP")
    }
    assert np.array_equal(found["VAR_POP"], found["VAR_SAMP"])
    assert np.allclose(found["STDDEV_POP"] ** 2, found["VAR_POP"])


def test_another_function_is_refused():
    with pytest.raises(ValueError, match="function must be one of VAR_POP"):
        PopulationVariance(PAID, "AVG")
