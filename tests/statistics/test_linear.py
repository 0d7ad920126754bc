"""Sums of noisy integers: exact values, and a reach that is right to the last unit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Measured
from adomnia.statistics.linear import linear, margin_of


def laplace(scale, values=0):
    return Measured(np.array(values), DiscreteLaplace(Fraction(scale)))


def gaussian(variance, values=0):
    return Measured(np.array(values), DiscreteGaussian(Fraction(variance)))


def beyond(parts, reach):
    """P[|noise of all parts| > reach], summed over all pairs of values that matter."""
    (x, a), (y, b) = ((measured.noise, float(factor)) for measured, factor in parts)
    spread = [40 * noise.scale if isinstance(noise, DiscreteLaplace) else 12 * noise.variance**0.5 for noise in (x, y)]
    ks, ls = (np.arange(-int(each) - 3, int(each) + 4) for each in spread)
    weights = np.outer([x.probability(int(k)) for k in ks], [y.probability(int(k)) for k in ls])
    return float(weights[np.abs(a * ks[:, None] + b * ls[None, :]) > reach + 1e-9].sum())


PARTS = {
    "two alike": ((laplace(1), Fraction(1)), (laplace(1), Fraction(1))),
    "a difference": ((laplace(3), Fraction(1)), (laplace(5), Fraction(-1))),
    "a middle times a count": ((laplace(60), Fraction(1)), (laplace(2), Fraction(25))),
    "the larger factor first": ((laplace(2), Fraction(7)), (laplace(20), Fraction(1))),
    "halves": ((laplace(9), Fraction(1, 2)), (laplace(3), Fraction(-3, 2))),
}


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_the_reach_of_two_laplace_noises_is_the_least_that_is_enough(parts, confidence):
    reach = margin_of(parts, confidence, 1)
    unit = min(abs(factor) for _, factor in parts)
    assert beyond(parts, float(reach)) <= (1 - confidence) * (1 + 1e-6)
    assert beyond(parts, float(reach - unit)) > 1 - confidence


@pytest.mark.parametrize(
    "parts",
    [
        ((gaussian(100), Fraction(1)), (gaussian(9), Fraction(3))),
        ((gaussian(Fraction(1, 2)), Fraction(1)), (gaussian(40), Fraction(2))),
        ((gaussian(Fraction(1, 2)), Fraction(1)), (gaussian(Fraction(1, 3)), Fraction(1))),
        ((gaussian(30), Fraction(1)), (laplace(3), Fraction(2))),
        ((laplace(6), Fraction(2)), (laplace(3), Fraction(3))),
    ],
    ids=str,
)
def test_the_reach_of_other_noises_is_enough_and_no_wider_than_a_box(parts):
    for confidence in (0.5, 0.95, 0.999):
        reach = float(margin_of(parts, confidence, 1))
        assert beyond(parts, reach) <= 1 - confidence
        box = sum(abs(factor) * each.noise.interval(confidence**0.5).half_width for each, factor in parts)
        assert reach <= box + max(abs(factor) for _, factor in parts)


def test_gaussian_noises_add_their_variances():
    parts = ((gaussian(10**6), Fraction(1)), (gaussian(10**4), Fraction(5)))
    exact = DiscreteGaussian(Fraction(10**6 + 25 * 10**4)).interval(0.95).half_width
    assert abs(float(margin_of(parts, 0.95, 1)) - exact) <= 3


def test_known_sums_of_noise_are_reproduced(vectors):
    known = vectors["discrete_ci"]
    assert margin_of(((laplace(1), Fraction(1)),), 0.95, 1) == known["sum of 1 dlaplace eps=1"]["half_width"]
    assert margin_of(PARTS["two alike"], 0.95, 1) == known["sum of 2 dlaplace eps=1"]["half_width"]


def test_all_cells_at_once_reach_further():
    parts = PARTS["a middle times a count"]
    reach = float(margin_of(parts, 0.95, 100))
    assert beyond(parts, reach) <= 1 - 0.95 ** (1 / 100)
    assert reach > float(margin_of(parts, 0.95, 1))


def test_values_and_ends_are_exact_whatever_their_size():
    big = 2**62 + 1
    parts = ((laplace(1, [big, -3]), Fraction(3)), (laplace(1, [5, 0]), Fraction(1, 2)))
    estimate = linear(parts, "both", Fraction(1, 4))
    assert estimate.values.tolist() == [float(3 * big + Fraction(11, 4)), -8.75]
    lower, upper = estimate.interval(0.95, 1)
    assert (lower <= estimate.values).all()
    assert (estimate.values <= upper).all()
    assert (estimate.method, estimate.whole, estimate.parts) == ("both", False, ())


def test_a_sum_without_a_constant_says_what_it_is_made_of():
    parts = ((laplace(1, 4), Fraction(2)),)
    estimate = linear(parts, "twice")
    assert estimate.parts == parts
    assert estimate.whole
    assert estimate.values == 8
    assert estimate.interval(0.95, 1) == (8 - 2 * 3, 8 + 2 * 3)


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, float("nan")])
def test_a_confidence_that_is_none_is_refused(confidence):
    with pytest.raises(ValueError, match="confidence must be above 0 and below 1"):
        margin_of(PARTS["two alike"], confidence, 1)


def test_a_part_that_does_not_count_has_no_noise():
    parts = ((laplace(1, 4), Fraction(2)), (laplace(50, 9), Fraction(0)))
    assert linear(parts, "").interval(0.95, 1) == (8 - 2 * 3, 8 + 2 * 3)
