from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.privacy.amounts import (
    DELTA_UNIT,
    EPSILON_UNIT,
    exact,
    positive,
    proportion,
    round_down,
    round_up,
    show_down,
    show_up,
    whole,
)
from privacy.references import NOT_FINITE_NUMBERS, NOT_POSITIVE, TOO_EXTREME, fractions, some

units = st.sampled_from([EPSILON_UNIT, DELTA_UNIT])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        (np.float64(0.1), Fraction(1, 10)),
        (3, Fraction(3)),
        (np.int32(-3), Fraction(-3)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Decimal("1e-300"), Fraction(1, 10**300)),
        (0, Fraction(0)),
        (-0.0, Fraction(0)),
        (Decimal("0e-999999"), Fraction(0)),
    ],
)
def test_a_number_is_what_was_written(written, meant):
    assert exact(written, "Pure", "epsilon") == meant


@some
@given(st.integers(-(10**15), 10**15), st.integers(0, 15))
def test_every_decimal_of_fifteen_digits_survives_the_float(digits, places):
    assert exact(float(f"{digits}e-{places}"), "Pure", "epsilon") == Fraction(digits, 10**places)


def test_a_fraction_of_numpy_integers_does_not_wrap():
    third = Fraction(np.int64(2**62), np.int64(3))
    assert exact(third, "Pure", "epsilon") ** 3 == Fraction(2**186, 27)


@pytest.mark.parametrize("value", NOT_FINITE_NUMBERS, ids=repr)
@pytest.mark.parametrize("read", [exact, positive, proportion, whole])
def test_what_is_not_a_finite_number_is_refused_by_name(read, value):
    with pytest.raises(ValueError, match=r"^Pure epsilon must be a finite number, got ") as refused:
        read(value, "Pure", "epsilon")
    assert str(refused.value).endswith(f"got {value!r}.")


@pytest.mark.parametrize("value", TOO_EXTREME, ids=lambda value: f"{type(value).__name__}")
def test_absurd_sizes_are_refused_before_they_fill_memory(value):
    with pytest.raises(ValueError, match=r"^Pure epsilon must be 0 or between 1e-300 and 1e300 in size, got "):
        positive(value, "Pure", "epsilon")


def test_a_short_text_cannot_become_a_billion_digits():
    for text in ("1e-999999999", "1e999999999"):
        with pytest.raises(ValueError, match=f"got {text.upper().replace('E9', r'E.9')}"):
            exact(Decimal(text), "Pure", "epsilon")


@pytest.mark.parametrize("value", NOT_POSITIVE, ids=repr)
def test_zero_and_less_are_refused_by_name_rule_and_value(value):
    with pytest.raises(ValueError, match=r"^Pure epsilon must be > 0, got ") as refused:
        positive(value, "Pure", "epsilon")
    assert str(refused.value) == f"Pure epsilon must be > 0, got {value}."


@pytest.mark.parametrize("value", [1, 1.5, -1e-9])
def test_a_delta_lies_between_zero_and_one(value):
    with pytest.raises(ValueError, match=f"^Budget delta must be >= 0 and < 1, got {value}\\.$"):
        proportion(value, "Budget", "delta")


def test_a_delta_may_be_zero_or_anything_below_one():
    assert proportion(0, "Budget", "delta") == 0
    assert proportion(Decimal("0.999"), "Budget", "delta") == Fraction(999, 1000)


@pytest.mark.parametrize("value", [0, -2, 0.5, Fraction(3, 2)])
def test_a_count_is_a_whole_number_of_at_least_one(value):
    with pytest.raises(ValueError, match=f"^group size must be a whole number >= 1, got {value}\\.$"):
        whole(value, "group", "size")


def test_a_count_may_be_written_as_any_number():
    assert [whole(value, "group", "size") for value in (3, 3.0, np.int8(3), Fraction(6, 2))] == [3, 3, 3, 3]


@some
@given(fractions, units)
def test_spends_round_up_and_budgets_down_by_less_than_a_unit(amount, unit):
    assert amount <= round_up(amount, unit) * unit < amount + unit
    assert amount - unit < round_down(amount, unit) * unit <= amount


@some
@given(st.integers(0, 10**40), units)
def test_whole_units_are_kept(count, unit):
    assert round_up(count * unit, unit) == round_down(count * unit, unit) == count


def test_tenths_and_millionths_are_whole_units():
    assert round_up(Fraction(1, 10), EPSILON_UNIT) * 10 == round_down(Fraction(1), EPSILON_UNIT)
    assert round_up(Fraction(1, 10**6), DELTA_UNIT) == 10**24


@some
@given(fractions)
def test_what_is_shown_errs_on_the_stated_side_in_the_sixth_digit(amount):
    low, high = Fraction(show_down(amount)), Fraction(show_up(amount))
    assert low <= amount <= high
    assert high - low <= amount / 10**5


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(Fraction(0), "0"), (Fraction(100), "100"), (Fraction(1, 3), "0.333334"), (Fraction(1, 10**20), "1e-20")],
)
def test_amounts_are_shown_the_way_people_write_them(amount, shown):
    assert show_up(amount) == shown
