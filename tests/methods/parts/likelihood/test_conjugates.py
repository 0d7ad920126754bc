"""Conjugate families: how probable sums are, and what is believed after them, as by integrals over the parameters."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.parts.likelihood.conjugates import CONJUGATES
from adomnia.privacy.domains import Numbers


def weights(name, prior, rows, *sums):
    logs = CONJUGATES[name].log_weight(tuple(map(Fraction, prior)), np.asarray(rows, dtype=float), *sums)
    return logs - logs[0]


def test_counts_have_the_beta_binomial_distribution():
    ones = np.arange(6.0)
    known = stats.betabinom(5, 2, 3).logpmf(ones)
    assert weights("bernoulli", (2, 3), 5.0, ones) == pytest.approx(known - known[0])


def test_sums_of_events_have_the_negative_binomial_distribution():
    rows, total = np.array([1.0, 4.0, 4.0]), np.array([0.0, 3.0, 9.0])
    known = stats.nbinom(3, 2 / (2 + rows)).logpmf(total)
    assert weights("poisson", (3, 2), rows, total) == pytest.approx(known - known[0])


def test_sums_of_waiting_times_have_the_density_that_the_rates_mix_to():
    rows, total = np.array([1.0, 5.0, 5.0]), np.array([0.5, 3.0, 9.0])
    rates = np.linspace(1e-6, 40, 40_001)
    densities = stats.gamma.pdf(total[:, None], rows[:, None], scale=1 / rates) * stats.gamma.pdf(rates, 3, scale=0.5)
    mixed = np.trapezoid(densities, rates)
    assert weights("exponential", (3, 2), rows, total) == pytest.approx(np.log(mixed) - np.log(mixed[0]), rel=1e-5)


def test_means_and_variances_have_the_density_that_the_normal_distributions_mix_to():
    prior, rows = (1, 2, 3, 4), np.array([4.0, 4.0, 9.0])
    mean, spread = np.array([0.5, 2.0, 1.0]), np.array([1.0, 0.3, 2.0])

    squares = np.linspace(1e-3, 200, 100_001)
    n, m, v = (each[:, None] for each in (rows, mean, spread))
    of_mean = stats.norm.pdf(m, 1, np.sqrt(squares / 2 + squares / n))
    of_spread = stats.chi2.pdf(n * v / squares, n - 1) * n * v / squares  # of the logarithm of the variance
    mixed = np.log(np.trapezoid(of_mean * of_spread * stats.invgamma.pdf(squares, 3, scale=4), squares))
    assert weights("normal", prior, rows, mean, spread) == pytest.approx(mixed - mixed[0], rel=1e-3)


@pytest.mark.parametrize(
    ("name", "prior", "sums", "known"),
    [
        ("bernoulli", (2, 3), (4.0,), [stats.beta(6, 9)]),
        ("poisson", (2, 3), (4.0,), [stats.gamma(6, scale=1 / 13)]),
        ("exponential", (2, 3), (4.0,), [stats.gamma(12, scale=1 / 7)]),
    ],
)
def test_posteriors_after_exact_sums_are_the_usual_ones(name, prior, sums, known):
    distributions = CONJUGATES[name].update(tuple(map(Fraction, prior)), np.array(10.0), *map(np.array, sums))
    for distribution, expected in zip(distributions, known, strict=True):
        assert (distribution.mean, distribution.variance) == pytest.approx((expected.mean(), expected.var()))
        at = expected.ppf(0.3)
        assert distribution.below(np.array(at), *distribution.parameters) == pytest.approx(0.3)


def test_the_normal_posterior_is_that_of_many_draws():
    """The parts below are known to 0.002 by 40,000 draws."""
    mu, sigma = CONJUGATES["normal"].update(
        tuple(map(Fraction, (1, 2, 3, 4))), np.array(10.0), np.array(2.0), np.array(1.5)
    )
    generator = np.random.default_rng(3)
    rate = 4 + 10 * 1.5 / 2 + 2 * 10 / (2 * 12)
    squares = 1 / generator.gamma(8, 1 / rate, 40_000)
    means = generator.normal((2 + 20) / 12, np.sqrt(squares / 12))
    for distribution, draws in ((mu, means), (sigma, np.sqrt(squares))):
        assert (distribution.mean, np.sqrt(distribution.variance)) == pytest.approx(
            (draws.mean(), draws.std()), rel=0.03
        )
        at = np.quantile(draws, 0.8)
        assert distribution.below(np.array(at), *distribution.parameters) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("name", CONJUGATES)
def test_weak_priors_are_priors(name):
    conjugate = CONJUGATES[name]
    prior = conjugate.weak_prior(Numbers.bounded(0, 10))
    assert len(prior) == len(conjugate.prior_names) == len(conjugate.least)
    assert all(least is None or value > least for value, least in zip(prior, conjugate.least, strict=True))
