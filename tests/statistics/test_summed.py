"""Cells added up: the numbers, and who shares noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Measured
from adomnia.statistics.linear import Ring
from adomnia.statistics.summed import sum_over

LAPLACE = DiscreteLaplace(Fraction(4))


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
