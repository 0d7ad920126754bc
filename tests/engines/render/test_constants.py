from __future__ import annotations

from fractions import Fraction
from sys import float_info

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render.constants import double, integer, nearest_double


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_back_as_the_same_double(value):
    with duckdb.cursor() as connection:
        ((read, kind),) = connection.execute(
            f"SELECT {double(value, DUCKDB)}, typeof({double(value, DUCKDB)})"
        ).fetchall()
    assert (read, kind) == (value, "DOUBLE")


def test_a_fraction_becomes_its_nearest_double_and_the_last_one_beyond_their_range():
    assert double(Fraction(1, 10), DUCKDB) == "0.1e0"
    assert double(Fraction(-1, 3), DUCKDB) == "(-0.3333333333333333e0)"
    assert double(Fraction(10**400), DUCKDB) == double(float_info.max, DUCKDB)
    assert nearest_double(-Fraction(10**400)) == -float_info.max


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_a_number_cannot_be_written_as_one(value):
    with pytest.raises(ValueError, match="SQL number must be finite"):
        double(value, DUCKDB)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_a_name_stays_a_name_whatever_its_letters(name):
    with duckdb.cursor() as connection:
        described = connection.execute(f"SELECT 1 AS {DUCKDB.quote(name)}").description
    assert described[0][0] == name


def test_negative_integers_are_in_parentheses():
    assert (integer(7), integer(-7)) == ("7", "(-7)")
