"""Several numbers of each row, added up together: a person moves all of them at once, by less than by each alone.

Each is a polynomial with integer coefficients. Over a box that starts at 0, every polynomial is an average of its
control points (the coefficients of its Bernstein form), with the same weights for all polynomials of one vector. So no
norm of the vector is larger than at the worst control point. Proof: docs/proofs/vectors.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise, product
from math import comb, lcm, prod
from typing import ClassVar, TypeAlias

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.scans import Scan
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


MOST_ENTRIES = 256
LARGEST_ENTRY = 2**78  # 2**48 rows of it sum to at most 2**126, which every engine's widest integer holds


class LargeEntryError(ValueError):
    """A product of columns is so large that no engine adds it up exactly."""


@dataclass(frozen=True)
class Variable:
    """A number of a row in steps of its grid, counted from the lower end: between 0 and the width of the grid."""

    tag: ClassVar[str] = "Variable"
    value: Expression
    domain: Numbers


@hashed_once
@dataclass(frozen=True)
class Vector(Scan):
    """Sums of polynomials of a row's variables; an entry adds nothing where a variable that it names is NULL.

    `absent`, if not 0, makes one more entry of a vector of one variable, the last: what a row adds to it where that
    variable is NULL. All others must name the variable, so that a row is either in them or in the last.
    """

    tag: ClassVar[str] = "Vector"
    adds_up: ClassVar[bool] = True
    variables: tuple[Variable, ...]
    entries: tuple[Polynomial, ...]
    absent: int = 0

    def __post_init__(self) -> None:
        if not 1 <= len(self.entries) <= MOST_ENTRIES:
            raise ValueError(f"Vector entries must number between 1 and {MOST_ENTRIES}, got {len(self.entries)}.")
        if any(len(exponents) != len(self.variables) for entry in self.entries for _, exponents in entry.terms):
            raise ValueError(f"Vector entries must be of {len(self.variables)} variables each, got {self.entries}.")
        if type(self.absent) is not int or self.absent < 0:
            raise ValueError(f"Vector absent must be a whole number of at least 0, got {self.absent}.")
        if self.absent and (len(self.variables) != 1 or not all(map(_is_named, self.entries))):
            raise ValueError("Vector absent must stand beside entries that all name the one variable, got others.")
        if self.magnitude > LARGEST_ENTRY:
            raise LargeEntryError(f"Vector entries must stay within 2**78 in every row, got {self.magnitude}.")

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(variable.value for variable in self.variables)

    @property
    def grids(self) -> tuple[Numbers, ...]:
        return tuple(variable.domain for variable in self.variables)

    @cached_property
    def magnitude(self) -> int:
        """A bound on every entry of a row, and on every step of computing it."""
        widths = self._widths
        return max(1, self.absent, *(entry.size(widths) for entry in self.entries))

    @property
    def columns(self) -> int:
        """How many numbers it gives, in cells that have them innermost."""
        return len(self.entries) + bool(self.absent)

    def result_shape(self, cells: tuple[int, ...]) -> tuple[int, ...]:
        return *cells, self.columns

    @cached_property
    def row(self) -> Sensitivity:
        """How far one row moves all entries together: those that name what it has, or the one for what it has not."""
        present, absent = _largest_move(self.entries, self._widths), Fraction(self.absent)
        return Sensitivity(
            max(present.l1, absent),
            max(present.l2_squared, absent**2),
            max(present.linf, absent),
            present.monotone,
        )

    @property
    def usual_move(self) -> float:
        """As if it were spread evenly over the entries."""
        return float(self.row.l1) / self.columns

    def simulate(self, rows: int) -> list[int]:
        """The sums of so many rows whose values all lie in the middle."""
        middles = [variable.domain.middle - variable.domain.grid_lower for variable in self.variables]
        return [rows * entry.at(middles) for entry in self.entries] + [0] * bool(self.absent)

    def spread_evenly(self, rows: Fraction) -> list[Fraction]:
        return [rows * mean for mean in _list_means(self.entries, self._widths)] + [Fraction(0)] * bool(self.absent)

    @property
    def _widths(self) -> tuple[int, ...]:
        return tuple(variable.domain.width for variable in self.variables)


def _list_means(polynomials: Sequence[Polynomial], widths: Sequence[int]) -> list[Fraction]:
    """The means of polynomials where each variable is spread evenly between 0 and its width."""
    every = {exponents for polynomial in polynomials for _, exponents in polynomial.terms}
    below = {exponents: prod(power + 1 for power in exponents) for exponents in every}
    whole = lcm(*below.values())
    means = {exponents: prod(map(pow, widths, exponents)) * whole // below[exponents] for exponents in every}
    sums = (sum(many * means[exponents] for many, exponents in polynomial.terms) for polynomial in polynomials)
    return [Fraction(each, whole) for each in sums]


# A question makes the same polynomials of several values, and several times.
_largest_move = lru_cache(maxsize=1024)(largest_move)


def _is_named(entry: Polynomial) -> bool:
    """Whether the first variable stands in an entry."""
    return any(exponents[0] for _, exponents in entry.terms)
