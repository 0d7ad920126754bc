"""Distributions: their functions are those of SciPy, and their known answers are met."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.parts.densities.distributions import DISTRIBUTIONS

SALARIES = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors.json").read_text())["lognormal_salary"]
POINTS = {
    "normal": (np.array([3.0, np.log(2.0)]), stats.norm(3, 2), (3, 2)),
    "lognormal": (np.array([1.2, np.log(0.4)]), stats.lognorm(0.4, scale=np.exp(1.2)), (1.2, 0.4)),
    "gamma": (np.log([2.5, 2.5 * 1.7]), stats.gamma(2.5, scale=1.7), (2.5, 1.7)),
    "weibull": (np.log([1.6, 3.0]), stats.weibull_min(1.6, scale=3), (1.6, 3)),
    "exponential": (np.log([4.0]), stats.expon(scale=4), (0.25,)),
}

every_distribution = pytest.mark.parametrize("name", DISTRIBUTIONS)


@every_distribution
def test_its_functions_are_those_of_scipy(name):
    distribution, (point, known, parameters) = DISTRIBUTIONS[name], POINTS[name]
    x, shares = np.array([0.1, 1.0, 3.0, 8.0]), np.array([0.01, 0.5, 0.998])
    assert distribution.below(point, x) == pytest.approx(known.cdf(x))
    assert distribution.quantile(point, shares) == pytest.approx(known.ppf(shares))
    assert distribution.moments(point) == pytest.approx((known.mean(), known.std()))
    assert distribution.parameters(point) == pytest.approx(parameters)
    assert len(distribution.terms) == len(parameters)


@every_distribution
def test_it_is_scaled_as_its_numbers_are(name):
    distribution, (point, known, _) = DISTRIBUTIONS[name], POINTS[name]
    assert distribution.below(distribution.scaled(point, 10.0), np.array([5.0, 40.0])) == pytest.approx(
        known.cdf([0.5, 4.0])
    )


@every_distribution
def test_its_start_has_about_the_moments(name):
    mean, deviation = DISTRIBUTIONS[name].moments(DISTRIBUTIONS[name].start(75.0, 38.0))
    assert mean == pytest.approx(75, rel=0.15)
    assert deviation == pytest.approx(38, rel=0.2) or name == "exponential"


@every_distribution
def test_many_points_are_computed_at_once(name):
    distribution, (point, known, _) = DISTRIBUTIONS[name], POINTS[name]
    many = np.broadcast_to(point, (3, 2, len(point)))
    assert distribution.below(many, np.array([1.0, 2.0])).shape == (3, 2, 2)
    assert distribution.quantile(many, np.array(0.5)).shape == (3, 2)
    assert distribution.moments(many)[0] == pytest.approx(np.full((3, 2), known.mean()))


@every_distribution
def test_points_beyond_reason_give_finite_numbers(name):
    distribution = DISTRIBUTIONS[name]
    for value in (-30.0, 30.0):
        point = np.full(len(distribution.terms), value)
        assert np.isfinite(distribution.below(point, np.array([-1.0, 0.0, 1e9]))).all()


def test_positive_distributions_have_nothing_below_zero():
    for distribution in DISTRIBUTIONS.values():
        below = distribution.below(POINTS[distribution.name][0], np.array([-5.0, 0.0]))
        assert (below < 1e-100).all() == distribution.positive


def test_the_salaries_of_the_known_example_have_their_maximum():
    """Mean 74.9 and standard deviation 38.3 thousand of 500 people: 267 thousand; by the normal one 185 thousand."""
    largest = np.array(1 - 1 / 500)
    point = DISTRIBUTIONS["lognormal"].start(74.9, 38.3)
    assert DISTRIBUTIONS["lognormal"].parameters(point) == pytest.approx([SALARIES["mu"], SALARIES["sigma"]])
    assert DISTRIBUTIONS["lognormal"].quantile(point, largest) == pytest.approx(SALARIES["q_1_minus_1_over_n"])
    normal = DISTRIBUTIONS["normal"].start(74.9, 38.3)
    assert DISTRIBUTIONS["normal"].quantile(normal, largest) == pytest.approx(SALARIES["normal_q"])
