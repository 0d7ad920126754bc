"""The noisy sums of products that a linear model is computed from, measured in as few parts as possible.

Numbers are counted from the middle of their bounds in half widths, so that every product is between -1 and 1. A product
of columns with levels is a sum in the cells of their factors: a row is in one of them, so all levels together cost as
much as one sum. A sum that several measurements tell of (the total of the cells of two factors, say) is put together
from all of them by least squares. Which noise is in which sum is known exactly.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, chain, combinations, combinations_with_replacement
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.analysis import keys_of
from adomnia.methods.contract import BadArgument, Factor, NumberColumn
from adomnia.methods.parts.models.blocks import BOX_VARIABLES, Block, Cells, Corners, ProductSum, cover_pairs
from adomnia.methods.parts.models.design import Design, Levels, Powers
from adomnia.methods.parts.models.formula import ARGUMENT
from adomnia.methods.sampling_weights import SamplingWeights
from adomnia.privacy.domains import Numbers
from adomnia.privacy.queries import Aggregate, Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.privacy.vectors import Variable, Vector
from adomnia.statistics.contract import Floats, Measured

MOST_CELLS = 400  # of the factors whose levels are multiplied
_PRODUCT_BITS = 60  # products of a row fit 64-bit integers
_GRID_BITS = 20
_KEPT = 16  # designs whose maps are remembered: every group needs them

Sum: TypeAlias = tuple[Cells, Powers]  # the sums of one product in all cells of some factors; the response comes last


@dataclass(frozen=True)
class SumsOfProducts:
    """What is measured for a design, in which parts of the price, and how the sums follow from it."""

    design: Design
    laplace: bool
    weights: NumberColumn | None = None

    @cached_property
    def weighting(self) -> SamplingWeights | None:
        """What all products are multiplied with, if something."""
        return None if self.weights is None else SamplingWeights(self.weights)

    @cached_property
    def basis(self) -> tuple[tuple[Levels, Powers], ...]:
        """The columns whose products are summed: the constant, the basis of the design, and the response, the last."""
        none = (0,) * len(self.design.numbers)
        explaining = dict.fromkeys([((), none), *self.design.basis])
        return (*((levels, (*powers, 0)) for levels, powers in explaining), ((), (*none, 1)))

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The numbers and the response, on grids so coarse that their products fit the engine's integers."""
        degree = max(sum(powers) for _, powers in self.sums)
        room = _PRODUCT_BITS if self.weighting is None else _PRODUCT_BITS - self.weighting.size(split=True).bit_length()
        bits = min(_GRID_BITS, room // max(degree, BOX_VARIABLES if self.laplace else 1))
        columns = (*self.design.numbers, self.design.response)
        return tuple(Variable(each.value, coarsen(each.domain, 2**bits)) for each in columns)

    @cached_property
    def widths(self) -> list[int]:
        return [max(1, each.domain.width) for each in self.variables]

    @cached_property
    def middles(self) -> list[float]:
        """The middle of each variable's bounds."""
        domains = (each.domain for each in self.variables)
        return [float((each.grid_lower + each.grid_upper) * each.step / 2) for each in domains]

    @cached_property
    def halves(self) -> list[float]:
        """Half of the width between each variable's bounds."""
        return [float(each.domain.width * each.domain.step / 2) for each in self.variables]

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """All sums that products of two columns are found in."""
        found = (_multiply(one, two) for one, two in combinations_with_replacement(self.basis, 2))
        return tuple(dict.fromkeys((_cells(levels), powers) for levels, powers in filter(None, found)))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """What is measured. Where a sum is wanted in finer cells, too, these are added up.

        Measured by itself it would be more exact. But its noise comes with that of the cells, which weighs as much.
        """
        for cells in {cells for cells, _ in self.sums}:
            if self.count_cells(cells) > MOST_CELLS:
                names = " and ".join(self.design.factors[place].name for place in cells)
                why = (
                    f"tells {self.count_cells(cells):,} combinations of {names} apart, and {MOST_CELLS:,} are the most"
                )
                raise BadArgument(ARGUMENT, why, "use factors of fewer levels")
        kept = [each for each in self.sums if not self._is_added_up(each)]
        if not self.laplace:
            return tuple(map(self._product, kept))
        every = dict.fromkeys(cells for cells, _ in kept)
        wanted = {cells: [powers for each, powers in kept if each == cells] for cells in every}
        return tuple(chain.from_iterable(self._with_corners(*each) for each in wanted.items()))

    @property
    def size(self) -> int:
        """How many numbers all cells of all sums are."""
        return sum(self.count_cells(cells) for cells, _ in self.sums)

    def count_cells(self, cells: Cells) -> int:
        """How many combinations of levels some factors have."""
        return prod(len(self.design.factors[place].levels) for place in cells)

    @cached_property
    def _cells_of(self) -> dict[Powers, list[set[int]]]:
        """In which cells each product is wanted."""
        found: dict[Powers, list[set[int]]] = {}
        for cells, powers in self.sums:
            found.setdefault(powers, []).append(set(cells))
        return found

    def _is_added_up(self, wanted: Sum) -> bool:
        cells, powers = wanted
        return any(each > set(cells) for each in self._cells_of[powers])

    def _product(self, wanted: Sum) -> ProductSum:
        # Coefficients follow from products with the response directly, and from others times coefficients below 1.
        return ProductSum(*wanted, weight=2 if wanted[1][-1] == 1 else 1)

    def _with_corners(self, cells: Cells, wanted: list[Powers]) -> Iterator[Block]:
        """Boxes for the products of two numbers where they need less of the price than these one by one."""
        simple = [powers for powers in wanted if max(powers) <= 1 and sum(powers) <= 2]
        boxes = [Corners(cells, each, self._weigh_box(each)) for each in cover_pairs(simple)]
        if not boxes or sum(2 ** (len(each.variables) / 2) for each in boxes) >= len(simple):
            boxes, simple = [], []
        yield from boxes
        yield from (self._product((cells, powers)) for powers in wanted if powers not in simple)

    def _weigh_box(self, box: tuple[int, ...]) -> int:
        """The root of how many corners it has, in parts of the weight of a product; less without the response."""
        return (1, 2, 3, 4, 6)[len(box)] * (2 if len(self.design.numbers) in box else 1)

    def shares(self, relation: Relation, by: Sequence[Factor]) -> tuple[tuple[Query, Fraction], ...]:
        """The queries with their parts of the price."""
        whole = sum(block.weight for block in self.blocks)
        return tuple((self._query(block, relation, by), Fraction(block.weight, whole)) for block in self.blocks)

    def _query(self, block: Block, relation: Relation, by: Sequence[Factor]) -> Query:
        keys = keys_of(*by, *(self.design.factors[place] for place in block.cells))
        aggregate: Aggregate = Rows()
        used = tuple(self.variables[place] for place in block.variables)
        if self.weighting is not None:
            aggregate = self.weighting.vector(used, block.entries(self.widths), split=self._is_split(block))
        elif used:
            aggregate = Vector(used, block.entries(self.widths))
        return Query(relation, keys, aggregate)

    def _is_split(self, block: Block) -> bool:
        """Whether the squares of weights are told apart: nobody needs them beside the response."""
        return self.weighting is not None and not (isinstance(block, ProductSum) and block.powers[-1])

    def count_columns(self, block: Block) -> int:
        """How many entries are measured of a block in each cell."""
        return block.columns * (1 + self._is_split(block))

    def _size(self, block: Block) -> int:
        """What an entry is divided by to be a sum of products between -1 and 1, in parts of the largest weight."""
        weighting = 1 if self.weighting is None else self.weighting.size(split=self._is_split(block))
        return block.size(self.widths) * weighting

    def decode(self, block: Block, powers: Powers, *, squared: bool) -> Floats | None:
        """How the sum of a product follows from the entries of a cell, or that with squared weights."""
        row = block.decode(powers)
        if row is None or not self._is_split(block):
            return None if squared else row
        return np.asarray(np.kron(row, [1.0, 0.0 if squared else 1.0]), dtype=np.float64)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where the product of two columns of the basis is among all cells of all sums; -1 where it is always 0."""
        starts = dict(
            zip(self.sums, np.cumsum([0, *(self.count_cells(cells) for cells, _ in self.sums)]), strict=False)
        )
        found = np.full((len(self.basis), len(self.basis)), -1, dtype=np.int64)
        for i, one in enumerate(self.basis):
            for j, two in enumerate(self.basis):
                if (both := _multiply(one, two)) is not None:
                    levels, powers = both
                    shape = [len(self.design.factors[place].levels) for place, _ in levels]
                    cell = np.ravel_multi_index([level for _, level in levels], shape) if levels else 0
                    found[i, j] = starts[_cells(levels), powers] + cell
        return found

    def read(self, *measured: Measured) -> "NoisyProducts":
        """The sums from what was measured of the blocks."""
        entries = [
            np.asarray(each.values, dtype=np.float64).ravel() / self._size(block)
            for block, each in zip(self.blocks, measured, strict=True)
        ]
        variances = [
            each.noise.cumulants.variance / self._size(block) ** 2
            for block, each in zip(self.blocks, measured, strict=True)
        ]
        maps = _map_sums(self, tuple(variances))
        sums = np.asarray(maps.entries @ np.concatenate(entries))
        kurtosis, squares = 3.0 if measured[0].noise.continuous.tails == "laplace" else 0.0, None
        if self.weighting is not None:
            squares = np.asarray(_map_sums(self, tuple(variances), squared=True).entries @ np.concatenate(entries))
        return NoisyProducts(self, sums, maps, kurtosis, squares)

    def map_cells(self, cells: Cells, sources: Sequence["_Source"]) -> Iterator[Floats]:
        """How the cells of a sum follow from the entries of each block that tells of it: by least squares.

        The effects of each set of factors are told by every block that has their cells, the less exactly the more cells
        are added up. These effects are orthogonal, so each is averaged by itself.
        """
        for source in sources:
            mapped = np.zeros((self.count_cells(cells), self.count_cells(source.cells)))
            for effect in _subsets(set(cells) & set(source.cells)):
                weight = self._weigh(source, effect) / sum(self._weigh(each, effect) for each in sources)
                mapped += weight * (self._effect(effect, cells, source.cells) if cells or source.cells else 1.0)
            yield (mapped[:, :, None] * source.row).reshape(len(mapped), -1)

    def _weigh(self, source: "_Source", effect: set[int]) -> float:
        """The inverse of the variance of an effect, where a block tells of it."""
        if not effect <= set(source.cells):
            return 0.0
        return 1 / (source.variance * self.count_cells(tuple(set(source.cells) - effect)))

    def _effect(self, effect: set[int], wanted: Cells, given: Cells) -> Floats:
        """The part of the wanted cells that an effect of the given cells makes up."""
        found = np.ones((1, 1))
        for place in sorted({*wanted, *given}):
            levels = len(self.design.factors[place].levels)
            average = np.full((levels if place in wanted else 1, levels if place in given else 1), 1 / levels)
            if place not in wanted:
                average = average * levels
            found = np.kron(found, np.eye(levels) - average if place in effect else average)
        return np.asarray(found, dtype=np.float64)


@dataclass(frozen=True)
class _Source:
    """What the block at a place tells of a sum: how it follows from the entries of a cell, and its variance."""

    place: int
    cells: Cells
    row: Floats
    variance: float


def _decode(
    plan: SumsOfProducts, told: Iterable[tuple[Block, float]], powers: Powers, *, squared: bool
) -> Iterator[_Source]:
    for place, (block, variance) in enumerate(told):
        row = plan.decode(block, powers, squared=squared)
        if row is not None and variance:
            yield _Source(place, block.cells, row, variance * float(row @ row))


@dataclass(frozen=True, eq=False)
class Maps:
    """How all cells of all sums follow from what is measured, and how their noise does from noises of variance 1."""

    entries: Floats
    noises: Floats

    @cached_property
    def covariance(self) -> Floats:
        """Of the noise in the sums."""
        return np.asarray(self.noises @ self.noises.T)


@lru_cache(maxsize=_KEPT)
def _map_sums(plan: SumsOfProducts, variances: tuple[float, ...], *, squared: bool = False) -> Maps:
    told = list(zip(plan.blocks, variances, strict=True))
    sizes = [plan.count_cells(block.cells) * plan.count_columns(block) for block in plan.blocks]
    starts, row = [0, *accumulate(sizes)], 0
    maps = np.zeros((sum(plan.count_cells(cells) for cells, _ in plan.sums), starts[-1]))
    for cells, powers in plan.sums:
        sources = list(_decode(plan, told, powers, squared=squared))
        for source, mapped in zip(sources, plan.map_cells(cells, sources), strict=True):
            maps[row : row + len(mapped), starts[source.place] : starts[source.place + 1]] = mapped
        row += plan.count_cells(cells)
    return Maps(maps, np.asarray(maps * np.sqrt(np.repeat(variances, sizes))))


@dataclass(frozen=True)
class NoisyProducts:
    """The noisy sums of products of all pairs of columns, and what is known of their noise."""

    plan: SumsOfProducts
    sums: Floats
    maps: Maps
    kurtosis: float  # of each noise, beyond that of a normal distribution
    squares: Floats | None = None  # the same sums with squared weights, where rows have weights

    @cached_property
    def matrix(self) -> Floats:
        """The sums of the products of each column of the basis with each."""
        return np.where(self.plan.places >= 0, self.sums[self.plan.places], 0.0)

    @property
    def rows(self) -> float:
        """The noisy number of rows; of weights, their sum in parts of the largest one."""
        return float(self.matrix[0, 0])

    @property
    def effective_rows(self) -> float:
        """How many rows of equal weight tell as much about the population (Kish 1965)."""
        if self.squares is None:
            return self.rows
        noise = float(np.sqrt(self.maps.covariance[self.plan.places[0, 0], self.plan.places[0, 0]]))
        return max(0.0, self.rows) ** 2 / max(float(self.squares[self.plan.places[0, 0]]), noise, 1e-9)

    def spread_scores(self, left: Floats) -> Floats:
        """The covariance of `left' X' residuals` of a sample whose residuals have the variance 1.

        With weights, that of the products with squared weights, as positive as a covariance is.
        """
        if self.squares is None:
            return np.asarray(left.T @ self.matrix @ left)
        matrix = np.where(self.plan.places >= 0, self.squares[self.plan.places], 0.0)
        values, vectors = np.linalg.eigh(left.T @ matrix @ left)
        return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)

    def noise_of_products(self, left: Floats, right: Floats) -> Floats:
        """The covariance of the noise of `left' matrix right`, for several columns on the left and one on the right."""
        weights = self.weigh_products(left, right)
        return np.asarray(weights @ self.maps.covariance @ weights.T)

    def noises_of_products(self, left: Floats, right: Floats) -> Floats:
        """The same noise, as a matrix of what each noise of variance 1 adds to it."""
        return np.asarray(self.weigh_products(left, right) @ self.maps.noises)

    def weigh_products(self, left: Floats, right: Floats) -> Floats:
        """How `left' matrix right` follows from the sums."""
        rows, columns = self._there
        found = np.zeros((len(right), len(self.sums)))
        np.add.at(found, (rows, self.plan.places[rows, columns]), right[columns])
        return np.asarray(left.T @ found)

    @cached_property
    def _there(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs of columns whose products are not always 0."""
        rows, columns = np.nonzero(self.plan.places >= 0)
        return rows, columns


def coarsen(domain: Numbers, most: int) -> Numbers:
    """A grid of at most so many steps."""
    while domain.width > most:
        domain = Numbers(domain.lower, domain.upper, domain.step * 2)
    return domain


def _multiply(one: tuple[Levels, Powers], two: tuple[Levels, Powers]) -> tuple[Levels, Powers] | None:
    """The product of two columns; None where it is always 0, because a row has one level of a factor."""
    levels = dict(one[0])
    if any(levels.setdefault(factor, level) != level for factor, level in two[0]):
        return None
    return tuple(sorted(levels.items())), tuple(map(sum, zip(one[1], two[1], strict=True)))


def _cells(levels: Levels) -> Cells:
    return tuple(factor for factor, _ in levels)


def _subsets(places: set[int]) -> Iterator[set[int]]:
    return (set(chosen) for size in range(len(places) + 1) for chosen in combinations(sorted(places), size))
