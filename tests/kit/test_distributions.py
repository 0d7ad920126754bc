"""The judge is judged first: its distributions are as defined, its false alarms are rare, and it sees what it must."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from kit.bits import SeededBits
from kit.distributions import (
    CELLS,
    TAILS,
    Distribution,
    exact_gaussian,
    exact_laplace,
    exp_between,
    exponential_distribution,
    fits_the_distribution,
    gaussian_distribution,
    geometric_distribution,
    laplace_distribution,
    p_value,
    rational,
    tabulated,
    theta,
)

SCALES = [Fraction(1, 2), Fraction(3, 2), Fraction(40)]
VARIANCES = [Fraction(1, 4), Fraction(9), Fraction(900)]


def inverse_draws(distribution: Distribution, count: int, seed: object) -> np.ndarray:
    """Draws of a distribution by inversion in floats: good enough to judge the judge."""
    uniforms = (SeededBits(seed).words(count) >> np.uint64(11)) * 2.0**-53
    sums = np.array([distribution.cumulative(k) for k in range(-distribution.reach, distribution.reach + 1)])
    return np.minimum(np.searchsorted(sums, uniforms), len(sums) - 1) - distribution.reach


@pytest.mark.parametrize("scale", SCALES)
def test_the_laplace_distribution_function_is_the_sum_of_the_definition(scale):
    distribution = laplace_distribution(scale)
    with mpmath.workdps(40):
        sums = mpmath.fsum(exact_laplace(k, scale) for k in range(-40 * int(scale + 1), 4))
        assert distribution.cumulative(3) == pytest.approx(float(sums), rel=1e-14)
        assert distribution.cumulative(-4) == pytest.approx(float(1 - sums), rel=1e-13)


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_gaussian_distribution_function_is_the_sum_of_the_definition(variance):
    distribution = gaussian_distribution(variance)
    with mpmath.workdps(40):
        sums = mpmath.fsum(exact_gaussian(k, variance) for k in range(-20 * int(variance + 1), 4))
        assert distribution.cumulative(3) == pytest.approx(float(sums), rel=1e-12)


def test_midpoints_and_summation_agree_where_both_are_short():
    variance = Fraction(10**6)
    reach = 9000
    summed = tabulated(np.exp(-(np.arange(-reach, reach + 1, dtype=float) ** 2) / 2e6), -reach)
    for k in (-3000, -1000, -1, 0, 17, 2500):
        assert gaussian_distribution(variance).cumulative(k) == pytest.approx(summed.cumulative(k), abs=1e-12)


@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1, 4), Fraction(99, 100), Fraction(1), Fraction(50)])
def test_both_sides_of_poisson_summation_give_one_normaliser(variance):
    with mpmath.workdps(60):
        direct = mpmath.nsum(
            lambda k: mpmath.exp(-k * k / (2 * mpmath.mpf(variance.numerator) / variance.denominator)), [-200, 200]
        )
        assert mpmath.almosteq(theta(variance, 60), direct, rel_eps=mpmath.mpf(10) ** -50)


@pytest.mark.parametrize(
    "distribution",
    [
        laplace_distribution(Fraction(3)),
        gaussian_distribution(Fraction(10**8)),
        geometric_distribution(Fraction(10**12)),
    ],
)
def test_cells_are_few_near_equal_and_cover_everything(distribution):
    edges, masses = distribution.cells(10**6)
    assert edges == sorted(set(edges))
    assert len(masses) <= CELLS + 2 * len(TAILS)
    assert masses.sum() == pytest.approx(1, abs=1e-12)
    assert masses.min() * 10**6 >= 49.9


def test_false_alarms_are_as_rare_as_stated():
    distribution = laplace_distribution(Fraction(3))
    values = np.array(
        [p_value(inverse_draws(distribution, 20_000, ("alarm", number)), distribution) for number in range(400)]
    )
    for level in (0.5, 0.1, 0.01):
        spread = (level * (1 - level) / len(values)) ** 0.5
        assert abs(np.mean(values < level) - level) < 5 * spread  # five standard deviations: 1e-6 a level


@pytest.mark.parametrize("tail", [8, 12])
def test_a_distribution_cut_off_in_the_far_tail_is_noticed(tail):
    distribution = laplace_distribution(Fraction(1))
    draws = inverse_draws(distribution, 10**6, ("tail", tail))
    assert fits_the_distribution(draws, distribution)
    assert fits_the_distribution(np.clip(draws, -tail, tail), distribution) is (tail > 10)


@pytest.mark.parametrize("wrong", [Fraction(97, 100), Fraction(103, 100)])
def test_a_distribution_three_percent_off_is_noticed_at_a_million_draws(wrong):
    draws = inverse_draws(laplace_distribution(Fraction(10)), 10**6, "three percent")
    assert fits_the_distribution(draws, laplace_distribution(Fraction(10)))
    assert not fits_the_distribution(draws, laplace_distribution(10 * wrong))


def test_object_draws_are_counted_like_machine_integers():
    draws = inverse_draws(laplace_distribution(Fraction(2)), 20_000, "objects")
    assert p_value(draws.astype(object), laplace_distribution(Fraction(2))) == p_value(
        draws, laplace_distribution(Fraction(2))
    )


def test_the_exponential_distribution_follows_scores_and_multiplicity():
    assert exponential_distribution([0, 0], Fraction(1)) == pytest.approx([0.5, 0.5])
    assert exponential_distribution([5, 5, 5], Fraction(1), [1, 2, 1]) == pytest.approx([0.25, 0.5, 0.25])
    assert exponential_distribution([0, -1], Fraction(1))[1] == pytest.approx(1 / (1 + np.e))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(22, 7), Fraction(30)], ids=str)
def test_the_rational_exponential_is_enclosed_tightly(x):
    lower, upper = exp_between(x)
    with mpmath.workdps(200):
        assert rational(lower) <= mpmath.exp(-rational(x)) <= rational(upper)
    assert upper - lower <= Fraction(1, 2**380)
