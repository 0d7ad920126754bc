"""Censored fits: exact without noise, and better with the noise in the model than with counts cut at zero."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

from adomnia.distributions.simulations import draw_again
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.parts.densities.censored import Censored, Fits
from adomnia.methods.parts.densities.laws import LAWS
from adomnia.privacy.conversions import rho_of

LAW = LAWS["lognormal"]
SALARIES = LAW.start(74.9, 38.3)  # thousands, of a known example: 500 people, bins of 25, the last one open
EDGES = np.arange(25.0, 251.0, 25.0)
ROWS = np.array(500.0)
NOISES = {"laplace": DiscreteLaplace(Fraction(1)), "gaussian": DiscreteGaussian(1 / (2 * rho_of(1, 1e-6)))}


def test_expected_counts_are_fitted_exactly():
    for law in LAWS.values():
        model, point = Censored(law, EDGES / 38.3, 0.0), law.start(74.9 / 38.3, 1.0)
        found = model.fit(500 * model.shares(point), Fits(point + 0.2, np.array(400.0)))
        assert found.points == pytest.approx(point, abs=1e-4)
        assert found.rows == pytest.approx(500, rel=1e-4)


def test_without_noise_it_is_the_maximum_of_the_censored_likelihood():
    model = Censored(LAW, EDGES, 0.0)
    counts = np.random.default_rng(1).multinomial(500, model.shares(SALARIES)).astype(float)
    loss = lambda point: -(counts * np.log(np.maximum(model.shares(point), 1e-300))).sum()  # noqa: E731
    best = optimize.minimize(loss, SALARIES, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x
    assert model.fit(counts, Fits(SALARIES, ROWS)).points == pytest.approx(best, abs=1e-4)


def test_the_likelihood_of_one_bin_more_is_that_of_open_ends():
    model = Censored(LAW, EDGES, 1.0)
    assert model.shares(SALARIES).sum() == pytest.approx(1)
    assert model.shares(SALARIES)[-1] == pytest.approx(1 - LAW.below(SALARIES, EDGES)[-1])


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_the_noise_in_the_model_is_better_than_counts_cut_at_zero(noise):
    """The largest value of 500, with bins up to 500: with the model unbiased to 3%, else above 4% too large."""
    generator, edges = np.random.default_rng(4), np.arange(25.0, 500.0, 25.0)
    model, blind = Censored(LAW, edges, noise.cumulants.variance), Censored(LAW, edges, 0.0)
    counts = generator.multinomial(500, model.shares(SALARIES), 400)
    noisy = counts + draw_again(noise, generator, counts.shape)
    largest = LAW.quantile(SALARIES, np.array(1 - 1 / 500))

    def errors(fits):
        return LAW.quantile(fits.points, 1 - 1 / np.maximum(fits.rows, 2)) / largest - 1

    modelled = errors(model.fit(noisy, Fits(SALARIES, ROWS)))
    cut = errors(blind.fit(np.maximum(noisy, 0), Fits(SALARIES, ROWS)))
    assert abs(np.median(modelled)) < 0.03
    assert np.median(cut) > 0.04
    assert np.mean(modelled**2) < np.mean(cut**2) / 1.5


def test_errors_are_those_of_many_fits():
    """Standard deviations of 600 fits are within 15% in all but one of 10**6 runs."""
    noise = NOISES["laplace"]
    generator, model = np.random.default_rng(6), Censored(LAW, EDGES, noise.cumulants.variance)
    counts = generator.multinomial(2_000, model.shares(SALARIES), 600)
    fits = model.fit(counts + draw_again(noise, generator, counts.shape), Fits(SALARIES, np.array(2_000.0)))
    stated = model.errors(Fits(SALARIES, np.array(2_000.0)))
    assert fits.points.std(axis=0) == pytest.approx(stated, rel=0.15)


def test_where_all_values_are_in_one_bin_errors_are_enormous():
    model = Censored(LAWS["normal"], np.arange(1.0, 10.0), 1.84)
    counts = np.zeros(10)
    counts[4] = 1_000
    found = model.fit(counts, Fits(np.array([4.5, np.log(0.3)]), np.array(1_000.0)))
    assert model.errors(found).max() > 1


@pytest.mark.parametrize("law", LAWS)
def test_any_counts_have_a_finite_fit(law):
    generator = np.random.default_rng(8)
    model = Censored(LAWS[law], np.linspace(0.5, 5, 15), 20.0)
    counts = generator.normal(0, 30, (50, 16))
    found = model.fit(counts, Fits(LAWS[law].start(2.0, 1.0), np.array(10.0)))
    assert np.isfinite(found.points).all()
    assert np.isfinite(found.rows).all()
    assert np.isfinite(model.misfit(found, counts)).all()
    assert np.isfinite(model.errors(found)).all()
