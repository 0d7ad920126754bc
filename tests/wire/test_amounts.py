from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adomnia.errors import Refusal
from adomnia.json_text import read_json
from adomnia.privacy.amounts import exact
from adomnia.wire.amounts import (
    amount_of,
    parse_float_exactly,
    read_float,
    read_json_number,
    read_number,
    text_of,
    write_number,
)


@given(st.fractions())
@example(Fraction(1, 2**61))
@example(Fraction(3, 10**60))
def test_every_amount_is_read_as_it_was_written(amount):
    assert amount_of(text_of(amount)) == amount_of(amount) == amount


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(5), "5"),
        (Fraction(1, 2), "0.5"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(1234, 100), "12.34"),
        (Fraction(1, 10**12), "0.000000000001"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-7, 6), "-7/6"),
        (Fraction(1, 2**61), f"1/{2**61}"),
    ],
)
def test_decimals_are_written_as_decimals(amount, text):
    assert text_of(amount) == text


@pytest.mark.parametrize("text", ["", "x", "1/0", "nan", "inf", "1e99999", " 1", "1_000", "0x1", 1, None, "٣"])
def test_what_is_no_amount_is_not_read(text):
    with pytest.raises(ValueError, match="Amount must be a number in text"):
        amount_of(text)


@given(st.one_of(st.integers(-(10**30), 10**30), st.fractions(), st.floats(allow_nan=False, allow_infinity=False)))
@example(Decimal("0.1000000000000000000000000000000000001"))
@example(np.float64(0.1))
@example(np.int64(7))
@example(2**53)
def test_a_number_of_a_question_arrives_exactly(value):
    try:
        wanted = exact(value, "Question", "epsilon")
    except ValueError:  # beyond all sense
        with pytest.raises(Refusal):
            write_number("epsilon", value)
        return
    sent = json.dumps(write_number("epsilon", value))
    arrived = read_number(read_json(sent, parse_float_exactly))
    assert exact(arrived, "Question", "epsilon") == wanted


def test_a_number_is_sent_as_it_was_typed_so_that_refusals_show_it_so():
    assert [write_number("delta", value) for value in (1e-9, 5, Decimal("1E-9"), Fraction(1, 3), 2**60)] == [
        1e-09,
        5,
        "1E-9",
        "1/3",
        str(2**60),
    ]


@pytest.mark.parametrize("value", [nan, inf, True, "0.5", None, 10**301, Decimal("nan")])
def test_what_is_no_number_is_refused_before_it_is_sent(value):
    with pytest.raises(Refusal) as raised:
        write_number("delta", value)
    assert raised.value.code == "bad_price"
    if value is not None:
        for name in ("epsilon", "rho"):
            with pytest.raises(Refusal, match="The price") as raised:
                write_number(name, value)
            assert raised.value.code == "price"


@pytest.mark.parametrize("value", [0.1, 5, Decimal("0.25"), "0.5", "1e-9", "-3", "1/3", "12.5E+3"])
def test_requests_name_numbers_as_json_or_in_text(value):
    assert Fraction(read_number(value)) == Fraction(value)


@pytest.mark.parametrize(
    "value", [None, True, [], {}, "", "x", "nan", "1/0", "1e99999", "9" * 701, nan, inf, Decimal("inf"), b"1"]
)
def test_other_values_are_no_numbers(value):
    with pytest.raises(ValueError, match="must be a number"):
        read_number(value)


def test_a_number_in_text_is_no_json_number():
    with pytest.raises(ValueError, match="must be a number"):
        read_json_number("1")
    assert read_float(Decimal("0.5")) == 0.5
    assert read_float(10**400) == inf


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_read_as_that_float(value):
    assert parse_float_exactly(repr(value)) == value
    assert isinstance(parse_float_exactly(repr(value)), float)


@pytest.mark.parametrize("text", ["0.10000000000000000001", "1e-999", "1e999"])
def test_digits_that_no_float_has_are_kept(text):
    assert parse_float_exactly(text) == Decimal(text)


def test_a_number_beyond_all_sense_is_a_value_error():
    with pytest.raises(ValueError, match="sensible size"):
        parse_float_exactly("1e99999999999999999999")
