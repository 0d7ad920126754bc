"""Polynomials with integer coefficients, and how far several of them reach together over a box of integers.

Over a box that starts at 0, every polynomial is an average of its control points (the coefficients of its Bernstein
form), with the same weights for all polynomials of one vector. So no norm of the vector is larger than at the worst
control point. Proof: docs/proofs/vectors.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import comb, lcm, prod
from typing import ClassVar, TypeAlias

from adomnia.privacy.sensitivity import Sensitivity

MOST_DEGREE = 8  # of each variable
MOST_POINTS = 2**19  # control points times the terms of all polynomials: half a second

Exponents: TypeAlias = tuple[int, ...]
Term: TypeAlias = tuple[int, Exponents]


@dataclass(frozen=True)
class Polynomial:
    """A sum of terms, each a coefficient and the exponent of every variable: in the order of exponents, none zero.

    >>> x = variable(0, 1)
    >>> ((constant(5, 1) - x) * x).terms
    ((5, (1,)), (-1, (2,)))
    """

    tag: ClassVar[str] = "Polynomial"
    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        numbers = [number for coefficient, exponents in self.terms for number in (coefficient, *exponents)]
        if any(type(number) is not int for number in numbers):
            raise TypeError(f"Polynomial terms must be of integers, got {self.terms}.")
        if any(coefficient == 0 for coefficient, _ in self.terms):
            raise ValueError(f"Polynomial coefficients must not be 0, got {self.terms}.")
        if any(first >= second for (_, first), (_, second) in pairwise(self.terms)):
            raise ValueError(f"Polynomial terms must be in the order of their exponents, got {self.terms}.")
        if any(not 0 <= exponent <= MOST_DEGREE for _, exponents in self.terms for exponent in exponents):
            raise ValueError(f"Polynomial exponents must be between 0 and {MOST_DEGREE}, got {self.terms}.")

    def __add__(self, other: "Polynomial") -> "Polynomial":
        return _collect([*self.terms, *other.terms])

    def __sub__(self, other: "Polynomial") -> "Polynomial":
        return _collect([*self.terms, *((-coefficient, exponents) for coefficient, exponents in other.terms)])

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        return _collect(
            (one * two, tuple(map(sum, zip(these, those, strict=True))))
            for one, these in self.terms
            for two, those in other.terms
        )

    def at(self, point: Sequence[int]) -> int:
        """The value where the variables have these values."""
        return sum(coefficient * prod(map(pow, point, exponents)) for coefficient, exponents in self.terms)

    def size(self, widths: Sequence[int]) -> int:
        """A bound on every step of computing it where variables are between 0 and their widths, in any order."""
        widest = [max(1, width) for width in widths]
        return sum(abs(coefficient) * prod(map(pow, widest, exponents)) for coefficient, exponents in self.terms)


def constant(value: int, variables: int) -> Polynomial:
    """The same value everywhere."""
    return _collect([(value, (0,) * variables)])


def variable(place: int, variables: int) -> Polynomial:
    """The variable at a place among so many."""
    return _collect([(1, tuple(int(each == place) for each in range(variables)))])


def largest_move(polynomials: Sequence[Polynomial], widths: Sequence[int]) -> Sensitivity:
    """How far one point of the box moves a vector of sums of polynomials; 1 where it never does, to keep noise on it.

    >>> x, width = variable(0, 1), constant(100, 1)
    >>> largest_move([x, width - x], [100]).l1
    Fraction(100, 1)
    """
    denominator, points = _control_points(polynomials, widths)
    l1, squares = (max(sum(abs(part) ** power for part in point) for point in points) for power in (1, 2))
    furthest = max(max(map(abs, point)) for point in points)
    least = Fraction(1)
    return Sensitivity(
        max(least, Fraction(l1, denominator)),
        max(least, Fraction(squares, denominator**2)),
        max(least, Fraction(furthest, denominator)),
        monotone=all(min(point) >= 0 for point in points),
    )


def _control_points(polynomials: Sequence[Polynomial], widths: Sequence[int]) -> tuple[int, list[list[int]]]:
    """The control points of all polynomials together, each variable in the highest degree that one of them has.

    They are integers over one denominator, which comes first.
    """
    every = list(dict.fromkeys(exponents for polynomial in polynomials for _, exponents in polynomial.terms))
    degrees = [max((exponents[place] for exponents in every), default=0) for place in range(len(widths))]
    count = prod(degree + 1 for degree in degrees)
    if count * sum(len(polynomial.terms) for polynomial in polynomials) > MOST_POINTS:
        raise ValueError(f"Polynomials must have at most {MOST_POINTS} terms times control points, got {count} points.")
    # x**a over [0, w] has the control points w**a * C(k, a) / C(n, a).
    scales = [lcm(*(comb(degree, a) for a in range(degree + 1))) for degree in degrees]
    powers = [
        [[scale // comb(n, a) * width**a * comb(k, a) for a in range(n + 1)] for k in range(n + 1)]
        for n, width, scale in zip(degrees, widths, scales, strict=True)
    ]
    points = []
    for chosen in product(*powers):
        products = {exponents: prod(map(list.__getitem__, chosen, exponents)) for exponents in every}
        points.append([sum(c * products[exponents] for c, exponents in each.terms) for each in polynomials])
    return prod(scales), points


def _collect(terms: Iterable[Term]) -> Polynomial:
    """Terms of the same exponents added up, in their order."""
    found: dict[Exponents, int] = {}
    for coefficient, exponents in terms:
        found[exponents] = found.get(exponents, 0) + coefficient
    return Polynomial(tuple((found[exponents], exponents) for exponents in sorted(found) if found[exponents]))
