"""Counts for places that lie within each other, as whole numbers that add up from the smallest place to the whole.

What is private about them, and what follows: docs/proofs/range_counts.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.distributions.projections import project, round_remainders
from adomnia.mechanisms.contract import Tails
from adomnia.messages.texts import Note, define_note
from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import Arguments, BadArgument, Frame, Method, Parameter
from adomnia.methods.synthesis.agreeing import COUNTS, estimate_counts
from adomnia.methods.synthesis.attributes import (
    BINS,
    MISSING_VALUES,
    ReleaseColumn,
    count_cells,
    read_columns,
    show_columns,
)
from adomnia.methods.synthesis.geography import Geography, read_geography
from adomnia.methods.synthesis.level_lines import LevelLines, fill_table, list_counts, list_whole
from adomnia.methods.synthesis.nested_release import LevelTable, NestedRelease
from adomnia.methods.synthesis.strategies import norm_of
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.transforms.matrices import Combination, Matrix
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Round, Steps
from adomnia.statistics.products import Attribute, Product

MOST_CELLS = 100_000
_MOST_LEVELS = 6
_UNIT = 2**10  # what a count of 1 is measured as: noise on integers is then as fine as if it were on numbers
_TABLE, _SUMS = 3, 1  # the weights of a table and of the sums of its places
_FEWEST = {1: 64, 2: 16}  # cells of a place from which on its sum is measured, by the norm of the noise
_WHOLE = define_note(
    "whole_counts_add_up",
    "whole_count is not negative and adds up exactly: each place to the one that it lies in, cells to their sum. Of "
    "small cells it is too high on average, because zero is the least; add up count instead to avoid that.",
)
_NESTED = define_note(
    "nested_as_stated",
    "Which places lie in which is what the question states: coarser columns are not read, but follow from the finest.",
)
_GIVEN = define_note(
    "total_as_stated",
    "The total is the one that the question states, and has no noise: if it is wrong, all counts are off by a part.",
)


@dataclass(frozen=True)
class TopDown(Analysis):
    """Counts by some columns for each place of several levels, of which every one lies within one of the level above.

    Method      noisy tables of every level; weighted least squares over all of them; then whole numbers, root first:
                the nearest that are not negative and add up to the place above, rounded by largest remainders.
    Guarantee   the measurements of all levels composed: a row is in one cell of each.
    Bias        none of counts; whole counts of small cells are pushed up.
    Cite        Abowd et al. 2022 (TopDown); Hay et al. 2010 (least squares on trees).
    """

    tag: ClassVar[str] = "TopDown"
    name: ClassVar[str] = "top_down"
    relation: Relation
    places: tuple[ReleaseColumn, ...]
    geography: Geography
    columns: tuple[ReleaseColumn, ...]
    parts: tuple[Fraction, ...]  # of the price, one for each measured level
    total: int | None = None
    norm: Literal[0, 1, 2] = 0  # that of the noise which a price buys; 0 before there is one

    def specialize_for(self, price: Price) -> Self:
        return replace(self, norm=norm_of(price))

    @property
    def levels(self) -> range:
        """Those that are measured: the root is not where all there is to know of it is public."""
        return list_levels(len(self.places), self._cells, self.total)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return tuple((self._ask(level), part) for level, part in zip(self.levels, self.parts, strict=True))

    def planned_measures(self, price: Price) -> Round:
        return tuple(Measure(query, price * part) for query, part in self.specialize_for(price).shares)

    def steps(self, price: Price) -> Steps:
        suited = self.specialize_for(price)
        measured = yield suited.planned_measures(price)
        return suited.tabulate(*measured)

    def expected_result(self, price: Price, rows: int) -> ResultTable:
        """The same errors without whole numbers."""
        suited = self.specialize_for(price)
        supposed = (
            Measured(suited._simulate(level, rows), each.mechanism)
            for level, each in zip(self.levels, suited.planned_measures(price), strict=True)
        )
        return suited._table(tuple(supposed), whole=False)

    def tabulate(self, *measured: Measured) -> ResultTable:
        """Counts of all levels from what was measured of each."""
        return self._table(measured, whole=True)

    @property
    def _cells(self) -> int:
        return count_cells(self.columns)

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.columns))

    @property
    def _attributes(self) -> tuple[Attribute, ...]:
        return tuple(column.attribute for column in (*self.places, *self.columns))

    @property
    def _weights(self) -> tuple[int, int]:
        """What counts and sums are multiplied by."""
        summed = self._cells >= _FEWEST[self.norm or 1]
        return (_UNIT * _TABLE, _UNIT * _SUMS) if summed else (_UNIT, 0)

    def _ask(self, level: int) -> Query:
        """Sums of the finest table: rows that are in no place of one level are in none of any."""
        nested, (alone, together) = self.geography.is_nested, self._weights
        keys = tuple(column.key for column in (*self.places[-1 if nested else 0 :], *self.columns))
        nodes = _group_leaves(self.geography, level)
        blocks = [(*nodes, _scale(Matrix.identity(self._cells), alone))]
        if together:
            blocks.append((*nodes, _scale(Matrix.total(self._cells), together)))
        return Query(self.relation, keys, Combination(tuple(blocks)))

    def _simulate(self, level: int, rows: int) -> NDArray[np.int64]:
        """What would be measured of rows that are spread evenly."""
        nodes, (alone, together) = self.geography.count_nodes(level), self._weights
        cells = np.full(nodes * self._cells, rows * alone // (nodes * self._cells))
        return np.concatenate([cells, np.full(nodes if together else 0, rows * together // nodes)])

    def _read(self, level: int, measured: Measured) -> LevelTable:
        nodes, (alone, together) = self.geography.count_nodes(level), self._weights
        values, variance = np.asarray(measured.values, dtype=np.float64), measured.noise.continuous.cumulants.variance
        cells = values[: nodes * self._cells].reshape(nodes, self._cells) / alone
        if not together:
            return LevelTable(level, cells, alone**2 / variance, np.zeros(nodes))
        return LevelTable(level, cells, alone**2 / variance, values[cells.size :] / together, together**2 / variance)

    def _table(self, measured: Sequence[Measured], *, whole: bool) -> ResultTable:
        tails = measured[0].noise.continuous.tails
        tables = [self._read(*each) for each in zip(self.levels, measured, strict=True)]
        release = NestedRelease.solve(self.geography, self._shape, tables, self.total)
        counts = round_levels(release, self.total) if whole else None
        values, variances = list_counts(release)
        lines = LevelLines(self.geography, self._attributes)
        return ResultTable(
            lines.label(),
            {"count": replace(estimate_counts(values, variances, tails, "least squares"), limits=(0.0, inf))},
            self._notes,
            facts={"whole_count": lambda: [None] * len(values) if counts is None else list_whole(release, counts)},
            product=None if counts is None else self._publish(release, tails, counts),
        )

    def _publish(self, release: NestedRelease, tails: Tails, counts: Sequence[NDArray[np.int64]]) -> Product:
        """What all counts follow from, and the whole numbers of every level by its own column and those above."""
        last = tuple(range(len(self.places), len(self._attributes)))
        tables = {(*range(level), *last): fill_table(release, level, counts[level]) for level in range(len(counts))}
        tables.pop((), None)
        about = {
            "method": self.name,
            "levels": [column.attribute.name for column in self.places],
            "parts": [str(part) for part in self.parts],
            "total": self.total,
        }
        return Product(self._attributes, release, tails, tables=tables, about=about)

    @property
    def _notes(self) -> tuple[Note, ...]:
        nested = (_NESTED,) if self.geography.above else ()
        return (COUNTS, _WHOLE, *nested, *(() if self.total is None else (_GIVEN,)))


def list_levels(places: int, cells: int, total: int | None) -> range:
    """The levels that are measured, the root being 0."""
    return range(1 if total is not None and cells == 1 else 0, places + 1)


def _group_leaves(geography: Geography, level: int) -> tuple[Matrix, ...]:
    """What adds the finest places up to those of a level: one matrix, or of all combinations one for each level."""
    if not geography.is_nested:
        sizes = enumerate(geography.sizes)
        return tuple(Matrix.identity(size) if place < level else Matrix.total(size) for place, size in sizes)
    rows: list[list[tuple[int, int]]] = [[] for _ in range(geography.count_nodes(level))]
    for leaf, node in enumerate(geography.nodes[level].tolist()):
        rows[node].append((leaf, 1))
    return (Matrix(geography.leaves, tuple(map(tuple, rows))),)


def _scale(matrix: Matrix, weight: int) -> Matrix:
    return Matrix(matrix.columns, tuple(tuple((column, weight * each) for column, each in row) for row in matrix.rows))


def _all_columns(arguments: Arguments) -> Arguments:
    """The arguments with levels and columns as those of the release."""
    return {**arguments, "columns": (*arguments["levels"], *(arguments["columns"] or ()))}


def _show(frame: Frame, arguments: Arguments) -> tuple[str, ...]:
    return show_columns(frame, _all_columns(arguments))


def _build(frame: Frame, arguments: Arguments) -> TopDown:
    names, many = _all_columns(arguments)["columns"], len(arguments["levels"])
    if many > _MOST_LEVELS:
        raise BadArgument("levels", f"are {many}", f"name at most {_MOST_LEVELS}")
    if len(set(names)) < len(names):
        raise BadArgument("columns", "name one that is there already", "name every column once")
    relation, columns = read_columns(frame, _all_columns(arguments))
    geography = read_geography([column.attribute for column in columns[:many]], arguments["nesting"])
    cells, total = count_cells(columns[many:]), arguments["total"]
    if geography.leaves * cells > MOST_CELLS:
        why = f"make {geography.leaves * cells:,} cells with the levels, more than {MOST_CELLS:,}"
        raise BadArgument("columns", why, "name fewer, say by nesting => which places lie where, or take fewer bins =>")
    parts = _share(arguments["level_shares"], len(list_levels(many, cells, total)))
    return TopDown(relation, columns[:many], geography, columns[many:], parts, total)


def _share(wanted: Sequence[Fraction] | None, levels: int) -> tuple[Fraction, ...]:
    """The parts of the price that the levels get: equal ones, or as asked."""
    if not wanted:
        return (Fraction(1, levels),) * levels
    if len(wanted) != levels or min(wanted) <= 0:
        why = f"must be {levels} numbers above 0, one for each level that is measured, from the whole to the finest"
        raise BadArgument("level_shares", why, "leave them out for equal parts")
    return tuple(Fraction(each) / sum(map(Fraction, wanted)) for each in wanted)


METHOD = Method(
    "top_down",
    "releases",
    "Counts for places that lie within each other, which add up from the smallest place to the whole.",
    (
        Parameter("levels", "names", "the columns that say where a row belongs, from coarse to fine", required=True),
        Parameter("columns", "names", "what rows are counted by at every place; without them rows alone are counted"),
        Parameter(
            "nesting",
            "text",
            "which places lie in which: 'south: Oslo, Hamar; west: Bergen'; without it all combinations are possible",
        ),
        BINS,
        MISSING_VALUES,
        Parameter(
            "level_shares", "numbers", "parts of the price for the whole and each level; equal ones if not given"
        ),
        Parameter("total", "integer", "how many rows there are in all, if that is public", lower=0, upper=2**53),
    ),
    _build,
    {
        "count": "rows with these values",
        "whole_count": "the same as a whole number that is not negative; parts add up to what they are parts of",
    },
    "SELECT * FROM top_down(people, levels => (city), columns => (sex))",
    {"US Census Bureau": "Disclosure Avoidance System"},
    notes=(
        (
            "Which places lie in which is never read from the rows. Without nesting => every combination is counted, "
            "and those that are impossible have counts of noise."
        ),
    ),
    shows=_show,
)


def round_levels(release: NestedRelease, total: int | None = None) -> list[NDArray[np.int64]]:
    """Whole numbers that are not negative, of the root and every level, one line a node.

    Cite        Abowd et al. 2022: a level is fixed before the next, least squares within its limits.
    """
    root = release.add_level(0)[0]
    whole = np.array(max(0, round(float(root.sum()))) if total is None else total)
    found = [round_remainders(project(root, whole.astype(np.float64)), whole)[None, :]]
    for level in range(1, len(release.geography.sizes) + 1):
        found.append(_round_below(found[-1], release.add_level(level), list_children(release.geography, level)))
    return found


def list_children(geography: Geography, level: int) -> NDArray[np.int64]:
    """The nodes of a level in each node of the one above, one line for each of these, filled up with -1."""
    above, own = geography.nodes[level - 1], geography.nodes[level]
    nodes, first = np.unique(own, return_index=True)
    parents = above[first]
    order = np.argsort(parents, kind="stable")
    sizes = np.bincount(parents, minlength=geography.count_nodes(level - 1))
    places = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = np.full((len(sizes), int(sizes.max())), -1)
    found[parents[order], places] = nodes[order]
    return found


def _round_below(above: NDArray[np.int64], values: Floats, children: NDArray[np.int64]) -> NDArray[np.int64]:
    """The counts of a level that add up to whole numbers above it, in every cell by itself."""
    # Nobody is in a child that is not there: it is farther below zero than any other, and so becomes zero.
    apart = np.where(children[:, None, :] >= 0, np.moveaxis(values[children], 2, 1), -np.inf)
    whole = round_remainders(project(apart, above.astype(np.float64)), above)
    found = np.zeros(values.shape, dtype=np.int64)
    there = children >= 0
    found[children[there]] = np.moveaxis(whole, 1, 2)[there]
    return found
