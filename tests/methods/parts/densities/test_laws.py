"""Laws: their functions are those of SciPy, and their known answers are met."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.parts.densities.laws import LAWS

SALARIES = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors.json").read_text())["lognormal_salary"]
POINTS = {
    "normal": (np.array([3.0, np.log(2.0)]), stats.norm(3, 2), (3, 2)),
    "lognormal": (np.array([1.2, np.log(0.4)]), stats.lognorm(0.4, scale=np.exp(1.2)), (1.2, 0.4)),
    "gamma": (np.log([2.5, 2.5 * 1.7]), stats.gamma(2.5, scale=1.7), (2.5, 1.7)),
    "weibull": (np.log([1.6, 3.0]), stats.weibull_min(1.6, scale=3), (1.6, 3)),
    "exponential": (np.log([4.0]), stats.expon(scale=4), (0.25,)),
}

every_law = pytest.mark.parametrize("name", LAWS)


@every_law
def test_its_functions_are_those_of_scipy(name):
    law, (point, known, parameters) = LAWS[name], POINTS[name]
    x, shares = np.array([0.1, 1.0, 3.0, 8.0]), np.array([0.01, 0.5, 0.998])
    assert law.below(point, x) == pytest.approx(known.cdf(x))
    assert law.quantile(point, shares) == pytest.approx(known.ppf(shares))
    assert law.moments(point) == pytest.approx((known.mean(), known.std()))
    assert law.parameters(point) == pytest.approx(parameters)
    assert len(law.terms) == len(parameters)


@every_law
def test_it_is_scaled_as_its_numbers_are(name):
    law, (point, known, _) = LAWS[name], POINTS[name]
    assert law.below(law.scaled(point, 10.0), np.array([5.0, 40.0])) == pytest.approx(known.cdf([0.5, 4.0]))


@every_law
def test_its_start_has_about_the_moments(name):
    mean, deviation = LAWS[name].moments(LAWS[name].start(75.0, 38.0))
    assert mean == pytest.approx(75, rel=0.15)
    assert deviation == pytest.approx(38, rel=0.2) or name == "exponential"


@every_law
def test_many_points_are_computed_at_once(name):
    law, (point, known, _) = LAWS[name], POINTS[name]
    many = np.broadcast_to(point, (3, 2, len(point)))
    assert law.below(many, np.array([1.0, 2.0])).shape == (3, 2, 2)
    assert law.quantile(many, np.array(0.5)).shape == (3, 2)
    assert law.moments(many)[0] == pytest.approx(np.full((3, 2), known.mean()))


@every_law
def test_points_beyond_reason_give_finite_numbers(name):
    law = LAWS[name]
    for value in (-30.0, 30.0):
        point = np.full(len(law.terms), value)
        assert np.isfinite(law.below(point, np.array([-1.0, 0.0, 1e9]))).all()


def test_positive_laws_have_nothing_below_zero():
    for law in LAWS.values():
        below = law.below(POINTS[law.name][0], np.array([-5.0, 0.0]))
        assert (below < 1e-100).all() == law.positive


def test_the_salaries_of_the_known_example_have_their_maximum():
    """Mean 74.9 and standard deviation 38.3 thousand of 500 people: 267 thousand; by the normal law 185 thousand."""
    largest = np.array(1 - 1 / 500)
    point = LAWS["lognormal"].start(74.9, 38.3)
    assert LAWS["lognormal"].parameters(point) == pytest.approx([SALARIES["mu"], SALARIES["sigma"]])
    assert LAWS["lognormal"].quantile(point, largest) == pytest.approx(SALARIES["q_1_minus_1_over_n"])
    normal = LAWS["normal"].start(74.9, 38.3)
    assert LAWS["normal"].quantile(normal, largest) == pytest.approx(SALARIES["normal_q"])
