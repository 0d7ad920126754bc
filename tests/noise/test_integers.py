"""The integers that noise is added to, and what is not among them."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.noise.integers import add, describe_array, is_integers


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 2)])
@pytest.mark.parametrize("dtype", [np.int64, object])
def test_a_sum_keeps_its_shape_and_is_an_array_even_without_dimensions(shape, dtype):
    """A 0-dimensional sum of Python integers used to come back as a bare number, which has no shape."""
    exact, noise = np.full(shape, 5, dtype=dtype), np.full(shape, -2, dtype=np.int64)
    total = add(exact, noise)
    assert type(total) is np.ndarray
    assert total.shape == shape
    assert total.dtype == dtype
    assert (total == 3).all()


def test_python_integers_stay_exact_beyond_64_bits():
    exact = np.array(10**30, dtype=object)
    assert add(exact, np.array(1, dtype=np.int64)).item() == 10**30 + 1


@pytest.mark.parametrize(
    ("array", "words"),
    [
        ([1, 2], "list"),
        (np.array([1.5]), "ndarray of float64"),
        (np.array([True]), "ndarray of bool"),
        (np.array([1], dtype=np.uint64), "ndarray of uint64"),
        (np.ma.MaskedArray([1], mask=[1]), "MaskedArray of int64"),
        (np.array([1, "a"], dtype=object), "ndarray of object"),
    ],
    ids=str,
)
def test_everything_else_is_named_without_a_value(array, words):
    assert not is_integers(array)
    assert describe_array(array) == words


def test_plain_arrays_are_taken():
    assert is_integers(np.array([1, 2]))
    assert is_integers(np.array([1, 10**40], dtype=object))
