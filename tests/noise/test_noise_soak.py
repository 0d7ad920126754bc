"""The long form of the sampler programme: fresh bits, up to 1e8 draws each, one false alarm in 1e9 runs of it all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.noise import SystemBits, discrete_gaussian, discrete_laplace, geometric, weighted_choice
from adomnia.noise.discrete import LogQuadratic
from kit.distributions import (
    counts_in_cells,
    exponential_distribution,
    gaussian_distribution,
    geometric_distribution,
    laplace_distribution,
    p_value_of_counts,
)

pytestmark = pytest.mark.soak

CHUNK = 10**7
SCALES = [Fraction(text) for text in ("1/2", "1", "3/2", "3", "10", "100", "1e4", "1e6", "1e12")]
VARIANCES = [Fraction(text) for text in ("1/4", "1", "9", "100", "1e4", "1e8")]
HUGE = [Fraction(10) ** power for power in (16, 24, 30)]
ALPHA = 1e-9 / 64  # shared by all statistical tests of this file, of which there are fewer than 64
BITS = SystemBits()


def judged(draw, distributions, total, chunk=CHUNK):
    """Whether `total` draws, in chunks, pass for draws of each of the distributions."""
    cells = [distribution.cells(total) for distribution in distributions]
    counts = [np.zeros(len(masses), dtype=np.int64) for _, masses in cells]
    for start in range(0, total, chunk):
        draws = draw(min(chunk, total - start))
        counts = [count + counts_in_cells(draws, edges) for count, (edges, _) in zip(counts, cells, strict=True)]
    return [p_value_of_counts(count, masses) >= ALPHA for count, (_, masses) in zip(counts, cells, strict=True)]


def around(distribution, parameter, percent):
    """The distribution, a little wider, a little narrower."""
    return [
        distribution(parameter),
        distribution(parameter * (1 + percent / 100)),
        distribution(parameter * (1 - percent / 100)),
    ]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_a_hundred_million_laplace_draws_fit_and_reject_half_a_percent(scale):
    distributions = around(laplace_distribution, scale, Fraction(1, 2))
    assert judged(lambda size: discrete_laplace(scale, (size,), BITS), distributions, 10**8) == [True, False, False]


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_a_hundred_million_gaussian_draws_fit_and_reject_half_a_percent(variance):
    distributions = around(gaussian_distribution, variance, Fraction(1))
    assert judged(lambda size: discrete_gaussian(variance, (size,), BITS), distributions, 10**8) == [True, False, False]


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(10**6)], ids=str)
def test_ten_million_geometric_draws_fit_and_reject_two_percent(scale):
    distributions = around(geometric_distribution, scale, Fraction(2))
    assert judged(lambda size: geometric(scale, (size,), BITS), distributions, 10**7) == [True, False, False]


@pytest.mark.parametrize("first_bits", [2, 3, 8])
@pytest.mark.parametrize("scale", [Fraction(3), Fraction(10**4)], ids=str)
def test_forced_refinement_keeps_the_distribution_over_a_million_draws(scale, first_bits):
    sampler = LogQuadratic(1 / scale, Fraction(0), first_bits)
    distributions = around(laplace_distribution, scale, Fraction(3))
    assert judged(lambda size: sampler.draw(size, BITS), distributions, 10**6, 10**5) == [True, False, False]


@pytest.mark.parametrize("scale", HUGE, ids=str)
def test_a_million_huge_draws_fit_and_reject_three_percent(scale):
    distributions = around(laplace_distribution, scale, Fraction(3))
    assert judged(lambda size: discrete_laplace(scale, (size,), BITS), distributions, 10**6, 10**5) == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1, 10)], ids=str)
def test_three_hundred_thousand_choices_fit_and_reject_five_percent(rate):
    scores = [0, 1, 3, 4, 8, 13]
    chosen = np.bincount([weighted_choice(np.array(scores), rate, BITS) for _ in range(300_000)], minlength=6)
    assert p_value_of_counts(chosen, exponential_distribution(scores, rate)) >= ALPHA
    assert p_value_of_counts(chosen, exponential_distribution(scores, rate * Fraction(105, 100))) < ALPHA


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
def test_pairs_of_neighbours_are_independent_over_a_hundred_million_draws(draw):
    """Products of signs at distances 1, 2 and 2**15 (one batch of the sampler): mean 0 within seven deviations."""
    totals = dict.fromkeys((1, 2, 2**15), 0)
    for _ in range(10):
        signs = np.sign(draw(Fraction(10**6), (CHUNK,), BITS))
        for lag in totals:
            totals[lag] += int((signs[lag:] * signs[:-lag]).sum())
    assert max(map(abs, totals.values())) < 7 * (10**8) ** 0.5  # 3e-12 a test
