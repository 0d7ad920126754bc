"""Polynomials, and how far several of them reach over a box: never less than at any of its points."""

from __future__ import annotations

from functools import reduce
from itertools import product
from operator import mul

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.privacy import polynomials
from adomnia.privacy.polynomials import MOST_DEGREE, Polynomial, constant, largest_move, variable
from adomnia.privacy.sensitivity import Sensitivity
from kit.polynomials import bernstein
from kit.polynomials import polynomials as any_polynomials

VARIABLES = 2
found = any_polynomials(VARIABLES)
boxes = st.tuples(*[st.integers(0, 4)] * VARIABLES)
points = st.tuples(*[st.integers(-5, 5)] * VARIABLES)


@given(found, found, points)
def test_polynomials_are_computed_like_their_values(one, other, point):
    assert (one + other).at(point) == one.at(point) + other.at(point)
    assert (one - other).at(point) == one.at(point) - other.at(point)
    assert (one * other).at(point) == one.at(point) * other.at(point)


@given(found, found)
def test_equal_polynomials_are_written_alike(one, other):
    assert one + other == other + one
    assert one * other == other * one
    assert (one - one).terms == ()
    assert one + (other - one) == other


@pytest.mark.parametrize(
    ("wrong", "error", "reason"),
    [
        (((1.0, (1,)),), TypeError, "of integers"),
        (((True, (1,)),), TypeError, "of integers"),
        (((1, (True,)),), TypeError, "of integers"),
        (((0, (1,)),), ValueError, "must not be 0"),
        (((1, (1,)), (1, (0,))), ValueError, "in the order"),
        (((1, (1,)), (1, (1,))), ValueError, "in the order"),
        (((1, (-1,)),), ValueError, "between 0 and 8"),
        (((1, (MOST_DEGREE + 1,)),), ValueError, "between 0 and 8"),
    ],
)
def test_a_polynomial_is_written_in_one_way_only(wrong, error, reason):
    with pytest.raises(error, match=reason):
        Polynomial(wrong)


@given(st.lists(found, min_size=1, max_size=4), boxes)
@settings(max_examples=400, deadline=None)
def test_no_point_of_the_box_is_beyond_what_all_of_them_reach(together, box):
    allowed = largest_move(together, box)
    for point in product(*(range(width + 1) for width in box)):
        values = [each.at(point) for each in together]
        assert sum(map(abs, values)) <= allowed.l1
        assert sum(value**2 for value in values) <= allowed.l2_squared
        assert max(map(abs, values)) <= allowed.linf
        assert not allowed.monotone or min(values) >= 0


@given(st.lists(found, min_size=1, max_size=3), boxes, st.randoms(use_true_random=False))
def test_entries_that_vanish_only_shorten_the_vector(together, box, chance):
    allowed = largest_move(together, box)
    left = [each for each in together if chance.random() < 0.5] or together[:1]
    fewer = largest_move(left, box)
    assert (fewer.l1 <= allowed.l1, fewer.l2_squared <= allowed.l2_squared, fewer.linf <= allowed.linf) == (True,) * 3


@pytest.mark.parametrize("width", [1, 7, 100, 2**40])
@pytest.mark.parametrize("degree", [1, 2, 3, 8])
def test_sums_that_add_up_to_a_constant_reach_no_further_than_it(width, degree):
    allowed = largest_move(bernstein(degree, width, 0, 1), [width])
    assert allowed == Sensitivity(l1=width**degree, monotone=True)


def test_products_of_such_sums_reach_no_further_than_their_product():
    nine = [one * other for one in bernstein(2, 30, 0, 2) for other in bernstein(2, 7, 1, 2)]
    assert largest_move(nine, [30, 7]) == Sensitivity(l1=210**2, monotone=True)


def test_the_norms_of_both_ends_are_taken_together():
    x = variable(0, 1)
    assert largest_move([x, constant(10, 1)], [10]) == Sensitivity(20, 200, 10, monotone=True)
    assert largest_move([x, constant(0, 1) - x], [10]) == Sensitivity(20, 200, 10, monotone=False)
    assert largest_move([x * x, x], [4]) == Sensitivity(20, 16**2 + 4**2, 16, monotone=True)


def test_what_is_between_the_ends_counts_in_control_points():
    x = variable(0, 1)
    middle = largest_move([(constant(10, 1) - x) * x], [10])
    assert middle == Sensitivity(l1=50, monotone=True)  # 25 in truth
    assert largest_move([(x - constant(5, 1)) * (x - constant(5, 1))], [10]) == Sensitivity(l1=25, monotone=False)


@pytest.mark.parametrize("zero", [constant(0, 1), variable(0, 1) * variable(0, 1)])
def test_what_never_moves_still_gets_noise(zero):
    assert largest_move([zero], [0]) == Sensitivity(l1=1, monotone=True)


def test_what_is_zero_at_every_integer_still_gets_noise():
    x = variable(0, 1)
    assert largest_move([x * (constant(1, 1) - x)], [1]).l1 == 1


def test_without_variables_there_is_one_point():
    assert largest_move([constant(-3, 0), constant(4, 0)], []) == Sensitivity(7, 25, 4)


def test_control_points_are_those_of_the_joint_degree():
    x = variable(0, 1)
    assert polynomials._control_points([x, x * x], [10]) == (2, [[0, 0], [10, 0], [20, 200]])


def test_too_many_control_points_are_refused(monkeypatch):
    """A square has three control points: with three terms that makes nine."""
    monkeypatch.setattr(polynomials, "MOST_POINTS", 9)
    square = reduce(mul, [variable(0, 1)] * 2)
    assert largest_move([square] * 3, [1]).l1 == 3
    with pytest.raises(ValueError, match="terms times control points"):
        largest_move([square] * 4, [1])


@given(st.lists(found, min_size=1, max_size=3), boxes, st.data())
def test_the_size_bounds_every_value(together, box, data):
    point = data.draw(st.tuples(*(st.integers(0, width) for width in box)))
    assert all(abs(each.at(point)) <= each.size(box) for each in together)
