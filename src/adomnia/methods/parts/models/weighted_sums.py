"""Sums over rows of one number times products of others, in cells of factors: scores and information are such sums.

Numbers u lie between -1 and 1, where 0 is the middle of their bounds. Products of few numbers are measured together.
Under rho each product is an entry of a vector. Under epsilon the entries are products of Bernstein polynomials of all
these numbers instead: they add up to 1, so that a row moves all of them together by 1 in L1, and each product is a
combination of them with coefficients between -1 and 1. Proof: docs/proofs/vectors.md.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import product
from math import comb, prod
from operator import mul
from typing import TypeAlias

import numpy as np

from adomnia.methods.analysis import keys_of
from adomnia.methods.contract import Factor
from adomnia.methods.parts.models.design import Levels, Powers
from adomnia.methods.sampling_weights import extend, split_entries
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.vectors import Polynomial, Variable, Vector, constant, variable
from adomnia.statistics.contract import Floats, Measure, Measured

MOST_JOINT_CELLS = 32  # of all factors together: their cells add up to those of each, with the noise of all of them
_MOST_ENTRIES = 27  # of a block: to derive the sensitivity of 81 takes a fifth of a second
_KEPT = 256  # layouts and vectors that are remembered: every round asks for them again

_WHOLE = (1.0, 1.0)
SQUARED = (1.0, 0.0)  # of the parts of a split sum: that with the square of the weight

Product: TypeAlias = tuple[Levels, Powers]  # of numbers, in the rows of some levels


@dataclass(frozen=True)
class Multiplier:
    """The number that products are multiplied with: `signed`, if its bounds are as far below zero as above.

    `split`: the sampling weight that is in it, on a coarse grid, where sums with the square of it are asked for, too.
    """

    variable: Variable
    signed: bool
    split: Variable | None = None

    @property
    def unit(self) -> float:
        """What one step of its polynomial stands for: it is counted from its middle, in half steps, if it is signed."""
        return float(self.variable.domain.step) / (1 + self.signed)


@dataclass(frozen=True)
class Source:
    """The rows that are added up, their factors, and their numbers on coarse grids."""

    relation: Relation
    factors: tuple[Factor, ...]
    numbers: tuple[Variable, ...]


@dataclass(frozen=True)
class SumBlock:
    """Products of some numbers that are measured together in the cells of some factors, for a part of the price."""

    factors: tuple[int, ...]
    numbers: tuple[int, ...]
    powers: tuple[Powers, ...]
    tensor: bool
    part: Fraction = Fraction(1)

    @cached_property
    def degrees(self) -> Powers:
        """The highest power of each of its numbers."""
        return tuple(max(powers[number] for powers in self.powers) for number in self.numbers)

    @cached_property
    def own_powers(self) -> tuple[Powers, ...]:
        """The powers of its own numbers."""
        return tuple(tuple(powers[number] for number in self.numbers) for powers in self.powers)

    @cached_property
    def coefficients(self) -> Floats:
        """How the products follow from the entries."""
        if not self.tensor:
            return np.eye(len(self.powers))
        families = [_control_points(degree) for degree in self.degrees]
        rows = ([family[power] for family, power in zip(families, own, strict=True)] for own in self.own_powers)
        return np.stack([reduce(_tensor, row, np.ones(1)) for row in rows])

    @cached_property
    def noises(self) -> Floats:
        """The squared size of the noise in each product, where the noise in an entry has that of what a row moves."""
        reach = 1 if self.tensor else len(self.powers)
        return np.asarray((self.coefficients**2).sum(axis=1) * reach**2)

    def scales(self, numbers: Sequence[Variable]) -> list[int]:
        """What each entry is multiplied with, to be whole and as large as the others."""
        widths = [_width(numbers[number]) for number in self.numbers]
        if self.tensor:
            return [prod(map(pow, widths, self.degrees))] * self.coefficients.shape[1]
        sizes = [prod(map(pow, widths, own)) for own in self.own_powers]
        return [max(sizes) // size * size for size in sizes]


@dataclass(frozen=True)
class NoisySums:
    """Noisy sums, and how far each noise moves each of them, in standard deviations: covariance = spread @ spread.T."""

    values: Floats
    spread: Floats


@dataclass(frozen=True)
class SumLayout:
    """How the sums of some products are measured: in blocks, each a query."""

    products: tuple[Product, ...]
    blocks: tuple[SumBlock, ...]

    @property
    def scans(self) -> int:
        """How often the rows are read: once for all blocks of the same factors."""
        return len({block.factors for block in self.blocks})

    def measures(self, source: Source, multiplier: Multiplier, price: Price) -> tuple[Measure, ...]:
        """What has to be measured, for that price in all."""
        return tuple(
            Measure(
                Query(
                    source.relation,
                    keys_of(*(source.factors[factor] for factor in block.factors)),
                    _vector(block, source.numbers, multiplier),
                ),
                price * block.part,
            )
            for block in self.blocks
        )

    def recover(
        self,
        measured: Sequence[Measured],
        numbers: Sequence[Variable],
        multiplier: Multiplier,
        parts: tuple[float, float] = _WHOLE,
    ) -> NoisySums:
        """The sums of the products from what was measured; where it is split, from which parts of it."""
        values, spreads = np.zeros(len(self.products)), []
        for place, each in enumerate(measured):
            shape, entries = each.values.shape[:-1], each.values.shape[-1]
            scales = np.array([float(scale) for scale in self.blocks[place].scales(numbers)])
            follows = self._follow(place, shape)
            if multiplier.split is not None:
                follows = np.asarray(np.kron(follows, parts), dtype=np.float64)
                scales = np.repeat(scales * multiplier.split.domain.width, 2)
            follows = follows.reshape(-1, prod(shape), entries) * (multiplier.unit / scales)
            released = np.asarray(each.values, dtype=np.float64).reshape(-1)
            follows = follows.reshape(len(self.products), -1)
            values = values + follows @ released
            spreads.append(follows * each.noise.continuous.deviation)
        return NoisySums(values, np.concatenate(spreads, axis=1))

    def _follow(self, place: int, shape: tuple[int, ...]) -> Floats:
        """How the products follow from all entries of all cells of a block; those in several blocks are averaged."""
        block = self.blocks[place]
        found = np.zeros((len(self.products), *shape, block.coefficients.shape[1]))
        for row, (levels, powers) in enumerate(self.products):
            weights = self._weights(levels, powers)
            if place in weights:
                cell = tuple(dict(levels).get(factor, slice(None)) for factor in block.factors)
                share = weights[place] / sum(weights.values())
                found[(row, *cell)] = block.coefficients[block.powers.index(powers)] * share
        return found

    def _weights(self, levels: Levels, powers: Powers) -> dict[int, float]:
        """The blocks that have a product, and how exactly: the inverse of its variance there."""
        own = _factors_of(levels)
        joint = not any(block.factors == own for block in self.blocks)
        return {
            place: float(block.part) ** 2 / float(block.noises[block.powers.index(powers)])
            for place, block in enumerate(self.blocks)
            if powers in block.powers and (joint or block.factors == own)
        }


@lru_cache(maxsize=_KEPT)
def lay_out(products: tuple[Product, ...], sizes: tuple[int, ...], pure: bool) -> SumLayout:
    """All factors, of such numbers of levels, together if they have few cells; else each set of factors by itself."""
    every = tuple(range(len(sizes))) if prod(sizes) <= MOST_JOINT_CELLS else None
    wanted: dict[tuple[int, ...], dict[Powers, None]] = {}
    for levels, powers in products:
        wanted.setdefault(_factors_of(levels) if every is None else every, {})[powers] = None
    blocks = [block for factors, powers in wanted.items() for block in _group(factors, tuple(powers), pure)]
    return SumLayout(products, tuple(_divide(blocks, pure)))


def _group(factors: tuple[int, ...], powers: tuple[Powers, ...], pure: bool) -> Iterator[SumBlock]:
    """Blocks of few numbers, so that each product has its numbers in one of them."""
    groups: list[set[int]] = []
    for each in sorted(powers, key=_support_size, reverse=True):
        support = {number for number, power in enumerate(each) if power}
        if not any(support <= group for group in groups):
            room = (group for group in groups if _count_entries(group | support, powers) <= _MOST_ENTRIES)
            if (group := next(room, None)) is None:
                groups.append(support)
            else:
                group |= support
    left = list(powers)
    for group in groups:
        held = tuple(each for each in powers if {number for number, power in enumerate(each) if power} <= group)
        yield _choose(factors, tuple(sorted(group)), held, tuple(each for each in held if each in left), pure)
        left = [each for each in left if each not in held]


def _choose(
    factors: tuple[int, ...], numbers: tuple[int, ...], held: tuple[Powers, ...], left: tuple[Powers, ...], pure: bool
) -> SumBlock:
    """Of one group all its products by polynomials that add up to 1, or those that are left, one by one."""
    plain = SumBlock(factors, numbers, left, tensor=False)
    if not pure or _count_entries(set(numbers), held) > _MOST_ENTRIES:
        return plain
    tensor = SumBlock(factors, numbers, held, tensor=True)
    return min(plain, tensor, key=lambda block: block.noises.mean())


def _divide(blocks: Sequence[SumBlock], pure: bool) -> Iterator[SumBlock]:
    """With parts of the price so that all entries have the same noise, or under epsilon the products the least."""
    weights = [round(64 * (float(block.noises.mean()) ** (1 / 3) if pure else len(block.powers))) for block in blocks]
    for block, weight in zip(blocks, weights, strict=True):
        yield replace(block, part=Fraction(weight, sum(weights)))


def _support_size(powers: Powers) -> int:
    return sum(power > 0 for power in powers)


def _count_entries(numbers: set[int], powers: Iterable[Powers]) -> int:
    every = list(powers)
    return prod(1 + max(each[number] for each in every) for number in numbers)


def _factors_of(levels: Levels) -> tuple[int, ...]:
    return tuple(sorted(factor for factor, _ in levels))


@lru_cache(maxsize=_KEPT)
def _vector(block: SumBlock, numbers: tuple[Variable, ...], multiplier: Multiplier) -> Vector:
    chosen = tuple(numbers[number] for number in block.numbers)
    signed = multiplier.variable.domain.width if multiplier.signed else 0
    scales, widths = tuple(block.scales(numbers)), tuple(map(_width, chosen))
    entries, variables = _polynomials(block, widths, scales, signed), (multiplier.variable, *chosen)
    if multiplier.split is None:
        return Vector(variables, entries)
    entries = split_entries((extend(each, 1) for each in entries), len(variables) + 1, multiplier.split)
    return Vector((*variables, multiplier.split), entries)


@lru_cache(maxsize=_KEPT)
def _polynomials(
    block: SumBlock, widths: tuple[int, ...], scales: tuple[int, ...], signed: int
) -> tuple[Polynomial, ...]:
    """The entries of a multiplier, which is counted from the middle if it has a `signed` width, and some numbers."""
    size = len(widths) + 1
    first = variable(0, size)
    first = first + first - constant(signed, size) if signed else first
    above = [variable(place + 1, size) for place in range(len(widths))]
    below = [constant(width, size) - each for width, each in zip(widths, above, strict=True)]
    if block.tensor:
        places = product(*(range(degree + 1) for degree in block.degrees))
        ups = [(place, tuple(n - k for n, k in zip(block.degrees, place, strict=True))) for place in places]
        chosen = (prod(map(comb, block.degrees, place)) for place, _ in ups)
        return tuple(
            _multiply(first * constant(times, size), [*above, *below], (*place, *rest))
            for times, (place, rest) in zip(chosen, ups, strict=True)
        )
    middles = [up - down for up, down in zip(above, below, strict=True)]
    sizes = (scale // prod(map(pow, widths, own)) for scale, own in zip(scales, block.own_powers, strict=True))
    return tuple(
        _multiply(first * constant(times, size), middles, own)
        for times, own in zip(sizes, block.own_powers, strict=True)
    )


def _multiply(first: Polynomial, factors: Sequence[Polynomial], powers: Powers) -> Polynomial:
    return reduce(mul, (factor for factor, power in zip(factors, powers, strict=True) for _ in range(power)), first)


def _control_points(degree: int) -> Floats:
    """Of the powers of u up to a degree, the coefficients in Bernstein polynomials of that degree."""
    found = np.zeros((degree + 1, degree + 1))
    for power, k in product(range(degree + 1), repeat=2):
        chosen = (comb(k, j) * comb(degree - k, power - j) * (-1) ** (power - j) for j in range(power + 1))
        found[power, k] = sum(chosen) / comb(degree, power)
    return found


def _tensor(left: Floats, right: Floats) -> Floats:
    return np.asarray(np.kron(left, right), dtype=np.float64)


def _width(variable: Variable) -> int:
    return max(1, variable.domain.width)
