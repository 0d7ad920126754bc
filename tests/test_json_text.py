from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.json_text import RepeatedKeyError, read_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_what_was_written_is_read(value):
    assert read_json(json.dumps(value)) == value
    assert read_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    "text", [b"", b"{", b"NaN", b"[-Infinity]", b"\xff", b"[" * 100_000, b"1" * 5000, b'{"a": 1,}', b"\xff\xfe1\x00"]
)
def test_what_is_not_json_is_a_value_error(text):
    with pytest.raises(ValueError):  # noqa: PT011 - of several modules
        read_json(text)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"epsilon": 1, "sql": "", "epsilon": 1}', "epsilon"),
        ('[{"a": {"b": 1, "\\u0062": 2}}]', "b"),
        ('{"": 1, "": 2}', ""),
    ],
)
def test_a_key_that_stands_twice_in_an_object_is_named(text, key):
    with pytest.raises(RepeatedKeyError, match="each key once") as refused:
        read_json(text)
    assert refused.value.key == key


def test_a_key_may_stand_in_several_objects():
    assert read_json('[{"a": {"a": 1}}, {"a": 2}]') == [{"a": {"a": 1}}, {"a": 2}]


def test_numbers_are_read_as_they_are_wanted():
    assert read_json("[0.1, 1]", Decimal) == [Decimal("0.1"), 1]
