"""The last round: amounts that add up, and go where they help most."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.synthesis.noisy_tables import NoisyTables
from adomnia.methods.synthesis.polishing import divide_amount
from adomnia.methods.synthesis.residuals import NoisyMarginal

SIZES = (2, 3, 4)


def measured(variances):
    marginals = [
        NoisyMarginal(table, np.zeros([SIZES[place] for place in table]), variance)
        for table, variance in variances.items()
    ]
    return NoisyTables(SIZES, tuple(variances), tuple(marginals))


@pytest.mark.parametrize("amount", [Fraction(1, 10**6), Fraction(1, 100), Fraction(50)])
def test_parts_add_up_to_the_amount_and_never_to_more(amount):
    parts = divide_amount(measured({(0,): 9.0, (1,): 9.0, (2,): 9.0, (0, 1): 30.0}), amount)
    assert 0.999 * amount < sum(parts.values()) <= amount


def test_what_is_known_badly_gets_more_and_what_is_known_well_nothing():
    parts = divide_amount(measured({(0,): 1e-6, (1, 2): 1e4, (0, 1): 1e2}), Fraction(1, 1000))
    assert (0,) not in parts
    assert parts[1, 2] > parts.get((0, 1), 0)


def test_the_last_part_of_an_amount_helps_all_tables_equally():
    """At the least sum of errors, n s**3 / c is the same for all tables that are measured again."""
    noisy = measured({(0,): 1e9, (1,): 1e9, (2,): 1e9})
    parts = divide_amount(noisy, Fraction(1))
    deviations = {place: (2 * float(parts[(place,)])) ** -0.5 for place in range(3)}
    levels = [SIZES[place] * deviation**3 for place, deviation in deviations.items()]
    assert levels == pytest.approx([levels[0]] * 3, rel=1e-3)
