"""Sums that add up to one: the Bernstein polynomials of one value or of two, measured as one vector.

A value u between 0 and 1 has the d + 1 polynomials C(d, k) u^k (1 - u)^(d - k). None is negative and together they are
1, so that a row moves all their sums by 1 in L1, whatever it holds. The number of rows, means, squares and products are
combinations of them, with coefficients between -1 and 1. Proofs: docs/proofs/vectors.md, docs/proofs/moments.md.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import product
from math import comb, prod
from operator import mul
from typing import TypeAlias

import numpy as np

from adomnia.distributions.quotients import Noisy
from adomnia.mechanisms.contract import Noise
from adomnia.privacy.domains import Numbers
from adomnia.privacy.scans import Total
from adomnia.privacy.vectors import LARGEST_ENTRY, Polynomial, Variable, Vector, constant, variable
from adomnia.statistics.contract import Floats, Measured, Parts
from adomnia.statistics.moments import rounding_of

_NAMES = "xy"  # of the values
_KEPT = 256  # vectors that are remembered: every question asks for its own several times
_BITS = LARGEST_ENTRY.bit_length() - 1

_Place: TypeAlias = tuple[int, ...]  # of an entry: for each value, which polynomial of its family


@lru_cache(maxsize=_KEPT)
def bernstein_vector(totals: tuple[Total, ...], degree: int, absent: bool) -> Vector:
    """The products of one polynomial of each value; `absent`: and beside them the rows without the value."""
    grids = [_coarsen(total.domain, degree * len(totals)) for total in totals]
    widths = [max(1, grid.width) for grid in grids]
    families = (list(_family(place, widths, degree)) for place in range(len(totals)))
    entries = tuple(reduce(mul, chosen) for chosen in product(*families))
    variables = tuple(Variable(total.value, grid) for total, grid in zip(totals, grids, strict=True))
    return Vector(variables, entries, prod(widths) ** degree if absent else 0)


def _family(place: int, widths: Sequence[int], degree: int) -> Iterator[Polynomial]:
    """The polynomials of one variable, times the power of its width that makes them whole."""
    values = len(widths)
    above = variable(place, values)
    below = constant(widths[place], values) - above
    for k in range(degree + 1):
        yield reduce(mul, [above] * k + [below] * (degree - k), constant(comb(degree, k), values))


def _coarsen(domain: Numbers, factors: int) -> Numbers:
    """A grid so coarse that products of so many distances, each written as up to twice its width, fit a vector."""
    most = 2 ** (_BITS // factors - 1)
    while domain.width > most:
        domain = Numbers(domain.lower, domain.upper, domain.step * 2)
    return domain


@dataclass(frozen=True)
class BernsteinSums:
    """The noisy sums of such a vector: numbers of rows, means and moments, each a combination of its entries."""

    totals: tuple[Total, ...]
    degree: int
    vector: Vector
    measured: Measured

    @cached_property
    def widths(self) -> list[int]:
        """The width of each value's grid in steps; 1 where there is one value alone."""
        return [max(1, each.domain.width) for each in self.vector.variables]

    @property
    def limits(self) -> tuple[float, float]:
        """Between which parts of the width the first value lies."""
        return 0.0, float(self.vector.variables[0].domain.width > 0)

    @property
    def noises(self) -> Mapping[str, Noise]:
        """The distribution of each entry's noise."""
        return dict.fromkeys(map(_name, self._places), self.measured.noise)

    def count_parts(self, *, all_rows: bool) -> Parts:
        """The number of rows that have the values; of all rows, those without the value too."""
        counted = self.measured.entries if all_rows else self.measured.entries[: len(self._places)]
        return tuple((entry, Fraction(1, self._whole)) for entry in counted)

    def sum_parts(self) -> Parts:
        """The sum of the first value."""
        grid = self.vector.variables[0].domain
        sizes = ((grid.grid_lower + Fraction(k, self.degree) * self.widths[0]) * grid.step for (k, *_) in self._places)
        return tuple((entry, size / self._whole) for entry, size in zip(self.measured.entries, sizes, strict=False))

    def scaled_total(self, value: int = 0) -> Noisy:
        """The sum of a value's distances from its lower end, in widths."""
        return self._combine(lambda place: place[value] / self.degree)

    @property
    def mean(self) -> Floats:
        """The noisy mean of the first value, in widths from its lower end."""
        return np.clip(self._means[0], *self.limits)

    def rows(self, less: int = 0) -> Noisy:
        """The number of rows that have the values, less one for samples."""
        found = self._combine(lambda _: 1.0)
        return Noisy(found.values - less, found.weights, found.rounded)

    def about_means(self, first: str, second: str) -> Noisy:
        """The sum of the products of two values' distances from their means."""
        one, two = _NAMES.index(first), _NAMES.index(second)
        found = self._combine(self._square(one) if one == two else self._product(one, two))
        sizes = [float(self.widths[each] * self.vector.variables[each].domain.step) for each in (one, two)]
        off = [rounding_of(self.totals[each], self.vector.variables[each].domain) for each in (one, two)]
        # A value of mean m between 0 and 1 has a deviation of at most the root of m (1 - m): Bhatia and Davis.
        spreads = [
            size * np.sqrt(self._means[each] * (1 - self._means[each]))
            for each, size in zip((one, two), sizes, strict=True)
        ]
        rounded = (off[0] * (spreads[1] + off[1]) + off[1] * spreads[0]) * np.maximum(self._rows, 1.0)
        weights = {name: weight * prod(sizes) for name, weight in found.weights.items()}
        return Noisy(found.values * prod(sizes), weights, rounded)

    def powers_about_mean(self, power: int) -> Noisy:
        """The sum of a power of the first value's distances from its mean, in widths: by its polar form."""
        mean = self._means[0]

        def coefficient(place: _Place) -> Floats:
            parts = (comb(place[0], k) / comb(self.degree, k) * comb(power, k) for k in range(power + 1))
            return np.asarray(sum(part * (-mean) ** (power - k) for k, part in enumerate(parts)))

        return self._combine(coefficient)

    def about_noisy_means(self, first: str, second: str) -> Floats:
        """The same as a smooth function of the noisy sums: means may be beyond the bounds of their values."""
        one, two = _NAMES.index(first), _NAMES.index(second)
        pairs = self.degree * (self.degree - 1)
        if one == two:
            products = self._combine(lambda place: place[one] * (place[one] - 1) / pairs)
        else:
            products = self._combine(lambda place: place[one] * place[two] / self.degree**2)
        left, right = self.scaled_total(one), self.scaled_total(two)
        sizes = [float(self.widths[each] * self.vector.variables[each].domain.step) for each in (one, two)]
        return (products.values - left.values * right.values / np.maximum(self._rows, 1.0)) * prod(sizes)

    @property
    def sums(self) -> tuple[Measured, ...]:
        """The noisy sums of polynomials, each with noise of its own."""
        return self.measured.entries[: len(self._places)]

    def with_sums(self, values: Sequence[Floats]) -> "BernsteinSums":
        """The same with other sums in their place, with axes before those of the cells."""
        return replace(self, measured=Measured(np.stack(values, axis=-1), self.measured.mechanism))  # type: ignore[arg-type]

    def _square(self, value: int) -> Callable[[_Place], Floats]:
        """The coefficients of (u - m)^2: its polar form, where k of its arguments are 1 and the others 0."""
        mean, pairs = self._means[value], self.degree * (self.degree - 1)
        return lambda place: place[value] * (place[value] - 1) / pairs - 2 * mean * place[value] / self.degree + mean**2

    def _product(self, one: int, two: int) -> Callable[[_Place], Floats]:
        """The coefficients of (u - m) (v - k)."""
        first, second = self._means[one], self._means[two]
        return lambda place: (place[one] / self.degree - first) * (place[two] / self.degree - second)

    def _combine(self, coefficient: Callable[[_Place], Floats | float]) -> Noisy:
        cells = self._shares.shape[:-1]
        found = [np.broadcast_to(np.asarray(coefficient(place), dtype=np.float64), cells) for place in self._places]
        values = (self._shares * np.stack(found, axis=-1)).sum(axis=-1)
        weights = {_name(place): each / float(self._whole) for place, each in zip(self._places, found, strict=True)}
        return Noisy(np.asarray(values), weights, np.zeros(cells))

    @cached_property
    def _shares(self) -> Floats:
        """The sums of polynomials that add up to one."""
        return np.asarray(self.measured.values[..., : len(self._places)], dtype=np.float64) / float(self._whole)

    @cached_property
    def _rows(self) -> Floats:
        return np.asarray(self._shares.sum(axis=-1))

    @cached_property
    def _means(self) -> list[Floats]:
        """The mean of each value in widths from its lower end; near the middle where the rows are all noise."""
        # A noisy number of rows may be zero or less. One is the least that there is a mean of.
        rows = np.maximum(self._rows, 1.0)
        off = (
            np.array([each[value] / self.degree - 0.5 for each in self._places]) for value in range(len(self.totals))
        )
        return [np.clip(0.5 + self._shares @ each / rows, 0.0, 1.0) for each in off]

    @cached_property
    def _places(self) -> list[_Place]:
        return list(product(range(self.degree + 1), repeat=len(self.totals)))

    @cached_property
    def _whole(self) -> int:
        """What all entries of a row add up to."""
        whole: int = prod(self.widths) ** self.degree
        return whole


def _name(place: _Place) -> str:
    return "".join(map(str, place))
