"""Rows counted between values that were chosen by rank: bins of about equally many rows, whatever the distribution.

First a noisy number of rows says how many bins these can fill. Then values at evenly spaced ranks are chosen, from the
rows of all groups together. Last, rows are counted by group between cuts at these values. Under the null hypothesis of
a test which group a row is in has nothing to do with its value, and so nothing with the cuts either.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from adomnia.mechanisms.quantiles import FINEST_SHARE, MOST_VALUES
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import keys_of
from adomnia.methods.contract import BadArgument, Factor, NumberColumn, Parameter
from adomnia.methods.parts.describe.cut_quantiles import Flow
from adomnia.methods.parts.describe.cuts import Cutting, is_whole
from adomnia.methods.parts.describe.rounds import split_cells
from adomnia.noise import Integers
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.keys import Key
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Floats, Measure, Measured

# Of the price: the number of rows, the values chosen by rank, the counts between cuts.
ROWS, CHOOSE, COUNT = (Fraction(part, 100) for part in (4, 36, 60))
TIED = define_note("bins_tied", "Values in one bin count as equal; intervals allow for their order.")
BINNED = (
    "Where a column has no more values than `bins`, each has a bin of its own. Others are cut at values chosen by rank."
    " Numbers that are rounded to the same step of the grid count as equal."
)
FEWEST_BINS = 4
MOST_BINS = 200
_MOST_CUTS = 2_400  # of all groups: each is a condition of the statement
_FEWER = 0.8
_LEAST = 1e-12  # variances that are divided by
_CONFIDENCE = Fraction(19, 20)


def rank_bins_parameter(default: int | None, most: int = MOST_BINS, more: str = "") -> Parameter:
    """The parameter that says how many bins there are; `more` is what else there is to say of it."""
    meaning = "how many bins there are at most; of few rows there are fewer, as a noisy number of them says"
    return Parameter("bins", "integer", meaning + more, default=default, lower=FEWEST_BINS, upper=most)


def has_few_values(column: NumberColumn, bins: int) -> bool:
    """Whether each value has a bin of its own: there are no more of them on the grid than bins."""
    return column.domain.width < bins


def has_few_whole_numbers(column: NumberColumn, bins: int) -> bool:
    """The same of whole numbers, which have been counted so before values were chosen by rank."""
    return has_few_values(column, bins) and is_whole(column.value, column.domain)


def demand_few_cuts(by: Sequence[Factor], bins: int, *columns: NumberColumn) -> None:
    """Refuse so many groups that the statement which cuts each of them in its own way would be too long."""
    searched = sum(not has_few_values(each, bins) for each in columns)
    groups, most = prod(len(factor.levels) for factor in by), _MOST_CUTS // max(1, searched)
    if searched and groups > max(1, most // bins):
        raise BadArgument(
            "by",
            f"makes {groups} groups, each with cuts of its own, and with {bins} bins there may be {most // bins}",
            f"write bins => {max(FEWEST_BINS, most // groups)}, or choose a column of fewer values",
        )


def demand_choosable(column: NumberColumn, argument: str = "column") -> None:
    """Refuse a column of so many values that none of them can be chosen by rank."""
    if column.domain.width >= MOST_VALUES:
        why = f"can take over {MOST_VALUES:,} values, too many to choose from"
        raise BadArgument(argument, why, "divide it by a constant in the bracketed SELECT, or bound it with CLAMP")


@dataclass(frozen=True)
class CutRows:
    """Noisy numbers of rows of one cell between its own cuts. `tied`: which bins of each column hold one value."""

    measured: Measured
    tied: tuple[tuple[bool, ...], ...]

    @property
    def exact(self) -> bool:
        """Whether all bins hold one value."""
        return all(map(all, self.tied))


@dataclass(frozen=True)
class RankCuts:
    """How columns are cut at ranks, in each cell of `by` by itself; what has few values is not searched."""

    relation: Relation
    by: tuple[Factor, ...]
    columns: tuple[NumberColumn, ...]
    bins: int

    @property
    def query(self) -> Query:
        """What it starts from."""
        return Query(self.relation, keys_of(*self.by), Rows())

    def count(self, price: Price, *apart: Key) -> Flow[list[CutRows]]:
        """How many rows there are, values by rank, and rows by further keys between cuts; for each cell."""
        searched = [each for each in self.columns if not has_few_values(each, self.bins)]
        cuttings = [self._cutting(each, price, CHOOSE / max(1, len(searched)), COUNT) for each in searched]
        found = dict(zip(searched, (yield from self._find_edges(cuttings, price)), strict=True)) if searched else {}
        edges = [found[each] if each in found else list_values(each) for each in self.columns]
        keys = [self._key(each, cuts) for each, cuts in zip(self.columns, edges, strict=True)]
        query = Query(self.relation, (*keys_of(*self.by), *apart, *keys), Rows())
        (counted,) = yield (Measure(query, price * COUNT if searched else price),)
        return self._read(counted, edges)

    def _find_edges(self, cuttings: Sequence[Cutting], price: Price) -> Flow[list[Integers]]:
        """Cuts of every cell in rising order; where there are fewer than asked for, the last repeats."""
        for cutting in cuttings:  # what cannot be drawn, however many values, is refused before anything is paid
            _ = [cutting.choose_at(even_shares(bins)).mechanism for bins in (FEWEST_BINS, self.bins)]
        (rows,) = yield (Measure(self.query, price * ROWS),)
        fill = fill_bins if len(self.columns) == 1 else fill_table
        wanted = fill(np.asarray(rows.values, dtype=np.float64), cuttings[0].count_variance, self.bins)
        shares = even_shares(int(wanted.max()))
        chosen = yield tuple(cutting.choose_at(shares) for cutting in cuttings)
        return [self._lay(each, wanted, cutting.domain.width) for each, cutting in zip(chosen, cuttings, strict=True)]

    def _lay(self, chosen: Measured, wanted: Integers, width: int) -> Integers:
        cells = zip(chosen.values.reshape(-1, chosen.values.shape[-1]).tolist(), wanted.ravel().tolist(), strict=True)
        laid = [lay_edges(each, bins, self.bins - 1, width) for each, bins in cells]
        return np.array(laid, dtype=np.int64).reshape(*wanted.shape, self.bins - 1)

    def _key(self, column: NumberColumn, edges: Integers) -> Key:
        """Counts rows by their bin: between cuts of each cell, or the same in all of them."""
        cutting = self._cutting(column, Pure(1), Fraction(1), Fraction(1))
        return (cutting if edges.ndim > 1 else replace(cutting, by=())).count(edges).query.value_keys[-1]

    def _cutting(self, column: NumberColumn, price: Price, choose: Fraction, count: Fraction) -> Cutting:
        prices = price * choose, price * count
        return Cutting(self.relation, keys_of(*self.by), column.value, column.domain, (), True, _CONFIDENCE, *prices)

    def _read(self, counted: Measured, edges: Sequence[Integers]) -> list[CutRows]:
        """What was counted in each cell, without the bins that nothing can be in."""
        cells = split_cells(self.by, counted)
        cuts = [each.reshape(-1, each.shape[-1]).tolist() * (len(cells) if each.ndim == 1 else 1) for each in edges]
        widths = [each.domain.width for each in self.columns]
        return [_read_cell(each, own, widths) for each, *own in zip(cells, *cuts, strict=True)]


def _read_cell(found: Measured, edges: Sequence[list[int]], widths: Sequence[int]) -> CutRows:
    sizes = [np.diff([0, *each, width + 1]) for each, width in zip(edges, widths, strict=True)]
    values: Any = found.values
    for axis, each in enumerate(sizes, start=values.ndim - len(sizes)):
        values = np.compress(each > 0, values, axis=axis)
    return CutRows(replace(found, values=values), tuple(tuple((each[each > 0] == 1).tolist()) for each in sizes))


def list_values(column: NumberColumn) -> Integers:
    """Cuts between all values of a column that has few."""
    return np.arange(1, column.domain.width + 1, dtype=np.int64)


def fill_bins(rows: Floats, variance: float, most: int) -> Integers:
    """How many bins so many rows can fill, if each count has noise of that variance.

    Noise adds 2 k variance / rows to the variance of a comparison of two groups in k bins, in parts of that by
    sampling, and the unknown order within bins rows / (4 k**3). The sum is least at k**4 = 3 rows**2 / (8 variance).
    The order matters for intervals alone, and tests find more in fewer bins: so there are somewhat fewer.
    """
    best = _FEWER * np.sqrt(np.maximum(rows, 1.0) * np.sqrt(3 / 8 / max(variance, _LEAST)))
    return np.asarray(np.clip(np.rint(best), FEWEST_BINS, most), dtype=np.int64)


def fill_table(rows: Floats, variance: float, most: int) -> Integers:
    """How many bins of each of two columns so many rows can fill.

    Noise adds k**2 variance / rows to the variance of a rank correlation in k times k bins, in parts of that by
    sampling, and ties in bins take about 2 / k**2 of what is seen of it. The sum is least at k**4 = 2 rows / variance.
    """
    best = (2 * np.maximum(rows, 1.0) / max(variance, _LEAST)) ** 0.25
    return np.asarray(np.clip(np.rint(best), FEWEST_BINS, most), dtype=np.int64)


def even_shares(bins: int) -> tuple[Fraction, ...]:
    """The shares of rows below each cut between so many bins."""
    return tuple(Fraction(round(FINEST_SHARE * place / bins), FINEST_SHARE) for place in range(1, bins))


def lay_edges(chosen: Sequence[int], bins: int, many: int, width: int) -> list[int]:
    """So many edges for so many bins, in rising order; the last repeats. An edge belongs to the bin above it.

    A value is the last of its bin. One that was chosen twice has as many rows as a bin should, and stands alone.
    """
    ranks = np.rint(np.arange(1, bins) * (len(chosen) + 1) / bins).astype(int) - 1
    values, times = np.unique(np.asarray(chosen)[ranks], return_counts=True)
    edges = {*(values + 1).tolist(), *values[times > 1].tolist()}
    inside = sorted(edge for edge in edges if 0 < edge <= width)
    return [*inside, *[width + 1] * (many - len(inside))]
