"""Polynomials that tests make vectors of."""

from __future__ import annotations

from functools import reduce
from math import comb
from operator import mul

from hypothesis import strategies as st

from adomnia.privacy.vectors import Polynomial, constant, variable


def bernstein(degree: int, width: int, place: int, variables: int) -> list[Polynomial]:
    """The polynomials that add up to width**degree, none of which is negative over the grid."""
    x = variable(place, variables)
    rest = constant(width, variables) - x
    return [
        reduce(mul, [x] * k + [rest] * (degree - k), constant(comb(degree, k), variables)) for k in range(degree + 1)
    ]


def polynomials(variables: int, degree: int = 3, largest: int = 9) -> st.SearchStrategy[Polynomial]:
    """Any polynomial of a few terms."""
    exponents = st.tuples(*[st.integers(0, degree)] * variables)
    terms = st.dictionaries(exponents, st.integers(-largest, largest).filter(bool), max_size=5)
    return terms.map(lambda chosen: Polynomial(tuple((chosen[each], each) for each in sorted(chosen))))
