"""What is measured at once: the sum of one product in every cell, or sums at the corners of a box.

Where the noise is Laplace's, products of up to four numbers u, v, .. between -1 and 1 are measured together by
(1 + u)(1 + v)/4, (1 + u)(1 - v)/4 and so on. None is negative and together they are 1, so that they cost as much as one
sum. The sums of u, v and u v, and the number of rows, are differences of them (docs/decisions/0020).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from math import prod
from operator import mul
from typing import ClassVar, TypeAlias

import numpy as np

from adomnia.methods.parts.models.design import Powers
from adomnia.privacy.vectors import Polynomial, constant, variable
from adomnia.statistics.contract import Floats

BOX_VARIABLES = 4  # at most: 16 corners

Cells: TypeAlias = tuple[int, ...]  # factors whose levels tell cells apart, by their places in order


@dataclass(frozen=True)
class ProductSum:
    """One product, summed in every cell."""

    columns: ClassVar[int] = 1
    cells: Cells
    powers: Powers
    weight: int

    @property
    def variables(self) -> tuple[int, ...]:
        return tuple(place for place, power in enumerate(self.powers) if power)

    def entries(self, widths: Sequence[int]) -> tuple[Polynomial, ...]:
        """(2 x - w) of each variable to its power: between -w and w."""
        count = len(self.variables)
        found = constant(1, count)
        for rank, place in enumerate(self.variables):
            centred = constant(2, count) * variable(rank, count) - constant(widths[place], count)
            found = reduce(mul, [centred] * self.powers[place], found)
        return (found,)

    def size(self, widths: Sequence[int]) -> int:
        """What an entry is divided by to be a sum of products between -1 and 1."""
        return prod(width**power for width, power in zip(widths, self.powers, strict=True))

    def decode(self, powers: Powers) -> Floats | None:
        """How the sum of a product follows from the entries; None where it does not."""
        return np.ones(1) if powers == self.powers else None


@dataclass(frozen=True)
class Corners:
    """The products of up to four numbers, each to the power 0 or 1, from sums at the corners of their box."""

    cells: Cells
    variables: tuple[int, ...]
    weight: int

    @property
    def columns(self) -> int:
        return 1 << len(self.variables)

    def entries(self, widths: Sequence[int]) -> tuple[Polynomial, ...]:
        """The distances from the lower or the upper end of each variable, multiplied."""
        used = [widths[place] for place in self.variables]
        return tuple(_multiply_distances(corner, used) for corner in product((0, 1), repeat=len(used)))

    def size(self, widths: Sequence[int]) -> int:
        return prod(widths[place] for place in self.variables)

    def decode(self, powers: Powers) -> Floats | None:
        named = {place: power for place, power in enumerate(powers) if power}
        if max(named.values(), default=0) > 1 or not named.keys() <= set(self.variables):
            return None
        return _sign_corners(tuple(place in named for place in self.variables))


def _multiply_distances(corner: tuple[int, ...], widths: Sequence[int]) -> Polynomial:
    """The product of x where a corner is at the upper end, and of w - x where it is at the lower, multiplied out."""
    families = [((1, 1),) if end else ((width, 0), (-1, 1)) for end, width in zip(corner, widths, strict=True)]
    return Polynomial(
        tuple((prod(many for many, _ in chosen), tuple(power for _, power in chosen)) for chosen in product(*families))
    )


@lru_cache(maxsize=1 << BOX_VARIABLES)
def _sign_corners(named: tuple[bool, ...]) -> Floats:
    """The product of those variables at each corner, where each is -1 or 1."""
    signs = [(-1.0, 1.0) if each else (1.0, 1.0) for each in named]
    return np.array([prod(chosen) for chosen in product(*signs)])


Block: TypeAlias = ProductSum | Corners


def cover_pairs(simple: Iterable[Powers]) -> list[tuple[int, ...]]:
    """Boxes of up to four variables in which all wanted products of two are.

    Variables are taken two and two, the response in the first pair; a box is two such pairs.
    """
    named = [tuple(place for place, power in enumerate(powers) if power) for powers in simple]
    used = sorted({place for each in named for place in each}, reverse=True)
    pairs = {place: tuple(used[rank - rank % 2 :][:2]) for rank, place in enumerate(used)}
    boxes: list[tuple[int, ...]] = []
    for one, two in sorted(
        (each for each in named if len(each) > 1), key=lambda each: pairs[each[0]] == pairs[each[1]]
    ):
        if not any({one, two} <= set(box) for box in boxes):
            boxes.append(tuple(sorted({*pairs[one], *pairs[two]})))
    missing = [place for place in used if not any(place in box for box in boxes)]
    rest = [tuple(sorted(missing[start:][:BOX_VARIABLES])) for start in range(0, len(missing), BOX_VARIABLES)]
    return [*boxes, *rest]
