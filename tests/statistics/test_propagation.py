"""How far noise carries what is computed from noisy sums, beside distributions and intervals that are known exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.distributions.combinations import farthest
from adomnia.distributions.ratios import quotient_bounds
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Measured
from adomnia.statistics.propagation import Computed, Propagation

LAPLACE = (DiscreteLaplace(Fraction(300)), DiscreteLaplace(Fraction(20)))
GAUSSIAN = (DiscreteGaussian(Fraction(300**2)), DiscreteGaussian(Fraction(20**2)))
every_distribution = pytest.mark.parametrize("noises", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])


def bounds(values, noises, compute, roundings=(), alpha=0.05):
    sums = [Measured(np.asarray(value), noise) for value, noise in zip(values, noises, strict=True)]
    function = Propagation(sums, [np.asarray(each) for each in roundings], lambda at, _: Computed(*compute(at)))
    (lower, upper), clear = function.bounds(alpha)
    return lower, upper, clear


@every_distribution
def test_of_a_linear_function_it_is_the_distribution_of_the_noise(noises):
    lower, upper, clear = bounds([1000, 70], noises, lambda at: (2 * at[0] - 9 * at[1] + 5, []))
    reach = farthest(noises, [np.asarray(2.0), np.asarray(9.0)], 0.05)
    assert clear
    assert (lower, upper) == (pytest.approx(1375 - reach), pytest.approx(1375 + reach))


@every_distribution
def test_of_a_ratio_it_is_the_interval_of_fieller(noises):
    s, n = np.array([40_000, 900, -9_000, 3_000]), np.array([400, 400, 1_000, 170])
    lower, upper, clear = bounds([s, n], noises, lambda at: (at[0] / at[1], [(at[1],)]))
    known = quotient_bounds(Measured(s, noises[0]), Measured(n, noises[1]), 0.95, 1)
    assert clear.all()
    width = known[1] - known[0]
    assert (np.abs(lower - known[0]) < 0.03 * width).all()
    assert (np.abs(upper - known[1]) < 0.03 * width).all()


@every_distribution
def test_a_rising_function_of_something_has_that_function_of_its_interval(noises):
    def compute(at):
        return at[0] / at[1], [(at[1],)]

    plain = bounds([40_000, 900], noises, compute)
    cubed = bounds([40_000, 900], noises, lambda at: (compute(at)[0] ** 3, compute(at)[1]))
    assert [end**3 for end in plain[:2]] == [pytest.approx(end, rel=1e-3) for end in cubed[:2]]
    rooted = bounds([40_000, 900], noises, lambda at: (np.sqrt(compute(at)[0]), compute(at)[1]))
    assert [end**0.5 for end in plain[:2]] == [pytest.approx(end, rel=1e-3) for end in rooted[:2]]


@every_distribution
def test_it_means_something_only_where_what_is_needed_keeps_its_sign(noises):
    n = np.array([500, 170, 60, 0, -60, -500])
    seen = bounds([np.full(6, 9_000), n], noises, lambda at: (at[0] / np.where(at[1] == 0, 1.0, at[1]), [(at[1],)]))
    usual = farthest(noises[1:], [np.asarray(1.0)], 0.05)
    assert seen[2].tolist() == (np.abs(n) > 1.5 * usual).tolist()
    either = bounds([np.full(6, 9_000), n], noises, lambda at: (at[0] * at[1], [(at[1], at[0])]))
    assert either[2].all()
    above_zero = bounds([np.full(6, 9_000), n], noises, lambda at: (at[0] + 0 * at[1], [(np.maximum(at[1], 0.0),)]))
    assert above_zero[2].tolist() == (n > 1.5 * usual).tolist()


@every_distribution
def test_beyond_an_extreme_it_means_nothing(noises):
    """A square whose root may have either sign: its least value is not at an end of anything."""
    seen = bounds([np.array([20_000, 400, 0]), np.zeros(3, int)], noises, lambda at: (at[0] ** 2 + 0 * at[1], []))
    assert seen[2].tolist() == [True, False, False]


def test_rounding_moves_the_ends_by_all_of_it():
    def compute(at):
        return 3 * (at[0] + at[2]) - at[1], []

    plain, rounded = (bounds([1000, 70], LAPLACE, compute, [off]) for off in (0.0, 25.0))
    assert (rounded[0], rounded[1]) == (pytest.approx(plain[0] - 75), pytest.approx(plain[1] + 75))


def test_cells_do_not_depend_on_each_other_or_on_their_number():
    draw = np.random.default_rng(1)
    s, n = draw.integers(20_000, 40_000, (5, 2000)), draw.integers(300, 900, (5, 2000))

    def compute(at):
        return at[0] / at[1] + at[2], [(at[1],)]

    lower, upper, clear = bounds([s, n], LAPLACE, compute, [np.full((5, 2000), 0.5)])
    assert lower.shape == upper.shape == clear.shape == (5, 2000)
    for place in ((0, 0), (2, 96), (4, 1999)):
        alone = bounds([s[place], n[place]], LAPLACE, compute, [0.5])
        assert (lower[place], upper[place], clear[place]) == (*map(pytest.approx, alone[:2]), alone[2])


def test_noises_of_different_tails_are_boxed():
    noises = DiscreteLaplace(Fraction(3)), DiscreteGaussian(Fraction(4))
    far = noises[0].interval(0.95, cells=2).half_width + 3 * noises[1].interval(0.95, cells=2).half_width + 1.5
    lower, upper, _ = bounds([100, 20], noises, lambda at: (at[0] - 3 * at[1], []))
    assert (lower, upper) == (pytest.approx(40 - far), pytest.approx(40 + far))


def test_only_a_term_that_is_beyond_its_limit_alone_is_fixed_there():
    """A sum of two terms that are at most 0: cut one by one, neither has anything left to move."""

    def compute(at, fixed):
        terms = [np.broadcast_to(fixed.get(place, each), np.shape(each)) for place, each in enumerate(at)]
        return Computed(terms[0] + terms[1], (), list(at))

    sums = [
        Measured(np.array(values), DiscreteLaplace(Fraction(100))) for values in ([500, 500, -900], [500, -900, -900])
    ]
    both, plain = (Propagation(sums, [], compute, limits) for limits in ([(-np.inf, 0.0)] * 2, [(-np.inf, np.inf)] * 2))
    (lower, upper), (widest_lower, widest_upper) = (each.bounds(0.05)[0] for each in (both, plain))
    alone = farthest([sums[1].noise], [np.asarray(1.0)], 0.05)
    assert upper == pytest.approx([widest_upper[0], -900 + alone, widest_upper[2]])
    assert lower == pytest.approx(widest_lower)  # fixed at 0 the first term would only move it away
