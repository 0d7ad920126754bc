"""Noisy integers become numbers once, at the end."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.statistics.one_round import times


@pytest.mark.parametrize("step", [Fraction(1), Fraction(1, 10), Fraction(1, 3), Fraction(5, 2), Fraction(1, 2**20)])
def test_a_multiple_of_a_step_is_the_double_nearest_to_it(step):
    integers = np.arange(-500, 500)
    assert times(integers, step).tolist() == [float(k * step) for k in range(-500, 500)]


def test_integers_of_any_size_are_read():
    assert times(np.array([10**40], dtype=object), Fraction(1, 2)).tolist() == [5e39]
