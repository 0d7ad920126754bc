"""Synthetic rows from an explicit table of all columns: what its methods read, and what they publish.

Proof: docs/proofs/query_release.md.

The table has a weight in every cell, and is fitted to noisy counts by multiplying weights. Everything here follows from
what was released. A cell of a table of some columns is a question that all cells of the whole table with these values
add up to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any, ClassVar, TypeAlias

import numpy as np

from adomnia.mechanisms.contract import Tails
from adomnia.messages.texts import Note, NoteTemplate
from adomnia.methods.contract import Arguments, BadArgument, Frame, Parameter
from adomnia.methods.synthesis.attributes import ReleaseColumn, count_cells, read_columns
from adomnia.methods.synthesis.choosing import ReleaseTables
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.methods.synthesis.synthesis import DRAWN, GOOD_FOR, MOST_ROWS, decode_rows
from adomnia.noise import Integers
from adomnia.noise.afterwards import Generator, follow
from adomnia.privacy.events import Price
from adomnia.privacy.keys import MOST_CELLS, Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Round
from adomnia.statistics.products import Places, Product

MOST_TABLES = 1_000  # each is a statement that is proved before data is read
COLUMN_PART = Fraction(1, 4)  # of what a table costs: tables of several columns tell of each of them too
PARTS = 64  # of a row, that what is believed is rounded to
_MOST_PARTS = 2**50
_WORK = 2 * 10**9  # cells that may be looked at in fitting
_LEAST_REPLAYS, _MOST_REPLAYS = 10, 100
WAYS = Parameter("ways", "integer", "of how many columns at once counts should be right", default=2, lower=1, upper=4)
_OF_TABLE = NoteTemplate(
    "rows_of_table",
    "These {number:,} rows are of nobody: they are drawn from a table that was fitted to noisy counts. There are about "
    "{rows:,} rows of data.",
)
TableColumns: TypeAlias = tuple[int, ...]  # the places of its columns, rising

_CLASSIC_STEP = 0.5  # Hardt, Ligett & McSherry 2012, figure 1: the error over twice the number of rows
_LARGER, _SMALLER = 1.5, 0.25  # steps, where the last one helped and where it did not
_LARGEST_STEP = 2.0**20
_LARGEST_EXPONENT = 30.0  # of one step: no weight is lost to 0, or to infinity, by one wild count


def read_explicit(
    frame: Frame, arguments: Arguments, most_cells: int = MOST_CELLS
) -> tuple[Relation, tuple[ReleaseColumn, ...], int]:
    """The rows, their columns and of how many at once counts are asked; refused where there are too many cells."""
    relation, columns = read_columns(frame, arguments)
    cells, ways = count_cells(columns), min(arguments["ways"], len(columns))
    if cells > most_cells:
        why = f"have {cells:,} combinations of values, and a table of all of them may have {most_cells:,}"
        raise BadArgument("columns", why, "name fewer, or put numbers into fewer bins with bins => ...")
    if comb(len(columns), ways) > MOST_TABLES:
        why = f"asks for {comb(len(columns), ways):,} tables, and there may be {MOST_TABLES:,}"
        raise BadArgument("ways", why, "name fewer columns, or lower it")
    return relation, columns, ways


@dataclass(frozen=True)
class NoisyCells:
    """Noisy counts of some cells of a table of some columns, with noise of one variance."""

    tag: ClassVar[str] = "NoisyCells"
    columns: TableColumns
    places: Places  # of its cells
    counts: Floats
    variance: float

    @classmethod
    def whole(cls, columns: TableColumns, counts: Floats, variance: float) -> "NoisyCells":
        """All cells of a table."""
        return cls(columns, np.arange(counts.size), np.asarray(counts, dtype=np.float64).ravel(), variance)


def sum_tables(weights: Floats, tables: Iterable[TableColumns]) -> dict[TableColumns, Floats]:
    """Tables of some columns, an axis for each: a column is added up once for all of them that do not have it."""
    found: dict[TableColumns, Floats] = {}
    left = [(weights, weights.ndim, tuple(dict.fromkeys(tables)))]  # summed over some of the columns from that place on
    while left:
        table, place, wanted = left.pop()
        if not place:
            found[wanted[0]] = table
            continue
        without = tuple(each for each in wanted if place - 1 not in each)
        within = tuple(each for each in wanted if place - 1 in each)
        if without:
            left.append((np.asarray(table.sum(axis=place - 1)), place - 1, without))
        if within:
            left.append((table, place - 1, within))
    return found


def start_independent(sizes: Sequence[int], noisy: Sequence[NoisyCells]) -> Floats:
    """The table in which columns do not depend on each other, from noisy counts of each of them."""
    total = estimate_total(noisy)
    weights = np.full((), total)
    for size, each in zip(sizes, noisy, strict=True):
        shares = cut_to_total(each.counts, total) / total
        weights = np.multiply.outer(weights, shares).reshape(*weights.shape, size)
    # Nothing is impossible because of noise: weights of 0 would stay 0 whatever is measured later.
    return np.asarray(weights * (1 - _SPREAD) + _SPREAD * total / prod(sizes))


_SPREAD = 1e-3  # of the rows


def estimate_total(noisy: Iterable[NoisyCells]) -> float:
    """How many rows there are: the mean of what the tables say, by their precision; never less than one."""
    sums = [(float(each.counts.sum()), 1 / (each.variance * each.counts.size)) for each in noisy]
    return max(1.0, sum(found * precision for found, precision in sums) / sum(precision for _, precision in sums))


def cut_to_total(counts: Floats, total: float) -> Floats:
    """The nearest counts that are not negative and have that sum: all are lowered alike, and cut at 0."""
    below = counts - counts.max()  # or a total would be lost in counts that are nothing but noise
    falling = -np.sort(-below)
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    return np.asarray(np.maximum(below - lowered[np.flatnonzero(falling > lowered)[-1]], 0.0))


def multiply(weights: Floats, noisy: Sequence[NoisyCells], step: float = _CLASSIC_STEP) -> Floats:
    """Weights after one round of updates: those that too few rows are believed of rise, and the sum stays what it was.

    Of one count, the update of Hardt, Ligett & McSherry 2012: by exp(error / (2 * number of rows)).
    """
    return _grow(weights, noisy, _list_errors(weights, noisy), step)


def fit(weights: Floats, noisy: Sequence[NoisyCells], replays: int) -> Floats:
    """The same weights after so many updates by all counts, each with a step that makes the errors smaller."""
    step, errors = _CLASSIC_STEP, _list_errors(weights, noisy)
    loss = _measure_loss(noisy, errors)
    for _ in range(replays):
        moved = _grow(weights, noisy, errors, step)
        later = _list_errors(moved, noisy)
        found = _measure_loss(noisy, later)
        if found < loss:
            weights, errors, loss, step = moved, later, found, min(step * _LARGER, _LARGEST_STEP)
        else:
            step *= _SMALLER
    return weights


def draw_rows(weights: Floats, number: int, generator: Generator) -> Places:
    """So many rows with the shares of the weights: of each cell its expected number, rounded up or down by chance.

    Cells are taken in an order by chance: in their own, every second of them could be the one that is rounded up.
    """
    order = generator.permutation(weights.size)
    ends = np.cumsum(weights.ravel()[order])
    reached = np.floor(ends * (number / ends[-1]) + generator.random()).astype(np.int64)
    reached[-1] = number  # a share of a row that floats lost in adding up
    copies = np.diff(np.minimum(reached, number), prepend=0)
    cells = generator.permutation(np.repeat(order, copies))
    return np.stack(np.unravel_index(cells, weights.shape), axis=1).astype(np.int32)


def _list_errors(weights: Floats, noisy: Sequence[NoisyCells]) -> list[Floats]:
    """Of each measurement, how far each cell of its table is below the noisy count, and 0 where there is none."""
    believed = sum_tables(weights, (each.columns for each in noisy))
    return [_find_errors(believed[each.columns].ravel(), each) for each in noisy]


def _find_errors(believed: Floats, noisy: NoisyCells) -> Floats:
    errors = np.zeros(believed.size)
    errors[noisy.places] = noisy.counts - believed[noisy.places]
    return errors


def _grow(weights: Floats, noisy: Sequence[NoisyCells], errors: Sequence[Floats], step: float) -> Floats:
    total, least = float(weights.sum()), min(each.variance for each in noisy)
    exponents = np.zeros((1,) * weights.ndim)
    for each, apart in zip(noisy, errors, strict=True):
        shape = [size if axis in each.columns else 1 for axis, size in enumerate(weights.shape)]
        exponents = exponents + (apart * (step / total * least / each.variance)).reshape(shape)
    grown = weights * np.exp(np.clip(exponents, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))
    return np.asarray(grown * (total / grown.sum()))


def _measure_loss(noisy: Iterable[NoisyCells], errors: Iterable[Floats]) -> float:
    """The squared errors of all counts, in units of their noise."""
    return sum(float(np.square(apart).sum()) / each.variance for each, apart in zip(noisy, errors, strict=True))


@dataclass(frozen=True)
class ExplicitTables(ReleaseTables):
    """All tables of so many columns: what rows should be good for."""

    ways: int

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(map(len, self.columns))

    @cached_property
    def asked(self) -> tuple[TableColumns, ...]:
        """The columns of each table."""
        return tuple(combinations(range(len(self.columns)), self.ways))

    @cached_property
    def keys(self) -> tuple[tuple[Key, ...], ...]:
        """The same as keys of queries."""
        return tuple(self.query(table).value_keys for table in self.asked)

    def share_first(self, column: Fraction, rounds: Fraction) -> tuple[tuple[Query, Fraction], ...]:
        """Every column with its part of a price, the first of them with that of all rounds too."""
        first, *others = (self.query((place,)) for place in range(len(self.columns)))
        return ((first, column + rounds), *((query, column) for query in others))

    def count_cells(self, table: TableColumns) -> int:
        """How many cells a table has."""
        return prod(self.sizes[column] for column in table)

    def ask_columns(self, price: Price) -> Round:
        """The counts of every column, each at that price."""
        return tuple(Measure(self.query((place,)), price) for place in range(len(self.columns)))

    def believe(self, weights: Floats) -> list[Floats]:
        """What a table of all columns says of each."""
        believed = sum_tables(weights, self.asked)
        return [believed[table] for table in self.asked]


def round_parts(believed: Floats) -> Places:
    """Counts in whole parts of a row, in one line."""
    return np.clip(np.rint(believed.ravel() * PARTS), 0, _MOST_PARTS).astype(np.int64)


def count_replays(work: int) -> int:
    """How many updates of weights are worth their time, where each looks at so many cells in all rounds."""
    return max(_LEAST_REPLAYS, min(_MOST_REPLAYS, _WORK // work))


def read_noisy(columns: TableColumns, measured: Measured) -> NoisyCells:
    """A whole table as it was measured."""
    return NoisyCells.whole(
        columns, np.asarray(measured.values, dtype=np.float64), measured.noise.continuous.cumulants.variance
    )


@dataclass(frozen=True)
class FittedTable:
    """A table of all columns that was fitted to noisy counts, and what else was released on the way to it."""

    columns: tuple[ReleaseColumn, ...]
    weights: Floats
    noisy: tuple[NoisyCells, ...]
    released: tuple[Integers, ...]
    tails: Tails

    @property
    def estimates(self) -> Residuals:
        """What the tables that were measured whole say themselves, without bias."""
        sizes = self.weights.shape
        whole = [each for each in self.noisy if each.places.size == prod(sizes[column] for column in each.columns)]
        return Residuals.from_measured(
            sizes, [NoisyMarginal(each.columns, each.counts, each.variance) for each in whole]
        )

    def publish(self, size: int | None, about: Mapping[str, Any], *notes: Note) -> ResultTable:
        """Rows as a result and as a product; about as many as there are if nobody says how many."""
        total = float(self.weights.sum())
        number = size or min(max(round(total), 1), MOST_ROWS)
        rows = draw_rows(self.weights, number, follow(self.released, "rows"))
        attributes = tuple(column.attribute for column in self.columns)
        labels = decode_rows(attributes, rows, follow(self.released, "values"))
        first = _OF_TABLE(number=number, rows=round(total))
        product = Product(attributes, self.estimates, self.tails, rows, about={**about, "total": total})
        return ResultTable(labels, {}, (first, *notes, GOOD_FOR, DRAWN), product=product)  # type: ignore[arg-type]  # of None
