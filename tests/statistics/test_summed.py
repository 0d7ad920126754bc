"""The noise of cells added up: its law, and the numbers it is on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.combinations import deviation_of, farthest
from adomnia.statistics.contract import Measured
from adomnia.statistics.ratios import critical_value
from adomnia.statistics.rings import Ring
from adomnia.statistics.summed import SummedLaplace, sum_over, summed_noise

LAPLACE = DiscreteLaplace(Fraction(4))
DRAWS = 40_000
MOST = 0.0555  # of 40,000 sums, more beyond their 95% with a probability below 1e-6


def draws(times):
    rng, share = np.random.default_rng(times), 1 - np.exp(-1 / 4)
    return sum(rng.geometric(share, DRAWS) - rng.geometric(share, DRAWS) for _ in range(times))


@pytest.mark.parametrize("times", [2, 5, 7, 30])
def test_a_sum_stays_within_its_interval_as_often_as_it_says(times):
    reach = summed_noise(LAPLACE, times).interval(0.95).half_width
    beyond = (np.abs(draws(times)) > reach).mean()
    assert 0.03 < beyond <= MOST


def test_a_sum_of_two_kinds_stays_within_its_critical_value():
    five, own = summed_noise(LAPLACE, 5), draws(1)
    limit = critical_value(LAPLACE, five, 0.5, 0.05)
    beyond = (np.abs(own + 0.5 * np.random.default_rng(3).permutation(draws(5))) >= limit).mean()
    assert 0.03 < beyond <= MOST
    assert limit < LAPLACE.interval(0.975).half_width + 0.5 * five.interval(0.975).half_width


def test_a_gaussian_sum_is_one_and_no_narrower_where_noise_is_small():
    assert summed_noise(DiscreteGaussian(Fraction(9)), 4) == DiscreteGaussian(Fraction(36))
    assert summed_noise(DiscreteGaussian(Fraction(1)), 4) == DiscreteGaussian(Fraction(16))
    assert summed_noise(LAPLACE, 1) is LAPLACE
    assert summed_noise(summed_noise(LAPLACE, 2), 3) == SummedLaplace(Fraction(4), 6)


def test_a_sum_counts_as_often_as_its_cells():
    alone = farthest([LAPLACE] * 9, [np.asarray(1.0)] * 9, 0.05)
    together = farthest([summed_noise(LAPLACE, 9)], [np.asarray(1.0)], 0.05)
    assert float(together) == pytest.approx(float(alone))
    assert deviation_of(summed_noise(LAPLACE, 9)) == pytest.approx(3 * deviation_of(LAPLACE))


def test_large_integers_are_added_up_exactly():
    measured = Measured(np.full((2, 3), 2**62), LAPLACE)
    added = sum_over(measured, (1,))
    assert added.values.tolist() == [[3 * 2**62]] * 2
    assert added.key == sum_over(measured, (1,)).key != sum_over(measured, (0,)).key


def test_rings_meet_unless_one_is_within_the_hole_of_the_other():
    a, b = frozenset("a"), frozenset("b")
    inner, outer = Ring(None, a, 0), Ring(a, frozenset(), 0)
    assert not inner.meets(outer)
    assert not outer.meets(inner)
    assert inner.meets(Ring(None, b, 0))
    assert inner.meets(Ring(a, frozenset(), 1))
