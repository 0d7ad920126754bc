"""Vectors of sums: what a row moves of all entries together, and what a query makes of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.plans.canonical import canonical
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Quantity, Text
from adomnia.privacy.polynomials import Polynomial, constant, variable
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.relations import MOST_ROWS, Private
from adomnia.privacy.scans import Rows, Total
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.vectors import LARGEST_ENTRY, MOST_ENTRIES, Variable, Vector

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


def test_rows_without_the_value_are_an_entry_that_no_other_row_moves():
    both = Vector(ENDS.variables, ENDS.entries, absent=102)
    assert both.row == ENDS.row
    assert (both.columns, Query(VISITS, (SEX,), both).result_shape, Query(VISITS, (), both).columns) == (3, (3, 3), 3)
    assert both.simulate(10) == [*ENDS.simulate(10), 0]
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
