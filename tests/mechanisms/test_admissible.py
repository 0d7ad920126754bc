"""What noise of a private scale costs: the largest loss over all moves and scales it allows for, against its price."""

from __future__ import annotations

import json
from fractions import Fraction
from math import acosh, exp, log
from pathlib import Path

import numpy as np
import pytest

from adomnia.mechanisms.admissible import cauchy_rates, laplace_delta, laplace_rates, student_rates
from adomnia.noise.discrete import NotDrawableError

VECTORS = json.loads((Path(__file__).parents[1] / "fixtures" / "vectors.json").read_text())
EPSILONS = [Fraction(text) for text in ("1/100", "1/10", "1", "3")]
every_epsilon = pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
POINTS = np.tan(
    np.linspace(-np.pi / 2, np.pi / 2, 40_001)[1:-1]
)  # from -25,000 to 25,000, close where distributions are


def cauchy(z, place, scale):
    return -np.log(scale) - np.log1p(((z - place) / scale) ** 2)


def student(z, place, scale):
    return -np.log(scale) - 2 * np.log1p(((z - place) / scale) ** 2 / 4)


def laplace(z, place, scale):
    return -np.log(scale) - np.abs(z - place) / scale


def scales(beta):
    return np.exp(np.linspace(-float(beta), float(beta), 21))


def worst_loss(density, alpha, beta):
    """Between a distribution of scale 1 at 0 and all that it must not be told from."""
    z = np.concatenate([POINTS, 1e6 * POINTS])
    return max(
        np.max(density(z, 0, 1) - density(z, side * float(alpha) * min(1, scale), scale))
        for scale in scales(beta)
        for side in (-1, 0, 1)
    )


@every_epsilon
def test_cauchy_noise_loses_its_epsilon_and_no_more(epsilon):
    alpha, beta = cauchy_rates(epsilon)
    assert float(epsilon) * 0.9999 < worst_loss(cauchy, alpha, beta) <= float(epsilon) * (1 + 1e-9)
    assert worst_loss(cauchy, alpha, 1.5 * float(beta)) > float(epsilon) * 1.1
    assert max(worst_loss(cauchy, 1.1 * float(alpha), each) for each in (0, beta)) > float(epsilon) * 1.001


@pytest.mark.no_cover
@every_epsilon
def test_students_noise_loses_its_epsilon_and_no_more(epsilon):
    alpha, beta = student_rates(epsilon)
    assert float(epsilon) * 0.85 < worst_loss(student, alpha, beta) <= float(epsilon) * (1 + 1e-9)
    assert worst_loss(student, alpha, 2 * float(beta)) > float(epsilon)
    assert max(worst_loss(student, 1.5 * float(alpha), each) for each in (0, beta)) > float(epsilon)


@every_epsilon
def test_rates_are_better_than_those_of_the_sum_of_both_costs(epsilon):
    half = epsilon / 2
    assert np.prod([float(each) for each in cauchy_rates(epsilon)]) > 1.9 * float(half * half)
    assert np.prod([float(each) for each in student_rates(epsilon)]) > 1.7 * float(half * half / 3)


def beyond(epsilon, alpha, beta):
    """The largest delta of Laplace noise, by adding up densities in small steps."""
    width = 60 / (1 << 16)
    y = np.arange(-30, 30, width) + width / 2
    here = np.exp(laplace(y, 0, 1)) / 2
    worst = 0.0
    for scale, side in ((scale, side) for scale in scales(beta) for side in (-1, 1)):
        there = np.exp(laplace(y, side * float(alpha) * min(1, scale), scale)) / 2
        worst = max(worst, float(np.maximum(here - exp(float(epsilon)) * there, 0).sum() * width))
    return worst


@pytest.mark.parametrize("epsilon", EPSILONS[1:], ids=str)
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**4)], ids=str)
def test_laplace_noise_leaves_its_delta_beyond_epsilon_and_no_more(epsilon, delta):
    alpha, beta = laplace_rates(epsilon, delta)
    assert laplace_delta(beta, epsilon - alpha) <= delta
    assert alpha + beta <= epsilon
    assert 0.4 * float(delta) < beyond(epsilon, alpha, beta) <= float(delta) or beta == epsilon - alpha
    assert beyond(epsilon, alpha, 2.5 * float(beta)) > float(delta)


def test_a_delta_that_no_beta_keeps_is_refused():
    with pytest.raises(NotDrawableError, match="leave a beta"):
        laplace_rates(Fraction(1), Fraction(1, 10**500))


def distance(place, low, high):
    """The hyperbolic one of (0, low) and (place, high)."""
    return acosh(1 + (place**2 + (high - low) ** 2) / (2 * low * high))


def test_the_loss_of_cauchy_noise_is_the_one_that_was_found_numerically():
    stated = VECTORS["admissible"]
    assert distance(0.5, 1, exp(-0.5)) == pytest.approx(stated["cauchy_alpha_beta_half_each_eps1"], rel=1e-3)
    assert distance(1 / 6, 1, exp(-1 / 6)) == pytest.approx(stated["cauchy_NRS_alpha_beta_1_6"], rel=1e-3)


def test_students_distribution_loses_as_was_found_numerically():
    stated = VECTORS["admissible"]
    moved = max(np.max(student(POINTS, 0, 1) - student(POINTS, shift, 1)) / shift for shift in (0.01, 0.1))
    # In scales of Student's t distribution itself, which is sqrt(3) / 2 times narrower.
    assert moved * 2 / 3**0.5 == pytest.approx(stated["t3_shift1_bound"][1], rel=1e-3)
    dilated = np.max(student(1e6 * POINTS, 0, 1) - student(1e6 * POINTS, 0, exp(-0.1))) / 0.1
    assert dilated == pytest.approx(stated["t3_dilate"][0], rel=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "delta", "name"), [(1, 1e-4, "laplace_eps1_delta1e4"), (0.1, 1e-6, "laplace_eps0_1_delta1e6")]
)
def test_the_papers_beta_for_laplace_noise_leaves_what_was_found_numerically(epsilon, delta, name):
    """There a move is by alpha of the larger scale, and on one side of the value; ours bounds both sides."""
    beta = epsilon / (2 * log(2 / delta))
    ratio = exp(beta)
    exact = (1 - 1 / ratio) * exp(-(epsilon - ratio * epsilon / 2 + beta) / (ratio - 1)) / 2
    assert exact == pytest.approx(VECTORS["smooth_noise_actual_delta"][name], rel=0.02)
    assert laplace_rates(Fraction(epsilon), Fraction(delta)).beta > 1.2 * beta
