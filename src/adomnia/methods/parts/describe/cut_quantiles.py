"""Quantiles from rows that were counted between cuts: the value where ranks meet its share, and what they allow for."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import Note
from adomnia.methods.analysis import with_values
from adomnia.methods.contract import Arguments, Frame, NumberColumn
from adomnia.methods.parts.describe.cuts import Cutting, is_whole
from adomnia.methods.parts.describe.noisy_ratios import describe_inference, read_inference
from adomnia.methods.parts.describe.rounds import SeveralRounds
from adomnia.noise import Integers
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import NonNull
from adomnia.statistics.brackets import isotonic
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured, ResultTable, Round, name_about

_Found = TypeVar("_Found")
Flow: TypeAlias = Generator[Round, tuple[Measured, ...], _Found]

_EVEN_BLOCKS = 4  # grid steps: fewer values are ties
_EVEN_ROWS = 6.0  # rows, or deviations of a count, of each block that is looked at
_FEWEST_BLOCKS = 3  # where rows are enough for more: between two cuts alone they may all lie at one place
_EVEN_SURE = 3.0  # deviations of a chi-square
METHOD = "rows counted between values chosen by rank"
_RAMP = 1e-9  # keeps equal ranks in order


@dataclass(frozen=True)
class CutQuantile:
    """One quantile of one cell: what was chosen, the edges, and the noisy numbers of rows between them."""

    cutting: Cutting
    place: int
    chosen: int
    edges: Floats
    counts: Floats
    cumulants: tuple[float, float]
    ordered: float | None = None  # its place, once all quantiles of the cell were put in their order

    @property
    def share(self) -> float:
        """Which quantile it is."""
        return float(self.cutting.shares[self.place])

    @property
    def rows(self) -> float:
        """All rows, with noise."""
        return float(self.counts.sum())

    @cached_property
    def excess(self) -> Floats:
        """Of each edge, how many rows too many lie below it."""
        return np.cumsum(self.counts)[:-1] - self.share * self.rows

    def _sure(self, confidence: float, cells: int) -> Floats:
        """How far the excess at each edge goes by chance, to either side."""
        below = np.arange(1, len(self.counts))
        above, share = len(self.counts) - below, self.share
        variance = self.cumulants[0] * ((1 - share) ** 2 * below + share**2 * above)
        fourth = self.cumulants[1] * ((1 - share) ** 4 * below + share**4 * above)
        variance = variance + self.sampled
        return np.asarray(deviations(variance, fourth, find_alpha(confidence, cells)) * np.sqrt(variance) + 0.5)

    def rank_error(self, confidence: float, cells: int) -> float:
        """How far the rank of the quantile goes by chance, as a share of the rows."""
        at = min(int(np.searchsorted(self.edges, self.found)), len(self.edges) - 1)
        return float(min(self._sure(confidence, cells)[at] / max(self.rows, 1.0), 1.0))

    def rank_gaps(self, confidence: float, cells: int) -> tuple[float, float]:
        """By how much the rank just below the place may exceed the share, and the one at it fall short, of all rows."""
        sure, rows = self._sure(confidence, cells), max(self.rows, 1.0)
        below = int(np.searchsorted(self.edges, self.found))  # the first edge that is not below the place
        above = int(np.searchsorted(self.edges, self.found + 1, side="right")) - 1  # the last that has it below
        more = self.excess[below] + sure[below] if below < len(sure) else rows
        less = sure[above] - self.excess[above] if above >= 0 else rows
        return float(np.clip(more / rows, 0.0, 1.0)), float(np.clip(less / rows, 0.0, 1.0))

    @property
    def sampled(self) -> float:
        """The variance of the excess by sampling."""
        return max(self.rows, 1.0) * self.share * (1 - self.share) if self.cutting.population else 0.0

    def _bounds(self, confidence: float, cells: int) -> tuple[float, float]:
        """The least and the greatest place of the grid that the quantile may be at."""
        sure, low, high = self._sure(confidence, cells), -1.0, self.cutting.domain.width + 1.0
        for edge, excess, far in zip(self.edges, self.excess, sure, strict=True):
            if excess > -far:
                break
            low = float(edge)
        for edge, excess, far in zip(self.edges[::-1], self.excess[::-1], sure[::-1], strict=True):
            if excess < far:
                break
            high = float(edge) - 1
        return low, high

    @cached_property
    def found(self) -> float:
        """The place of the quantile: the chosen one if the ranks agree, or where noisy ranks meet the share."""
        if self.ordered is not None:
            return self.ordered
        low, high = self._bounds(float(self.cutting.confidence), 1)
        return float(min(max(self._crossing(), low, 0.0), high, float(self.cutting.domain.width)))

    def _crossing(self) -> float:
        edges, first = np.unique(self.edges, return_index=True)
        last = np.append(first[1:], len(self.edges)) - 1
        ranks = isotonic((self.excess[first] + self.excess[last]) / 2)
        at, after = np.interp([self.chosen, self.chosen + 1], edges, ranks)
        if at <= 0 <= after:
            return float(self.chosen)
        return float(np.floor(np.interp(0.0, ranks + _RAMP * np.arange(len(ranks)), edges) + 1e-6))

    @cached_property
    def even(self) -> bool:
        """Whether rows look evenly spread between the ends of the interval, as far as noise lets one see.

        Where they are not, as on ties and beside gaps, its ends cannot be taken for a normal distribution's.
        """
        low, high = self._bounds(float(self.cutting.confidence), 1)
        inside = np.flatnonzero((self.edges[:-1] >= low) & (self.edges[1:] <= high + 1))
        widths, counts = np.diff(self.edges)[inside], self.counts[1:-1][inside]
        if low < 0 or high > self.cutting.domain.width or widths.sum() < _EVEN_BLOCKS:
            return False
        expected = counts.sum() * widths / widths.sum()
        needed = max(_EVEN_ROWS * np.sqrt(self.cumulants[0]), _EVEN_ROWS)
        whole = float(np.floor(expected.sum() / needed))  # so many blocks have rows enough
        place = np.minimum(np.floor(np.cumsum(expected) / needed), max(whole - 1, 0.0))
        # Only blocks that a count ends in: there may be more rows than anybody could number blocks of.
        block = np.unique(place, return_inverse=True)[1]
        found, wanted, cells = (np.bincount(block, each) for each in (counts, expected, np.ones(len(inside))))
        off = ((found - wanted) ** 2 / (np.maximum(wanted, 1.0) + cells * self.cumulants[0])).sum()
        told = len(found) >= min(_FEWEST_BLOCKS, whole)
        return bool(told and off <= len(found) + _EVEN_SURE * np.sqrt(2 * len(found)))

    def _number(self, place: float) -> float:
        domain = self.cutting.domain
        found = (place + domain.grid_lower) * float(domain.step)
        return float(np.clip(found, float(domain.lower), float(domain.upper)))

    @property
    def value(self) -> float:
        """The quantile."""
        return self._number(self.found)

    def bounds(self, confidence: float, cells: int) -> tuple[float, float]:
        """Its interval; the value is always in it."""
        low, high = self._bounds(confidence, cells)
        half = 0.0 if is_whole(self.cutting.value, self.cutting.domain) else 0.5
        return self._number(min(low, self.found) - half), self._number(max(high, self.found) + half)


def find_cuts(cutting: Cutting, rows: Floats) -> Flow[list[list[CutQuantile]]]:
    """Two rounds: choose and count. The quantiles of every cell, in the order of their shares."""
    (chosen,) = yield (cutting.choose(rows),)
    edges = cutting.lay(chosen, rows)
    (counts,) = yield (cutting.count(edges),)
    return read_cuts(cutting, chosen, edges, counts)


def read_cuts(cutting: Cutting, chosen: Measured, edges: Integers, counts: Measured) -> list[list[CutQuantile]]:
    """The same from what was measured; counts that are apart by a further key in front are added up."""
    many, places = edges.shape[-1], range(len(cutting.shares))
    laid = edges.reshape(-1, many).astype(np.float64)
    apart = np.asarray(counts.values, dtype=np.float64).reshape(-1, len(laid), many + 1)
    variance, fourth = counts.noise.continuous.cumulants
    cumulants = (len(apart) * variance, len(apart) * fourth)
    values = chosen.values.reshape(-1, 3 * len(cutting.shares))[:, 1::3].tolist()
    return [
        _order([CutQuantile(cutting, place, found[place], cuts, rows, cumulants) for place in places])
        for found, cuts, rows in zip(values, laid, apart.sum(axis=0), strict=True)
    ]


def _order(quantiles: Sequence[CutQuantile]) -> list[CutQuantile]:
    """The same with places that rise with their shares, as exact quantiles do: sorting moves none farther from it."""
    places = sorted(each.found for each in quantiles)
    return [replace(each, ordered=place) for each, place in zip(quantiles, places, strict=True)]


def estimate_quantiles(found: Sequence[CutQuantile]) -> Estimate:
    """Quantiles of one cell as an estimate, in their order."""

    def interval(confidence: float, cells: int) -> Bounds:
        ends = np.array([each.bounds(confidence, cells) for each in found])
        return ends[:, 0], ends[:, 1]

    whole = all(is_whole(each.cutting.value, each.cutting.domain) for each in found)
    return Estimate(np.array([each.value for each in found]), interval, METHOD, whole)


@dataclass(frozen=True)
class Robust(SeveralRounds):
    """One number about one column, in several rounds that begin with the number of rows."""

    relation: Relation
    column: NumberColumn
    population: bool
    confidence: Fraction

    @property
    def present(self) -> Relation:
        """The rows that have a value."""
        return with_values(self.relation, self.column.value)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, (), NonNull(self.column.value)), Fraction(1)),)

    def tabulate(self, estimate: Estimate, *notes: Note) -> ResultTable:
        """The table: one row, with the name of the column."""
        figure = {"kind": "points", "x": "column", "y": "estimate"}
        said = (describe_inference(population=self.population), *notes)
        about = name_about(population=self.population)
        return ResultTable({"column": (self.column.name,)}, {"estimate": estimate}, said, figure, about=about)


def read_robust(frame: Frame, arguments: Arguments, name: str) -> tuple[Relation, NumberColumn, bool, Fraction]:
    """The fields that all of them have."""
    return frame.relation, arguments["column"], read_inference(frame, arguments, name), frame.confidence
