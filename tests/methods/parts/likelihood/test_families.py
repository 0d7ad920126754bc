"""Exponential families: what is stated of each is what its density says, and no means make an estimate fail."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import polygamma

from adomnia.methods.parts.likelihood.families import FAMILIES, solve_shape
from kit.fitting import observe

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
INFORMATION = {
    "normal": lambda _, sigma: np.diag([1.0, 2.0]) / sigma**2,
    "lognormal": lambda _, sigma: np.diag([1.0, 2.0]) / sigma**2,
    "gamma": lambda shape, scale: np.array([[polygamma(1, shape), 1 / scale], [1 / scale, shape / scale**2]]),
    "exponential": lambda rate: np.array([[rate**-2]]),
    "poisson": lambda mean: np.array([[1 / mean]]),
    "geometric": lambda chance: np.array([[1 / (chance**2 * (1 - chance))]]),
    "bernoulli": lambda chance: np.array([[1 / (chance * (1 - chance))]]),
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
def test_probabilities_are_those_of_the_known_distribution(name, point):
    distribution, family, at = KNOWN[name](*point), FAMILIES[name], np.array(point)
    values = distribution.ppf([0.01, 0.3, 0.5, 0.99])
    beside = np.array([*values, values[0] - 0.5, -1.0, 0.0])
    assert family.below(at, beside) == pytest.approx(distribution.cdf(beside), abs=1e-12)


@every_case
def test_means_and_covariances_of_the_statistics_are_those_of_the_distribution(name, point):
    family, at = FAMILIES[name], np.array(point)
    means, covariance = family.means(at), family.covariance(at)
    for j, mean in enumerate(means):
        assert mean == pytest.approx(expectation(name, point, lambda x, j=j: observe(family, x)[..., j]), rel=1e-4)
        for k, other in enumerate(means):
            product = expectation(
                name,
                point,
                lambda x, j=j, k=k, means=(mean, other): np.prod(observe(family, x)[..., [j, k]] - means, axis=-1),
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
    found = family.estimate(observe(family, values).mean(axis=0))
    best = minimize(
        lambda at: (
            -getattr(KNOWN[name](*at), "logpmf" if family.whole else "logpdf")(values).sum()
            if (at > (-9 if name in ("normal", "lognormal") else 0)).all()
            else 1e9
        ),
        found * 0.9,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-9},
    )
    assert found == pytest.approx(best.x, rel=1e-4)


@every_case
def test_the_variance_is_the_inverse_of_the_known_information(name, point):
    assert FAMILIES[name].variance(np.array(point)) @ INFORMATION[name](*point) == pytest.approx(np.eye(len(point)))


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
