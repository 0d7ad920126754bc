from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.engines.render.patterns import matches
from kit.effort import do_within

LETTERS = st.text("ab%_é\n\U0001f600", max_size=8)


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        yield connection


@given(text=LETTERS, pattern=LETTERS)
def test_declared_values_are_matched_as_the_engine_matches_text(connection, text, pattern):
    ((expected,),) = connection.execute("SELECT $1 LIKE $2", [text, pattern]).fetchall()
    assert matches(text, pattern) is expected


def test_a_pattern_without_signs_matches_itself_alone():
    assert matches("ab", "ab")
    assert not matches("abc", "ab")


def test_a_pattern_made_to_be_slow_is_not():
    assert not do_within(0.5, lambda: matches("a" * 2_000, "%a" * 60 + "b"))
