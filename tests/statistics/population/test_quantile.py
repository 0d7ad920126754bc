"""Quantiles of a population: intervals that hold whatever the population, by ranks.

Each draw is a sample of its own, and takes a while: 40 of them. Measured on 300 draws the coverage is 0.97 or more, so
that fewer than 0.8 are a false alarm with a probability below 1e-6. An interval of noise alone must miss.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.brackets import Brackets
from adomnia.privacy.scans import Histogram
from adomnia.statistics.brackets import Bracket, tail
from adomnia.statistics.contract import Measured
from adomnia.statistics.population.quantile import PopulationQuantile, with_ladder
from kit import brackets
from kit.bits import SeededBits
from kit.samples import PAY, POPULATIONS, PRICES, VALUES, WIDTH, query_of

HALF, HIGH = Fraction(1, 2), Fraction(9, 10)
DRAWS = 40


def quantile(share):
    query = query_of(PAY)
    ranked = replace(query, aggregate=Histogram(PAY, PAY.domain, (share,), Fraction(19, 20)))
    return PopulationQuantile(with_ladder(ranked, share), share)


def released(statistic, price, name, size, draws=DRAWS):
    """What is released of many samples, each of its own."""
    (measure,) = statistic.planned_measures(price)
    mechanism, random = measure.mechanism, np.random.default_rng([size, len(name)])
    with brackets.in_doubles(random):
        found = [
            mechanism.release(
                brackets.secret(mechanism, random.choice(WIDTH + 1, size, p=POPULATIONS[name])), SeededBits("unused")
            )
            for _ in range(draws)
        ]
    return Measured(np.concatenate(found), mechanism)


def true_quantile(name, share):
    return float(VALUES[np.searchsorted(np.cumsum(POPULATIONS[name]), float(share) - 1e-12)])


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("name", ["normal", "lognormal", "rounded", "mostly zero", "constant", "clusters"])
def test_its_interval_holds_the_population_whatever_that_is(name, price):
    statistic = quantile(HALF)
    estimate = statistic.estimate(released(statistic, price, name, 1000))
    lower, upper = estimate.interval(0.95, 1)
    true = true_quantile(name, HALF)
    assert np.mean((lower <= true) & (true <= upper)) >= 0.8
    assert ((lower <= estimate.values) & (estimate.values <= upper)).all()


@pytest.mark.parametrize(("share", "size", "most"), [(HALF, 10_000, 2.2), (HIGH, 10_000, 2.6), (HALF, 1000, 2.8)])
def test_it_is_not_wide_beside_what_sampling_leaves(share, size, most):
    statistic = quantile(share)
    lower, upper = statistic.estimate(released(statistic, PRICES[0], "normal", size)).interval(0.95, 1)
    ranks = np.interp([lower, upper], VALUES, np.cumsum(POPULATIONS["normal"]))
    step = float(POPULATIONS["normal"].max())  # values are whole numbers
    sampled = 3.92 * np.sqrt(float(share * (1 - share)) / size)
    assert np.mean(ranks[1] - ranks[0]) <= most * sampled + step


def test_an_interval_of_noise_alone_is_seen_to_miss_the_population():
    mechanism, random = (
        Brackets(quantile(HALF).query.aggregate.shares, 100_000, Fraction(1), PRICES[0]),
        np.random.default_rng(8),
    )
    place, scatter, held = mechanism.shares.index(HALF), 10_000 / 4, []
    with brackets.in_doubles(random):
        for _ in range(DRAWS):
            secret = brackets.secret(mechanism, random.integers(0, 100_000, 10_000))
            found = Bracket.read(mechanism, mechanism.release(secret, SeededBits("unused"))[0], place)
            ends = found.bounds(0.05), replace(found, scatter=scatter).bounds(0.025)
            held.append([low <= 49_999 <= high for low, high in ends])
    alone, together = np.mean(held, axis=0)
    assert alone < 0.8 < together


def test_few_rows_leave_the_declared_range():
    statistic = quantile(HALF)
    lower, upper = statistic.estimate(released(statistic, PRICES[1], "normal", 5)).interval(0.95, 1)
    assert np.mean((lower == 0) & (upper == WIDTH)) > 0.9


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_the_tail_of_a_rank_is_that_of_noise_and_sampling_together(price):
    noise = Brackets((HALF, HIGH), 100, Fraction(1), price).usual_counting
    random, weights = np.random.default_rng(7), ((0.5, 3), (0.3, 2))
    drawn = random.normal(0, 6, 400_000)
    for weight, times in weights:
        for _ in range(times):
            drawn = drawn + weight * brackets._noise(noise, 400_000, random, 1)
    x = float(np.quantile(drawn, 0.95))
    assert tail(noise, x, weights, 36.0) == pytest.approx(0.05, abs=0.004)
    assert tail(noise, x, weights) < 0.04


def test_the_ladder_is_around_its_share_and_inside():
    shares = quantile(HIGH).query.aggregate.shares
    assert HIGH in shares
    assert shares == tuple(sorted(set(shares)))
    assert all(0 < share < 1 for share in shares)
    assert min(abs(share - HIGH) for share in shares if share != HIGH) <= Fraction(2, 1000)
    assert quantile(Fraction(1, 1000)).share == Fraction(1, 1000)


def test_a_share_without_others_is_refused():
    query = replace(query_of(PAY), aggregate=Histogram(PAY, PAY.domain, (HALF,), Fraction(19, 20)))
    with pytest.raises(ValueError, match="must be asked for among others"):
        PopulationQuantile(query, HALF)
