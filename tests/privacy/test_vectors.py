"""Vectors of sums: what a row moves of all entries together, and what a query makes of it."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product
from operator import mul

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.plans.plan import canonical
from adomnia.privacy import vectors
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Quantity, Text
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.relations import MOST_ROWS, Private
from adomnia.privacy.scans import Rows, Total
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.vectors import (
    LARGEST_ENTRY,
    MOST_DEGREE,
    MOST_ENTRIES,
    Polynomial,
    Variable,
    Vector,
    constant,
    largest_move,
    variable,
)
from kit.polynomials import bernstein
from kit.polynomials import polynomials as any_polynomials

SEX = Column("sex", Text(("F", "M", "X")))
AGE = Column("age", Quantity(Fraction(18), Fraction(120), whole=True), Numbers.integers(18, 120))
VISITS = Private("visits", 10, (SEX, AGE))
STEPS = variable(0, 1)
ENDS = Vector((Variable(AGE, AGE.domain),), (STEPS, constant(102, 1) - STEPS))


def over(lower, upper, *entries):
    return Vector((Variable(AGE, Numbers.integers(lower, upper)),), entries)


def test_distances_from_both_ends_move_by_the_width_and_no_further():
    assert ENDS.row == Sensitivity(l1=102, monotone=True)
    assert Query(VISITS, (SEX,), ENDS).sensitivity() == Sensitivity(l1=1020, monotone=True)
    assert over(-1000, -990, STEPS, constant(10, 1) - STEPS).row == Sensitivity(l1=10, monotone=True)


def test_a_vector_of_one_entry_moves_like_a_sum():
    total = Query(VISITS, (), Total(AGE, AGE.domain, centre=60))
    centred = Query(VISITS, (), Vector(ENDS.variables, (STEPS - constant(42, 1),)))
    assert centred.sensitivity() == total.sensitivity()


def test_the_result_has_the_entries_innermost():
    query = Query(VISITS, (SEX,), ENDS)
    assert (query.shape, query.result_shape, query.columns) == ((3,), (3, 2), 2)
    plain = Query(VISITS, (SEX,), Rows())
    assert (plain.result_shape, plain.columns) == ((3,), 1)
    assert plain.scan == query.scan


def test_sums_are_bounded_by_every_step_of_every_row():
    squares = over(0, 1000, (STEPS - constant(1000, 1)) * STEPS)
    assert squares.magnitude == 2 * 1000**2
    assert Query(VISITS, (), squares).largest == MOST_ROWS * 2_000_000
    assert over(5, 5, constant(0, 1)).magnitude == 1


def test_vectors_are_not_shortened():
    with pytest.raises(ValueError, match="in counts or sums"):
        Query(VISITS, (), ENDS, Clip(5))


@pytest.mark.parametrize("entries", [(), (STEPS,) * (MOST_ENTRIES + 1)])
def test_the_number_of_entries_is_limited(entries):
    with pytest.raises(ValueError, match="between 1 and 256"):
        over(0, 1, *entries)
    assert len(over(0, 1, *(STEPS,) * MOST_ENTRIES).entries) == MOST_ENTRIES


@pytest.mark.parametrize("entry", [variable(0, 2), Polynomial(((1, ()),))])
def test_entries_are_of_the_variables_that_there_are(entry):
    with pytest.raises(ValueError, match="of 1 variables each"):
        over(0, 1, entry)


def test_an_entry_that_no_engine_could_add_up_is_refused():
    assert over(0, 2**39, STEPS * STEPS).magnitude == LARGEST_ENTRY
    with pytest.raises(ValueError, match=r"within 2\*\*78 in every row"):
        over(0, 2**39 + 1, STEPS * STEPS)


def test_a_grid_far_from_zero_takes_no_more_room_than_its_width():
    assert over(2**70, 2**70 + 5, STEPS * STEPS * STEPS).magnitude == 125


def test_a_vector_has_an_identity_of_its_own():
    other = Vector(ENDS.variables, ENDS.entries[::-1])
    assert len({canonical(each) for each in (ENDS, other, Vector(ENDS.variables, ENDS.entries[:1]))}) == 3
    assert canonical(ENDS) == canonical(Vector(ENDS.variables, (STEPS, Polynomial(((102, (0,)), (-1, (1,)))))))


def test_a_vector_looks_at_its_variables():
    assert ENDS.expressions == (AGE,)
    assert Rows().expressions == ()
    assert Total(AGE, AGE.domain).expressions == (AGE,)
    assert Bucket(AGE, AGE.domain, AGE).cells == range(18, 121)


def test_values_that_are_spread_evenly_have_the_means_of_their_polynomials():
    variables = tuple(Variable(AGE, Numbers.integers(0, width)) for width in (3, 5))
    found = Vector(variables, (Polynomial(((-7, (0, 0)), (2, (1, 2)))), Polynomial(((1, (2, 0)),))))
    # Between 0 and w the mean of x**k is w**k / (k + 1), and independent variables multiply.
    assert found.spread_evenly(Fraction(4)) == [4 * (2 * Fraction(3, 2) * Fraction(25, 3) - 7), 4 * Fraction(9, 3)]


def test_rows_without_the_value_are_an_entry_that_no_other_row_moves():
    both = Vector(ENDS.variables, ENDS.entries, absent=102)
    assert both.row == ENDS.row
    assert (both.columns, Query(VISITS, (SEX,), both).result_shape, Query(VISITS, (), both).columns) == (3, (3, 3), 3)
    assert both.simulate(10) == [*ENDS.simulate(10), 0]
    assert both.spread_evenly(Fraction(1, 3)) == [*ENDS.spread_evenly(Fraction(1, 3)), 0]
    assert canonical(both) != canonical(ENDS)
    more = Vector(ENDS.variables, ENDS.entries, absent=900)
    assert more.row == Sensitivity(900, 900**2, 900, monotone=True)
    assert more.magnitude == 900


@pytest.mark.parametrize(
    "vector",
    [
        lambda: Vector(ENDS.variables, (STEPS, constant(1, 1)), absent=5),
        lambda: Vector(ENDS.variables * 2, (variable(0, 2),), absent=5),
        lambda: Vector((), (constant(1, 0),), absent=5),
    ],
)
def test_rows_without_the_value_must_be_in_no_other_entry(vector):
    with pytest.raises(ValueError, match="entries that all name the one variable"):
        vector()


@pytest.mark.parametrize("absent", [-1, 2.0, True])
def test_what_a_row_without_the_value_adds_is_a_whole_number(absent):
    with pytest.raises(ValueError, match="Vector absent must be a whole number"):
        Vector(ENDS.variables, ENDS.entries, absent)


def test_a_row_is_taken_to_move_all_entries_alike():
    assert ENDS.usual_move == 51.0
    assert ENDS.grids == (AGE.domain,)


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
    assert vectors._control_points([x, x * x], [10]) == (2, [[0, 0], [10, 0], [20, 200]])


def test_too_many_control_points_are_refused(monkeypatch):
    """A square has three control points: with three terms that makes nine."""
    monkeypatch.setattr(vectors, "MOST_POINTS", 9)
    square = reduce(mul, [variable(0, 1)] * 2)
    assert largest_move([square] * 3, [1]).l1 == 3
    with pytest.raises(ValueError, match="terms times control points"):
        largest_move([square] * 4, [1])


@given(st.lists(found, min_size=1, max_size=3), boxes, st.data())
def test_the_size_bounds_every_value(together, box, data):
    point = data.draw(st.tuples(*(st.integers(0, width) for width in box)))
    assert all(abs(each.at(point)) <= each.size(box) for each in together)
