"""The centre of attention: a small box that holds most results of blocks of people, and their average in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, nan, prod
from typing import ClassVar, TypeAlias

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import Analysis, with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import Arguments, BadArgument, Frame, Method, NumberColumn, Parameter
from adomnia.methods.describe.sample_and_aggregate import count_blocks
from adomnia.methods.parts.describe.column_sums import MEAN, ColumnSums, column_vector
from adomnia.methods.parts.describe.noisy_ratios import DATA
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import call, number
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation, Where
from adomnia.statistics.contract import Bounds, Estimate, Measure, Measured, ResultTable, Round, Steps

Box: TypeAlias = tuple[tuple[int, int], ...]  # of each column its first and last bin

_BINS = {1: 64, 2: 16, 3: 8}  # of each column, by how many there are: more are sharper, and have more noise together
_SIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # of boxes, in bins: at most half of a column
_FINDING = Fraction(1, 2)  # of the price: the box; the rest is for averages in it
_MISTAKEN = 0.05  # the chance that noise makes up a box that holds fewer blocks than it should
_NEARLY_ALL = 0.9  # of the blocks: a box that holds fewer may have cut off a side of what lies about it
_NARROWEST = 2  # steps of the grid between the ends of a box


_NO_BOX = define_note(
    "box_unknown_before",
    "The error to expect is that of the box which blocks agree on, and not known before; there may be no such box.",
)


@dataclass(frozen=True)
class CenterOfAttention(Analysis):
    """The average of several numbers over the blocks of people whose results lie close together, if most do.

    Method      noisy counts of blocks on a public grid of cells; among boxes of neighbouring cells the smallest that
                holds the wanted share of all blocks in spite of the noise; twice as wide where it does not hold nearly
                all, so that neither side of a cluster is cut off; then averages within it.
    Guarantee   two rounds composed: a person changes the row of one block.
    Bias        blocks outside of the box are left out; that of the numbers themselves where a block has few people.
    Cite        Nissim, Raskhodnikova & Smith 2007 (the centre); Nissim, Stemmer & Vadhan 2016 (a radius first).
    """

    tag: ClassVar[str] = "CenterOfAttention"
    name: ClassVar[str] = "center_of_attention"
    relation: Relation
    columns: tuple[NumberColumn, ...]
    blocks: int
    share: Fraction

    @property
    def caveats(self) -> tuple[Note, ...]:
        return (_NO_BOX,)

    @cached_property
    def bins(self) -> tuple[ColumnBins, ...]:
        """The public grid: neighbouring bins of each column."""
        return tuple(split_finely(column, _BINS[len(self.columns)]) for column in self.columns)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.bins[-1].query(self._complete, tuple(bins.key for bins in self.bins[:-1])), Fraction(1)),)

    @property
    def _complete(self) -> Relation:
        """The rows that have all of the numbers."""
        return with_values(self.relation, *(column.value for column in self.columns))

    def planned_measures(self, price: Price) -> Round:
        """Both rounds, the second for the largest box that there is."""
        return self._find(price), *self._ask(tuple((0, len(bins) - 1) for bins in self.bins), price)

    def steps(self, price: Price) -> Steps:
        (counts,) = yield (self._find(price),)
        box = find_box(counts, float(self.share) * self.blocks)
        if box is None:
            return self._say_none()
        whole = widen_box(box, counts, self.blocks)
        measured = yield self._ask(whole, price)
        return self._tabulate(whole, measured)

    def _find(self, price: Price) -> Measure:
        return Measure(self.query, price * _FINDING)

    def _ask(self, box: Box, price: Price) -> Round:
        """Sums of each number over the rows in a box."""
        part, inside = (1 - _FINDING) / len(self.columns), self._complete
        for bins, ends in zip(self.bins, box, strict=True):
            inside = _keep_inside(inside, bins, *ends)
        vectors = (
            column_vector(column.value, domain, MEAN, absent=False)
            for column, domain in zip(self.columns, self._domains(box), strict=True)
        )
        return tuple(Measure(Query(inside, (), vector), price * part) for vector in vectors)

    def _domains(self, box: Box) -> list[Numbers]:
        return [_narrow(bins, *ends) for bins, ends in zip(self.bins, box, strict=True)]

    def _tabulate(self, box: Box, measured: Sequence[Measured]) -> ResultTable:
        sums = [
            ColumnSums(column.value, domain, MEAN, each, population=False)
            for column, domain, each in zip(self.columns, self._domains(box), measured, strict=True)
        ]
        ends = zip(self.bins, box, strict=True)
        radii = [float(bins.edges[last + 1] - bins.edges[first]) / 2 for bins, (first, last) in ends]
        held = float(np.clip(np.mean([each.rows for each in sums]) / self.blocks, 0.0, 1.0))
        return self._build_table(_join([each.mean() for each in sums]), radii, held, _INSIDE)

    def _say_none(self) -> ResultTable:
        def interval(_confidence: float, _cells: int) -> Bounds:
            return np.full(len(self.columns), -inf), np.full(len(self.columns), inf)

        nothing = Estimate(np.full(len(self.columns), nan), interval, "no box holds enough blocks")
        return self._build_table(nothing, [None] * len(self.columns), None, _NO_CENTRE)

    def _build_table(
        self, estimate: Estimate, radii: Sequence[float | None], held: float | None, note: Note
    ) -> ResultTable:
        return ResultTable(
            {"column": tuple(column.name for column in self.columns)},
            {"estimate": estimate},
            (DATA, _BLOCKS(blocks=self.blocks), note),
            {"kind": "points", "x": "column", "y": "estimate"},
            {"radius": lambda: radii, "share": lambda: [held] * len(self.columns)},
        )


_BLOCKS = NoteTemplate("centre_of_blocks", "It is about what is computed in each of {blocks:,} blocks of people.")
_INSIDE = define_note(
    "centre_of_box",
    "The centre is the average over the blocks whose results all lie in a box: radius is half of its width, and share "
    "about how many of the blocks are in it. The others are left out.",
)
_NO_CENTRE = define_note(
    "no_centre",
    "There is no centre: no small box holds so many blocks that noise could not have made it up. More blocks, a higher "
    "price, tighter bounds or a smaller share => help. It is paid all the same.",
)


def list_boxes(bins: Sequence[int]) -> list[tuple[int, ...]]:
    """The sizes of boxes on a grid, in bins of each column, from the smallest to the largest."""
    sides = [side for side in _SIDES if 2 * side <= max(bins)] or [1]
    return list(dict.fromkeys(tuple(min(side, size) for size in bins) for side in sides))


def find_box(counts: Measured, wanted: float) -> Box | None:
    """The smallest box that holds so many rows, but for a chance that noise makes one up; of these the fullest.

    That chance is divided among all boxes of all sizes, so that choosing among them does not favour noise.
    """
    noisy = np.asarray(counts.values, dtype=np.float64)
    variance, fourth = counts.noise.continuous.cumulants
    sizes = list_boxes(noisy.shape)
    windows = [np.lib.stride_tricks.sliding_window_view(noisy, size) for size in sizes]
    alpha = _MISTAKEN / sum(prod(each.shape[: noisy.ndim]) for each in windows)
    for size, window in zip(sizes, windows, strict=True):
        held, cells = window.sum(axis=tuple(range(noisy.ndim, 2 * noisy.ndim))), prod(size)
        cumulants = np.array([variance * cells]), np.array([fourth * cells])
        margin = float(deviations(*cumulants, 2 * alpha)[0] * np.sqrt(cumulants[0][0]))  # of one side alone
        if held.max() >= wanted + margin:
            start = np.unravel_index(int(held.argmax()), held.shape)
            return tuple((int(first), int(first) + side - 1) for first, side in zip(start, size, strict=True))
    return None


def widen_box(box: Box, counts: Measured, blocks: int) -> Box:
    """A box that is about twice as wide, but for one that holds nearly all blocks already."""
    held = float(counts.values[tuple(slice(first, last + 1) for first, last in box)].sum())
    if held >= _NEARLY_ALL * blocks:
        return box
    sides = [(last - first) // 2 + 1 for first, last in box]
    sized = zip(box, sides, counts.values.shape, strict=True)
    return tuple((max(first - side, 0), min(last + side, bins - 1)) for (first, last), side, bins in sized)


def _keep_inside(rows: Relation, bins: ColumnBins, first: int, last: int) -> Relation:
    """The rows from one bin to another; the outer bins have no end."""
    place = bins.key.value
    if first > 0:
        rows = Where(rows, call(">=", place, number(first)))
    return rows if last == len(bins) - 1 else Where(rows, call("<=", place, number(last)))


def _narrow(bins: ColumnBins, first: int, last: int) -> Numbers:
    """The part of a column's grid that some of its bins cover, and a few steps at least."""
    domain = bins.column.domain
    low = max(int(bins.edges[first] // domain.step), domain.grid_lower)
    high = min(int(-(-bins.edges[last + 1] // domain.step)), domain.grid_upper)
    high = min(max(high, low + _NARROWEST), domain.grid_upper)
    low = max(min(low, high - _NARROWEST), domain.grid_lower)
    return Numbers(low * domain.step, high * domain.step, domain.step)


def _join(estimates: Sequence[Estimate]) -> Estimate:
    """One estimate a row."""

    def interval(confidence: float, cells: int) -> Bounds:
        ends = [each.interval(confidence, cells) for each in estimates]
        return np.concatenate([np.ravel(low) for low, _ in ends]), np.concatenate([np.ravel(high) for _, high in ends])

    return Estimate(np.concatenate([np.ravel(each.values) for each in estimates]), interval, estimates[0].method)


def _build(frame: Frame, arguments: Arguments) -> CenterOfAttention:
    columns = arguments["columns"]
    if not 1 <= len(columns) <= max(_BINS) or len({column.name for column in columns}) < len(columns):
        fix = f"name up to {max(_BINS)} different ones: columns => (a, b)"
        raise BadArgument("columns", "must be a few of the numbers of a block", fix)
    return CenterOfAttention(
        frame.relation, columns, count_blocks(frame.relation, "center_of_attention"), arguments["share"]
    )


METHOD = Method(
    "center_of_attention",
    "describe",
    "The average of numbers that are computed in blocks of people, over the blocks that lie close together.",
    (
        Parameter("columns", "columns", "the numbers of each block, up to three", required=True),
        Parameter(
            "share", "number", "how many of the blocks must lie there", default=Fraction(3, 5), lower=0.5, upper=0.95
        ),
    ),
    _build,
    {
        "column": "which number",
        "estimate": "the centre",
        "radius": "how far the box reaches to both sides",
        "share": "about how many of the blocks are in it",
    },
    "SELECT * FROM center_of_attention("
    "(SELECT MEDIAN(salary) AS a, MEDIAN(age) AS b FROM people GROUP BY BLOCK(40)), columns => (a, b))",
)
