"""Discrete Laplace noise against known answers and against the continuous distribution it tends to."""

from __future__ import annotations

from fractions import Fraction
from math import fsum, isclose

import numpy as np
import pytest

from adomnia.mechanisms import DiscreteLaplace
from adomnia.privacy.events import Pure
from adomnia.privacy.sensitivity import Sensitivity
from kit.mechanisms import margin_of

FINE = 10**7  # steps to one unit of the continuous distribution


@pytest.mark.parametrize("epsilon", ["1.0", "0.5", "0.1"])
def test_the_two_sided_geometric_vectors_hold(vectors, epsilon):
    known = vectors["geometric"][f"eps{epsilon}"]
    noise = DiscreteLaplace.calibrated(Sensitivity(l1=1), Pure(float(epsilon)))
    reach = margin_of(noise)
    assert noise.probability(0) == pytest.approx(known["p0"], rel=1e-12)
    assert noise.probability(-1) == noise.probability(1) == pytest.approx(known["p1"], rel=1e-12)
    assert fsum(k * k * noise.probability(k) for k in range(-reach, reach + 1)) == pytest.approx(known["var"], rel=1e-9)
    interval = noise.interval(0.95)
    assert [interval.half_width, interval.coverage] == [known["ci95"][0], pytest.approx(known["ci95"][1], rel=1e-12)]


def test_the_exact_interval_vector_holds(vectors):
    known = vectors["discrete_ci"]["sum of 1 dlaplace eps=1"]
    interval = DiscreteLaplace(Fraction(1)).interval(0.95)
    assert interval.half_width == known["half_width"]
    assert interval.coverage == pytest.approx(known["coverage"], abs=5e-6)


def test_on_a_fine_grid_it_is_the_laplace_distribution(vectors):
    known = vectors["laplace"]
    unit = DiscreteLaplace(Fraction(FINE))
    assert unit.interval(0.95).half_width / FINE == pytest.approx(known["ci95_eps1"], abs=2 / FINE)
    assert unit.interval(0.99).half_width / FINE == pytest.approx(known["ci99_eps1"], abs=2 / FINE)
    assert DiscreteLaplace(Fraction(10 * FINE)).interval(0.95).half_width / FINE == pytest.approx(
        known["ci95_eps0_1"], abs=2 / FINE
    )
    double = DiscreteLaplace(Fraction(2 * FINE))
    assert double.probability(0) * FINE == pytest.approx(known["b2_pdf0"], rel=1e-9)
    coarse = DiscreteLaplace(Fraction(2000))
    assert fsum(coarse.probability(k) for k in range(-80_000, 1001)) == pytest.approx(known["b2_cdf_1"], abs=1e-4)


@pytest.mark.parametrize(("cells", "factor"), [(10, 5.27534), (50, 6.88273), (1000, 9.87798)])
def test_simultaneous_intervals_have_the_known_widths(cells, factor):
    interval = DiscreteLaplace(Fraction(FINE)).interval(0.95, cells)
    assert interval.half_width / FINE == pytest.approx(factor, abs=6e-6)
    assert interval.coverage == pytest.approx(0.95, abs=1e-6)


def test_calibration_is_the_sensitivity_divided_by_epsilon_exactly():
    assert DiscreteLaplace.calibrated(Sensitivity(l1=Fraction(7, 3)), Pure(0.1)).scale == Fraction(70, 3)
    assert DiscreteLaplace(Fraction(70, 3)).event(Sensitivity(l1=Fraction(7, 3))) == Pure(0.1)


def test_calibration_uses_the_l1_norm_and_no_smaller_one():
    spread = Sensitivity(l1=10, l2_squared=10, linf=1)
    assert DiscreteLaplace.calibrated(spread, Pure(1)).scale == 10


@pytest.mark.parametrize("written", [2, 2.0, np.int64(2), Fraction(2)], ids=repr)
def test_equal_scales_are_equal_however_they_are_written(written):
    assert DiscreteLaplace(written) == DiscreteLaplace(Fraction(2))


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1), Fraction(10**12), Fraction(10**30)], ids=str)
def test_intervals_exist_at_every_scale(scale):
    noise = DiscreteLaplace(scale)
    for confidence in (0.01, 0.5, 0.95, 1 - 1e-12):
        interval = noise.interval(confidence)
        assert interval.coverage >= confidence or isclose(interval.coverage, confidence, rel_tol=1e-15)


def test_standard_deviation_is_below_what_the_docstring_says():
    for scale in (Fraction(1, 2), Fraction(1), Fraction(7), Fraction(60)):
        noise = DiscreteLaplace(scale)
        reach = margin_of(noise)
        variance = fsum(k * k * noise.probability(k) for k in range(-reach, reach + 1))
        assert variance**0.5 < 1.42 * scale
