"""The share of a population: coverage on 3,500 samples, judged as that of its mean."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from adomnia.privacy.events import Pure
from adomnia.statistics.contract import Measured
from adomnia.statistics.joint import Joint
from adomnia.statistics.mean import Mean
from adomnia.statistics.population.share import PopulationShare
from kit.samples import BIT, PAY, PRICES, SIZES, cover, estimate_samples, query_of

BITS = query_of(BIT)
SHARE = PopulationShare(BITS)


def draw(share, size, draws=3500):
    ones = np.random.default_rng(size).binomial(size, share, draws).astype(float)
    return np.stack([size - ones, ones], axis=-1)


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [0.5, 0.2, 0.02])
def test_its_interval_holds_the_population_as_often_as_it_says(share, size, price):
    estimate = estimate_samples(SHARE, price, draw(share, size), np.random.default_rng(1))
    assert 0.92 <= cover(estimate, share) <= 0.985


def test_of_many_rows_it_is_hardly_wider_than_it_has_to_be():
    lower, upper = estimate_samples(SHARE, Pure(1), draw(0.2, 10_000), np.random.default_rng(1)).interval(0.95, 1)
    assert (upper - lower).mean() <= 1.05 * 3.92 * sqrt(0.2 * 0.8 / 10_000)


def test_an_interval_of_noise_alone_is_seen_to_miss_the_population():
    alone = Joint(Mean(BITS), (BITS.aggregate,), 1)
    assert cover(estimate_samples(alone, Pure(1), draw(0.2, 1000), np.random.default_rng(1)), 0.2) < 0.5


@pytest.mark.parametrize("size", [0, 1, 3])
def test_few_rows_leave_every_share_and_never_no_number(size):
    estimate = estimate_samples(SHARE, Pure(1), draw(0.5, size, 500), np.random.default_rng(2))
    for confidence, cells in ((1e-12, 1), (0.95, 1), (0.999999, 10**6)):
        lower, upper = estimate.interval(confidence, cells)
        assert ((lower >= 0) & (lower <= estimate.values) & (estimate.values <= upper) & (upper <= 1)).all()
    lower, upper = estimate.interval(0.95, 1)
    assert np.mean(upper - lower == 1) > 0.8


def test_the_known_answer_of_a_share_is_met():
    # 400 of 1000, noise of variance 8 on the sum alone: sd 0.01575. With both counts noisy at epsilon 0.5 it is
    # sqrt(0.24 / 1000 + (0.6^2 + 0.4^2) * 8 / 1000^2).
    (measure,) = SHARE.planned_measures(Pure(0.5))
    estimate = SHARE.estimate(Measured(np.array([600, 400]), measure.mechanism))
    lower, upper = estimate.interval(0.95, 1)
    assert float(upper - lower) / 3.92 == pytest.approx(sqrt(0.00024 + 0.52 * 8e-6), rel=0.03)


def test_a_value_that_is_not_one_of_two_is_refused():
    with pytest.raises(ValueError, match="one of two whole numbers"):
        PopulationShare(query_of(PAY))
