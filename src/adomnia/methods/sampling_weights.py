"""Sampling weights: how many people of the population a row stands for.

A weight is counted as a part v of its upper bound W, so that v x moves by no more than x. How exact a weighted sum is
for the population, the squares of the weights tell. So each sum is measured in two parts, v v x and v (1 - v) x: none
is larger than v x together with the other, and they cost as much as that. The first is the sum of squares, both add up
to the weighted sum. Proof: docs/proofs/vectors.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from adomnia.methods.contract import Arguments, BadArgument, NumberColumn, Parameter
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.vectors import Polynomial, Variable, Vector, constant, variable

WEIGHT = Parameter(
    "weight",
    "column",
    "sampling weight: how many people of the population a row stands for, from 0 to a declared upper bound. Noise is "
    "that of rows which all weigh so much: choose a low bound",
)
_FINE = 2**14  # steps of the weight that numbers are multiplied with
_COARSE = 2**6  # of the one that tells squares apart


def read_weights(arguments: Arguments) -> NumberColumn | None:
    """The weights that were named, if some were; a refusal of those that may be negative or are all 0."""
    weights: NumberColumn | None = arguments.get("weight")
    if weights is not None and (weights.domain.lower < 0 or weights.domain.upper <= 0):
        lower, upper = float(weights.domain.lower), float(weights.domain.upper)
        fix = f"keep it above zero by bounds: weight => CLAMP({weights.name}, 0, {upper if upper > 0 else 1:g})"
        raise BadArgument("weight", f"is {weights.name}, which may be {lower:g}", fix)
    return weights


@dataclass(frozen=True)
class SamplingWeights:
    """The weights of rows as variables of sums: on a fine grid, and once more on a coarse one for their squares."""

    column: NumberColumn

    @cached_property
    def fine(self) -> Variable:
        return Variable(self.column.value, self._grid(_FINE))

    @cached_property
    def coarse(self) -> Variable:
        return Variable(self.column.value, self._grid(_COARSE))

    def _grid(self, most: int) -> Numbers:
        """From 0, whatever the least weight: steps are then parts of the largest one."""
        domain = self.column.domain
        step = domain.step
        while domain.upper / step > most:
            step *= 2
        return Numbers(0, domain.upper, step)

    @property
    def upper(self) -> float:
        """The largest weight on the grid: what all sums are parts of."""
        return float(self.fine.domain.grid_upper * self.fine.domain.step)

    @property
    def share(self) -> Expression:
        """The weight of a row as a part of the largest one."""
        upper = self.column.domain.upper
        clamped = call("clamp", self.column.value, number(0), number(upper))
        return call("*", clamped, number(1 / upper))

    def size(self, *, split: bool) -> int:
        """What weighted entries are larger by than plain ones."""
        return self.fine.domain.width * (self.coarse.domain.width if split else 1)

    def vector(self, variables: Sequence[Variable], entries: Iterable[Polynomial], *, split: bool) -> Vector:
        """The weighted sums of some polynomials; split, each is two entries of which the first has squared weights."""
        if not split:
            weighted = [extend(each, 1) * variable(len(variables), len(variables) + 1) for each in entries]
            return Vector((*variables, self.fine), tuple(weighted))
        count = len(variables) + 2
        times = variable(count - 2, count)
        parts = split_entries([extend(each, 2) * times for each in entries], count, self.coarse)
        return Vector((*variables, self.fine, self.coarse), parts)


def split_entries(entries: Iterable[Polynomial], count: int, coarse: Variable) -> tuple[Polynomial, ...]:
    """Each entry of so many variables, the last of them a coarse weight, times it and times what it lacks."""
    weight = variable(count - 1, count)
    lacking = constant(coarse.domain.width, count) - weight
    return tuple(part for each in entries for part in (each * weight, each * lacking))


def extend(polynomial: Polynomial, many: int) -> Polynomial:
    """The same polynomial among so many more variables, the last ones, which it does not name."""
    return Polynomial(tuple((factor, (*exponents, *(0,) * many)) for factor, exponents in polynomial.terms))
