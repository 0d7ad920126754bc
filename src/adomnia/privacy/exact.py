"""Exact integers, before any noise: 64-bit where a static bound allows, Python's own otherwise."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64] | NDArray[np.object_]


@dataclass(frozen=True)
class SparseIntegers:
    """Those that are not 0, and their places: a table of a million cells has few of them."""

    shape: tuple[int, ...]
    places: NDArray[np.intp]
    values: Integers

    @classmethod
    def of(cls, exact: "Exact") -> "SparseIntegers":
        """The same integers without the zeros."""
        if isinstance(exact, SparseIntegers):
            return exact
        places = np.flatnonzero(exact)
        return cls(exact.shape, places, exact.ravel()[places])


Exact: TypeAlias = Integers | SparseIntegers


def spread(exact: Exact) -> Integers:
    """The same integers with all zeros, in their shape."""
    if not isinstance(exact, SparseIntegers):
        return exact
    found: Integers = np.zeros(exact.shape, dtype=exact.values.dtype)  # type: ignore[assignment]  # of the same type
    found.reshape(-1)[exact.places] = exact.values
    return found
