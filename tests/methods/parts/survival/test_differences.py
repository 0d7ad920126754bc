"""The log-rank statistic: the textbook's without noise, chi-square if groups are equal, whatever the noise."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import chdtrc
from statsmodels.duration.survfunc import survdiff

from adomnia.distributions.simulations import draw_again
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.parts.survival.curves import SurvivalCurve
from adomnia.methods.parts.survival.differences import Differences
from adomnia.privacy.conversions import rho_of

NOISES = {"laplace": DiscreteLaplace(Fraction(1)), "gaussian": DiscreteGaussian(1 / (2 * rho_of(1, 1e-6)))}
INTERVALS = 20

every_noise = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)


def tables(n, times, shares=(0.5, 0.5), rates=(1, 1), ends=(2.5, 2.5), seed=()):  # noqa: PLR0913, PLR0917 - a design
    """Counts by table, group, event and interval; exponential times, censored evenly and at 2."""
    generator = np.random.default_rng([n, *seed])
    group = generator.choice(len(shares), size=(times, n), p=shares)
    event = generator.exponential(1, (times, n)) / np.array(rates)[group]
    seen = generator.uniform(0, 1, (times, n)) * np.array(ends)[group]
    place = (np.minimum(np.minimum(event, seen), 2) / 2 * INTERVALS).astype(int)
    found = np.zeros((times, len(shares), 2, INTERVALS + 1))
    happened = (event <= np.minimum(seen, 2)).astype(int)
    np.add.at(found, (np.arange(times)[:, None], group, happened, np.minimum(place, INTERVALS)), 1)
    return found


def p_values(counts, noise, *, believed=None, seed=1):
    """Of tables with noise, by who believes in that variance of it."""
    noisy = counts + np.rint(draw_again(noise, np.random.default_rng(seed), counts.shape))
    after = noisy[..., INTERVALS:].reshape(*noisy.shape[:2], 2)
    variance = noise.cumulants.variance if believed is None else believed
    events, censored = noisy[..., 1, :INTERVALS], noisy[..., 0, :INTERVALS]
    found = Differences(SurvivalCurve(events, censored, after, variance, halved=True))
    return chdtrc(counts.shape[1] - 1, found.statistic)


@pytest.mark.parametrize("groups", [2, 3])
def test_without_noise_it_is_that_of_statsmodels(groups):
    generator = np.random.default_rng(3)
    time, group = generator.integers(0, 12, 300), generator.integers(0, groups, 300)
    event = generator.integers(0, 2, 300)
    counts = np.zeros((groups, 2, 12))
    np.add.at(counts, (group, event, time), 1)
    found = Differences(SurvivalCurve(counts[:, 1], counts[:, 0], np.zeros((groups, 0)), 0.0, halved=False))
    statistic, p_value = survdiff(time, event, group)
    assert found.statistic == pytest.approx(statistic)
    assert chdtrc(groups - 1, found.statistic) == pytest.approx(p_value)


@every_noise
@pytest.mark.parametrize(
    "design",
    [{}, {"shares": (0.8, 0.2)}, {"rates": (0.1, 0.1)}, {"ends": (2.5, 1.0)}, {"shares": (0.5, 0.3, 0.2)}],
    ids=["even", "uneven", "rare", "censored unlike", "three groups"],
)
@pytest.mark.parametrize("n", [300, 1_000])
def test_equal_groups_are_told_apart_at_the_stated_rate(design, noise, n):
    """Of 600 tests at 5%, more than 10.5% reject in one of 10**7 runs."""
    full = {"rates": (1, 1, 1), "ends": (2.5, 2.5, 2.5), **design} if len(design.get("shares", ())) == 3 else design
    rejected = (p_values(tables(n, 600, **full), noise) < 0.05).mean()
    assert 0.005 <= rejected <= 0.105


@pytest.mark.soak
@every_noise
@pytest.mark.parametrize("n", [300, 1_000, 10_000])
def test_equal_groups_are_told_apart_at_the_stated_rate_in_many_tables(noise, n):
    """Of 4,000 tests at 5.5%, more than 7.8% reject in one of 10**9 runs (binomial); at 3%, fewer than 1.5%."""
    runs = [(p_values(tables(n, 500, seed=(run,)), noise, seed=run) < 0.05).mean() for run in range(8)]
    assert 0.015 <= np.mean(runs) <= 0.078


def test_who_knows_nothing_of_the_noise_rejects_too_often():
    counts = tables(300, 400)
    assert (p_values(counts, NOISES["gaussian"], believed=0.0) < 0.05).mean() > 0.2


@every_noise
def test_different_groups_are_told_apart(noise):
    assert (p_values(tables(2_000, 100, rates=(1, 1.5)), noise) < 0.05).mean() > 0.85


def test_intervals_of_more_noise_than_events_weigh_less():
    counts = tables(500, 1)[0]
    after = counts[..., INTERVALS:].reshape(2, 2)
    loud, quiet = (
        Differences(
            SurvivalCurve(counts[:, 1, :INTERVALS], counts[:, 0, :INTERVALS], after, variance, halved=True)
        ).weights
        for variance in (2.0, 0.0)
    )
    assert (quiet == 1).all()
    assert loud[0] > loud[8] > 0
    assert (loud < 1).all()


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6])
def test_any_counts_have_a_finite_statistic(scale):
    counts = np.random.default_rng(4).normal(0, scale, (50, 3, 2, 7))
    found = Differences(SurvivalCurve(counts[..., 0, :], counts[..., 1, :], counts[..., 0, :2], scale**2, halved=True))
    assert np.isfinite(found.statistic).all()
    assert (found.statistic >= 0).all()
