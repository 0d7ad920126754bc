"""Plain data with arrays comes back as it was, and what no Packer wrote is refused, not guessed."""

from __future__ import annotations

import json
from datetime import datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.releases.arrays import Packer, Unpacker
from kit.searches import examples

NOON = datetime.fromisoformat("2024-01-01T12:00")


def there_and_back(value):
    packer = Packer()
    written = json.loads(json.dumps(packer.pack(value), allow_nan=False))
    unpacker = Unpacker(*packer.columns())
    found = unpacker.unpack(written)
    unpacker.finish()
    return found


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.dates()
    | st.fractions(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1, max_size=3), inner),
    max_leaves=8,
)


@settings(max_examples=examples(40), deadline=None)
@given(value=plain)
def test_plain_data_comes_back_as_it_was(value):
    assert there_and_back(value) == value


@pytest.mark.parametrize("kind", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint32", "float32", "float64"])
def test_arrays_come_back_with_their_shapes_and_types(kind):
    array = np.arange(6).reshape(2, 3).astype(kind)
    found = there_and_back({"a": array, "b": [array.T]})
    assert np.array_equal(found["a"], array)
    assert found["a"].dtype == array.dtype
    assert np.array_equal(found["b"][0], array.T)


def test_numbers_that_are_no_numbers_and_integers_beyond_64_bits_come_back_too():
    assert np.isnan(there_and_back(float("nan")))
    assert there_and_back([float("-inf"), 2**80, np.int64(3), NOON]) == [
        float("-inf"),
        2**80,
        3,
        NOON,
    ]
    large = there_and_back(np.array([[2**90], [-1]], dtype=object))
    assert large.tolist() == [[2**90], [-1]]


@pytest.mark.parametrize("value", [object(), {1: 2}, {"$array": 1}, np.zeros(2, complex), np.zeros(2, np.uint64), {1}])
def test_what_is_not_plain_is_not_written(value):
    with pytest.raises(ValueError, match="Packer"):
        Packer().pack(value)


@pytest.mark.parametrize(
    "written",
    [
        {"$array": ["int64", 1, [2]]},  # does not begin where the last one ended
        {"$array": ["int64", 0, [4]]},  # longer than what is there
        {"$array": ["int64", 0, [2**40, 2**40]]},
        {"$array": ["int64", 0, [-1]]},
        {"$array": ["int8", 0, [3]]},  # 300 does not fit
        {"$array": ["object", 0, [3]]},
        {"$array": ["int64", 0]},
        {"$array": ["int64", 0, [1] * 65]},
        {"$large": [[1], [5]]},
        {"$large": [[1], ["9" * 61]]},
        {"$integer": "9" * 5000},
        {"$fraction": "1/3/5"},
        {"$day": "yesterday"},
        {"$number": "1"},
        {"$pickle": "gASV"},
        {"$a": 1, "b": 2},
    ],
)
def test_what_no_packer_wrote_is_refused(written):
    unpacker = Unpacker(np.array([1, 2, 300]), np.zeros(0))
    with pytest.raises((ValueError, TypeError)):
        unpacker.unpack(written)


def test_no_number_is_read_twice_and_none_is_left():
    packer = Packer()
    written = packer.pack([np.arange(3), np.arange(2)])
    unpacker = Unpacker(*packer.columns())
    unpacker.unpack(written[0])
    with pytest.raises(ValueError, match="follow each other"):
        unpacker.unpack(written[0])
    with pytest.raises(ValueError, match="2 more"):
        unpacker.finish()


def test_deep_nesting_is_refused():
    deep: list = []
    for _ in range(50):
        deep = [deep]
    with pytest.raises(ValueError, match="deep"):
        Unpacker(np.zeros(0, np.int64), np.zeros(0)).unpack(deep)


def test_a_fraction_without_a_denominator_is_a_fraction():
    assert there_and_back(Fraction(3)) == Fraction(3)
