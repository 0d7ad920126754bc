"""The theory of distributions that are averaged over blocks, compared with the families and with simulations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.parts.likelihood.block_distributions import (
    BACK,
    DISTRIBUTIONS,
    SCALES,
    bins_of,
    bounds_of,
    vector_of,
)
from adomnia.methods.parts.likelihood.families import FAMILIES
from adomnia.privacy.domains import Numbers
from kit.analyses import frame

POINTS = {
    "bernoulli": [0.3],
    "poisson": [4.0],
    "exponential": [5.0],
    "normal": [100.0, 15.0],
    "lognormal": [2.0, 0.6],
    "gamma": [50.0, 0.2131],
    "weibull": [4.0, 0.5],
    "normal mixture": [0.3, 60.0, 120.0, np.log(10), np.log(15)],
}


@pytest.mark.parametrize("name", [name for name in POINTS if name in FAMILIES])
def test_standard_errors_of_parameters_are_those_of_the_family(name):
    """The same distribution by its statistics: both are the inverse of Fisher's information."""
    distribution, point = DISTRIBUTIONS[name], np.array(POINTS[name])
    errors = distribution.spread(point, distribution.deviations(point) / 1000)
    expected = np.sqrt(np.diag(np.atleast_2d(FAMILIES[name].variance(distribution.parameters(point))))) / 1000
    assert errors == pytest.approx(expected, rel=2e-3)
    assert distribution.terms == FAMILIES[name].terms


def test_the_information_of_a_mixture_is_that_of_its_parts_where_they_lie_apart():
    distribution = DISTRIBUTIONS["normal mixture"]
    found = distribution.deviations(np.array([0.3, 0.0, 1000.0, np.log(10), np.log(15)]))
    apart = [np.sqrt(0.21), 10 / np.sqrt(0.3), 15 / np.sqrt(0.7), np.sqrt(0.5 / 0.3), np.sqrt(0.5 / 0.7)]
    assert found == pytest.approx(apart, rel=1e-2)
    near = distribution.deviations(np.array([0.3, 0.0, 12.0, np.log(10), np.log(15)]))
    assert (near > found).all()  # what is harder to tell apart


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_intervals_are_around_the_parameters_and_within_what_is_possible(name):
    distribution, point = DISTRIBUTIONS[name], np.array(POINTS[name])
    limits = np.array(distribution.limits(Numbers.bounded(Fraction(1, 100), 1000)))
    assert (limits[:, 0] < limits[:, 1]).all()
    parameters = distribution.parameters(point)
    for reach in (0.0, 0.01, 1e9):
        lower, upper = distribution.interval(point, reach * distribution.deviations(point), limits)
        assert (lower <= parameters * (1 + 1e-9)).all()
        assert (parameters <= upper * (1 + 1e-9)).all()
        assert np.isfinite([lower, upper]).all()


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_points_are_placed_on_the_scale_that_is_located_and_taken_back(name):
    for scale, value in zip(DISTRIBUTIONS[name].located, POINTS[name], strict=True):
        onto, slope = SCALES[scale]
        at = np.array([value])
        assert BACK[scale](onto(at)) == pytest.approx(at)
        assert (onto(at + 1e-6) - onto(at - 1e-6)) / 2e-6 == pytest.approx(slope(at), rel=1e-4)


def test_rare_events_need_larger_blocks():
    distribution = DISTRIBUTIONS["poisson"]
    assert distribution.least_rows(np.array([100.0])) < 13
    assert distribution.least_rows(np.array([0.01])) > 400
    assert distribution.floor(np.array([0.0]), 50.0) == pytest.approx([0.02])
    assert DISTRIBUTIONS["bernoulli"].floor(np.array([0.0]), 50.0) == pytest.approx([0.02])


def test_where_a_logarithm_is_taken_bounds_are_above_zero():
    numbers = frame({"x": (0, 1000), "n": (0, 50), "y": (2, 9)}, whole=("n",)).numbers
    assert bounds_of(numbers["x"], DISTRIBUTIONS["gamma"]).lower == Fraction(1000, 2**16)
    assert bounds_of(numbers["n"], DISTRIBUTIONS["gamma"]).lower == 1
    assert bounds_of(numbers["y"], DISTRIBUTIONS["gamma"]) == numbers["y"].domain
    assert bounds_of(numbers["x"], DISTRIBUTIONS["normal"]) == numbers["x"].domain


@pytest.mark.parametrize(("name", "columns"), [("bernoulli", 2), ("normal", 3), ("lognormal", 3), ("gamma", 3)])
def test_what_is_added_up_is_rows_and_powers(name, columns):
    numbers = frame({"x": (0, 1000)}).numbers
    assert vector_of(numbers["x"], DISTRIBUTIONS[name]).columns == columns


def test_rows_are_counted_in_bins_of_values_or_of_their_logarithms():
    column = frame({"x": (0, 1000)}).numbers["x"]
    assert bins_of(column, DISTRIBUTIONS["normal mixture"]).edges[::64] == (0, 1000)
    lower, upper = bins_of(column, DISTRIBUTIONS["weibull"]).edges[::64]
    assert np.exp(float(lower)) == pytest.approx(1000 / 2**16)
    assert np.exp(float(upper)) == pytest.approx(1000)


@pytest.mark.parametrize("mean", [10.0, 500.0, 1000.0])
@pytest.mark.parametrize("gap", [1e-5, 0.3, 8.0])
def test_an_interval_of_the_scale_holds_all_that_one_of_the_mean_or_of_the_shape_alone_allows(mean, gap):
    """Also where noise has moved a point to the end of its limits: then all of its interval is on one side."""
    distribution = DISTRIBUTIONS["gamma"]
    points, reach, limits = np.array([mean, gap]), np.array([400.0, 0.9]), np.array([[10.0, 1000.0], [1e-5, 8.0]])
    lower, upper = distribution.interval(points, reach, limits)
    for side in (-1, 1):
        for place in (0, 1):
            moved = points.copy()
            moved[place] = np.clip(moved[place] + side * reach[place], *limits[place])
            scale = distribution.parameters(moved)[1]
            assert lower[1] <= scale * (1 + 1e-9)
            assert scale <= upper[1] * (1 + 1e-9)
    shape = distribution.parameters(points)[0]
    # And not far beyond what both together allow.
    assert 10.0 / upper[0] / 100 < lower[1] <= mean / shape <= upper[1] < 100 * 1000.0 / lower[0]
