"""Exponential families: what is stated of each is what its density says, and no means make an estimate fail."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize

from adomnia.methods.parts.likelihood.families import FAMILIES, solve_shape

POINTS = {
    "normal": [(3.0, 2.0), (-1.0, 0.2)],
    "lognormal": [(0.3, 0.5), (1.0, 0.2)],
    "gamma": [(0.6, 3.0), (7.0, 0.5)],
    "exponential": [(0.4,), (3.0,)],
    "poisson": [(0.3,), (6.0,)],
    "geometric": [(0.2,), (0.9,)],
    "bernoulli": [(0.05,), (0.6,)],
}
KNOWN = {
    "normal": stats.norm,
    "lognormal": lambda mu, sigma: stats.lognorm(sigma, scale=np.exp(mu)),
    "gamma": lambda shape, scale: stats.gamma(shape, scale=scale),
    "exponential": lambda rate: stats.expon(scale=1 / rate),
    "poisson": stats.poisson,
    "geometric": lambda chance: stats.geom(chance, loc=-1),  # R's, which counts failures
    "bernoulli": stats.bernoulli,
}
CASES = [(name, point) for name, points in POINTS.items() for point in points]

every_family = pytest.mark.parametrize("name", FAMILIES)
every_case = pytest.mark.parametrize(("name", "point"), CASES, ids=str)


def expectation(name, point, function):
    """The mean of a function of a value, by a sum or an integral over the known distribution."""
    distribution, family = KNOWN[name](*point), FAMILIES[name]
    if family.whole:
        values = np.arange(2.0 if name == "bernoulli" else 400.0)
        return distribution.pmf(values) @ function(values)
    ends = distribution.ppf([0.0, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-9])
    pieces = zip(np.maximum(ends[:-1], -50.0), ends[1:], strict=True)
    return sum(
        quad(lambda x: distribution.pdf(x) * function(np.array(x)), low, high, limit=200)[0] for low, high in pieces
    )


@every_case
def test_densities_are_those_of_the_known_distribution(name, point):
    distribution, family, at = KNOWN[name](*point), FAMILIES[name], np.array(point)
    values = distribution.ppf([0.01, 0.3, 0.5, 0.99])
    density = distribution.logpmf(values) if family.whole else distribution.logpdf(values)
    assert family.log_density(at, values) == pytest.approx(density)
    beside = np.array([*values, values[0] - 0.5, -1.0, 0.0])
    assert family.below(at, beside) == pytest.approx(distribution.cdf(beside), abs=1e-12)


@every_case
def test_means_and_covariances_of_the_statistics_are_those_of_the_distribution(name, point):
    family, at = FAMILIES[name], np.array(point)
    means, covariance = family.means(at), family.covariance(at)
    for j, mean in enumerate(means):
        assert mean == pytest.approx(expectation(name, point, lambda x, j=j: family.observe(x)[..., j]), rel=1e-4)
        for k, other in enumerate(means):
            product = expectation(
                name,
                point,
                lambda x, j=j, k=k, a=mean, b=other: (family.observe(x)[..., j] - a) * (family.observe(x)[..., k] - b),
            )
            assert covariance[j, k] == pytest.approx(product, rel=1e-3)


@every_case
def test_parameters_follow_from_means_and_back(name, point):
    family, at = FAMILIES[name], np.array(point)
    assert family.estimate(family.means(at)) == pytest.approx(point)
    many = np.stack([at] * 3)
    assert family.estimate(family.means(many)).shape == many.shape
    means = family.means(at)
    nudges = 1e-5 * np.maximum(np.abs(means), 0.1) * np.eye(len(means))
    moved = [(family.estimate(means + each) - family.estimate(means - each)) / (2 * each.sum()) for each in nudges]
    assert family.slopes(at) == pytest.approx(np.stack(moved, axis=-1), rel=1e-4, abs=1e-7)


@every_case
def test_the_estimate_has_the_most_likelihood(name, point):
    family = FAMILIES[name]
    values = np.asarray(KNOWN[name](*point).rvs(300, random_state=np.random.default_rng(7)), dtype=float)
    found = family.estimate(family.observe(values).mean(axis=0))
    best = minimize(
        lambda at: (
            -family.log_density(at, values).sum()
            if (at > (-9 if name in ("normal", "lognormal") else 0)).all()
            else 1e9
        ),
        found * 0.9,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-9},
    )
    assert found == pytest.approx(best.x, rel=1e-4)


@every_case
def test_the_information_is_the_curvature_of_the_likelihood(name, point):
    family, at = FAMILIES[name], np.array(point)

    def score(j):
        nudge = 1e-5 * np.eye(len(at))[j]
        return lambda x: (family.log_density(at + nudge, x) - family.log_density(at - nudge, x)) / 2e-5

    information = [
        [expectation(name, point, lambda x, j=j, k=k: score(j)(x) * score(k)(x)) for k in range(len(at))]
        for j in range(len(at))
    ]
    assert family.information(at) == pytest.approx(np.array(information), rel=1e-3, abs=1e-4)
    assert family.variance(at) @ family.information(at) == pytest.approx(np.eye(len(at)), abs=1e-6)


@every_case
def test_the_bias_is_half_the_curvature_of_the_estimate(name, point):
    """The statistics' means have no bias, so that all bias of a smooth function of them is of second order."""
    family, at = FAMILIES[name], np.array(point)
    values, directions = np.linalg.eigh(family.covariance(at))
    size, means = 1e-3, family.means(at)
    bends = sum(
        family.estimate(means + size * np.sqrt(value) * way)
        - 2 * family.estimate(means)
        + family.estimate(means - size * np.sqrt(value) * way)
        for value, way in zip(values, directions.T, strict=True)
    )
    assert family.bias(at) == pytest.approx(bends / (2 * size**2), rel=1e-3, abs=1e-4)


@every_family
def test_no_means_make_an_estimate_fail(name):
    family = FAMILIES[name]
    ends = [-1e300, -1e9, -1.0, -1e-300, 0.0, 1e-300, 1e-12, 0.5, 1.0, 7.0, 1e9, 1e300]
    means = np.stack(np.meshgrid(*[ends] * (len(family.terms))), axis=-1).reshape(-1, len(family.terms))
    found = family.estimate(means)
    assert np.isfinite(found).all()
    for place, (lower, upper) in enumerate(family.ranges):
        assert (found[:, place] >= lower).all()
        assert (found[:, place] <= upper).all()


def test_only_a_normal_distribution_is_shifted():
    normal = FAMILIES["normal"]
    assert normal.shift(np.array([0.5, 0.1]), 10.0, 20.0) == pytest.approx([20.0, 2.0])
    assert FAMILIES["poisson"].shift(np.array([0.5]), 10.0, 20.0) == pytest.approx([0.5])


def test_shapes_are_solved_for_within_their_range():
    from scipy.special import digamma

    shapes = np.array([1e-3, 0.01, 0.3, 1.0, 20.0, 3e4])
    assert solve_shape(np.log(shapes) - digamma(shapes)) == pytest.approx(shapes, rel=1e-6)
    assert solve_shape(np.array([-3.0, 0.0, 1e9])) == pytest.approx([1e6, 1e6, 1e-3], rel=1e-3)
