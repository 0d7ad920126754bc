from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.privacy.sensitivity import Sensitivity
from privacy.references import NOT_FINITE_NUMBERS, NOT_POSITIVE, TOO_EXTREME, some

changes = st.lists(st.integers(-50, 50), min_size=1, max_size=6).filter(any)


def of_change(change):
    """The tightest sensitivity of a query that one person moves by exactly this."""
    return Sensitivity(
        sum(map(abs, change)), sum(c * c for c in change), max(map(abs, change)), monotone=min(change) >= 0
    )


def within(change, bound):
    l1, squares, largest = sum(map(abs, change)), sum(c * c for c in change), max(map(abs, change))
    return l1 <= bound.l1 and squares <= bound.l2_squared and largest <= bound.linf


def test_what_is_not_said_is_bounded_by_what_is():
    assert Sensitivity(3) == Sensitivity(3, 9, 3, monotone=False)
    assert Sensitivity(3, 4).linf == 2
    assert Sensitivity(3, 5).linf ** 2 >= 5
    assert Sensitivity(0.1).l1 == Fraction(1, 10)


@some
@given(changes, changes)
def test_two_queries_measured_together_move_as_one_vector(first, second):
    together = of_change(first) + of_change(second)
    assert together == of_change(first + second)
    assert within(first + second, together)


@some
@given(changes, changes, changes)
def test_measuring_together_is_associative_and_commutative(a, b, c):
    a, b, c = of_change(a), of_change(b), of_change(c)
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)


@some
@given(st.lists(changes, min_size=1, max_size=4))
def test_a_person_with_several_rows_moves_a_query_that_many_times(rows):
    width = max(map(len, rows))
    rows = [row + [0] * (width - len(row)) for row in rows]
    each = Sensitivity(
        max(of_change(row).l1 for row in rows),
        max(of_change(row).l2_squared for row in rows),
        max(of_change(row).linf for row in rows),
    )
    moved = [sum(column) for column in zip(*rows, strict=True)]
    assert within(moved, each.times(len(rows)))


@some
@given(st.fractions(min_value=Fraction(1, 100), max_value=100), st.integers(1, 1000))
def test_any_number_of_rows_keeps_an_unstated_linf_consistent(l2_squared, rows):
    once = Sensitivity(100, l2_squared)
    many = once.times(rows)
    assert many.l2_squared == l2_squared * rows**2
    assert many.linf**2 >= l2_squared * rows**2
    assert many == Sensitivity(many.l1, many.l2_squared, many.linf)


def test_the_l2_norm_of_two_equal_changes_is_the_root_of_two_or_the_double_above():
    assert Sensitivity(1).l2 == 1.0
    assert Fraction(Sensitivity(2, 2).l2) ** 2 > 2


@some
@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_the_l2_norm_is_rounded_up_to_a_float(l2_squared):
    l2 = Sensitivity(10**9, l2_squared).l2
    assert Fraction(l2) ** 2 >= l2_squared
    assert Fraction(l2) ** 2 <= l2_squared * (1 + Fraction(1, 10**15))


def test_monotone_survives_joining_and_repeating_only_as_never_lowering():
    rising = [row for row in product([0, 1, 2], repeat=2) if any(row)]
    assert all(min(a + b for a, b in zip(first, second, strict=True)) >= 0 for first, second in product(rising, rising))
    count = Sensitivity(1, monotone=True)
    assert (count + count).monotone
    assert count.times(5).monotone
    assert not (count + Sensitivity(1)).monotone
    assert not Sensitivity(1).times(5).monotone


@pytest.mark.parametrize("field", ["l1", "l2_squared", "linf"])
@pytest.mark.parametrize(
    "value", [value for value in NOT_FINITE_NUMBERS if value is not None] + TOO_EXTREME + NOT_POSITIVE
)
def test_a_bad_bound_is_refused_by_class_and_field(field, value):
    with pytest.raises(ValueError, match=f"^Sensitivity {field} must be "):
        Sensitivity(**({"l1": 2} | {field: value}))


def test_an_l1_bound_is_needed():
    with pytest.raises(ValueError, match=r"^Sensitivity l1 must be a finite number, got None\.$"):
        Sensitivity(None)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"l1": 2, "l2_squared": 5}, r"^Sensitivity l2_squared must be <= l1\*\*2 = 4, got 5\.$"),
        ({"l1": 2, "linf": 3}, r"^Sensitivity linf must be <= l1 and linf\*\*2 <= l2_squared, got 3\.$"),
        ({"l1": 4, "l2_squared": 4, "linf": 3}, r"^Sensitivity linf must be <= l1 and .* got 3\.$"),
        ({"l1": 1, "monotone": 1}, r"^Sensitivity monotone must be True or False, got 1\.$"),
    ],
)
def test_bounds_that_contradict_each_other_are_refused(bounds, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Sensitivity(**bounds)


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, None])
def test_rows_are_counted_from_one(rows):
    with pytest.raises(ValueError, match=r"^Sensitivity rows must be "):
        Sensitivity(1).times(rows)
