"""The integers that noise is added to: 64-bit where a static bound allows, Python's own otherwise."""

import numpy as np

from adomnia.privacy.scans import Integers


def is_integers(array: object) -> bool:
    """Whether this is a plain array of 64-bit or Python integers.

    A subclass is not: a masked array keeps its masked cells out of every sum, so they would leave without noise. Nor is
    an object array of NumPy integers, which wrap.
    """
    if type(array) is not np.ndarray:
        return False
    return array.dtype == np.int64 or (array.dtype == object and all(type(value) is int for value in array.flat))


def add(exact: Integers, noise: Integers) -> Integers:
    """Add noise; the sum is an array of the same shape, where NumPy would turn one without dimensions into a number."""
    total: Integers = np.empty(exact.shape, dtype=np.result_type(exact, noise))
    return np.add(exact, noise, out=total)


def describe_array(array: object) -> str:
    """The type of an array and of its elements, for error messages; never a value."""
    kind = type(array).__name__
    return f"{kind} of {array.dtype}" if isinstance(array, np.ndarray) else kind
