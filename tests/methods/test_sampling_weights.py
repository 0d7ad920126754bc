"""Sampling weights: which are refused, and that splitting a sum costs nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.methods.contract import BadArgument, NumberColumn
from adomnia.methods.sampling_weights import SamplingWeights, read_weights
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.vectors import Variable, constant, variable


def column(lower, upper, domain=None):
    kind = Quantity(Fraction(lower), Fraction(upper), False)
    domain = domain or Numbers.bounded(Fraction(lower), Fraction(upper))
    return NumberColumn("w", Column("w", kind, domain), domain)


X = Variable(
    Column("x", Quantity(Fraction(0), Fraction(100), True), Numbers.integers(0, 100)), Numbers.integers(0, 100)
)
CORNERS = (variable(0, 1), constant(100, 1) - variable(0, 1))


@pytest.mark.parametrize("split", [True, False])
@pytest.mark.parametrize("weights", [column(0, 7), column(2, 7), column(0, 5, Numbers.integers(0, 5))])
def test_a_weighted_sum_moves_by_no_more_than_the_largest_weight_times_the_plain_one(weights, split):
    found = SamplingWeights(weights)
    vector = found.vector((X,), CORNERS, split=split)
    assert vector.row.l1 == 100 * found.size(split=split)
    assert len(vector.entries) == 2 * (1 + split)


def test_the_parts_of_a_sum_add_up_to_it_and_the_first_has_the_square_of_the_weight():
    found = SamplingWeights(column(0, 5, Numbers.integers(0, 5)))
    first, second = found.vector((X,), (variable(0, 1),), split=True).entries
    for x, weight in ((7, 0), (7, 3), (100, 5)):
        assert first.at((x, weight, weight)) == x * weight**2
        assert first.at((x, weight, weight)) + second.at((x, weight, weight)) == x * weight * 5


def test_weights_are_parts_of_their_upper_bound_whatever_the_lower():
    found = SamplingWeights(column(2, 7))
    assert found.fine.domain.grid_lower == 0
    assert found.fine.domain.width <= 2**14
    assert found.coarse.domain.width <= 2**6
    assert found.upper == pytest.approx(7, rel=1e-3)


@pytest.mark.parametrize(("lower", "upper"), [(-1, 5), (-3, 0), (0, 0)])
def test_weights_that_may_be_negative_or_are_all_zero_are_refused(lower, upper):
    domain = Numbers.integers(lower, upper)
    with pytest.raises(BadArgument, match=r"weight => CLAMP\(w, 0, \d\)"):
        read_weights({"weight": column(lower, upper, domain)})
    assert read_weights({}) is None
