"""Whole numbers that are not negative, near to estimates, and agree: every table has the sums that smaller ones say."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from adomnia.distributions.margins import margin
from adomnia.distributions.projections import find_levels, project, round_remainders
from adomnia.mechanisms.contract import Tails, find_alpha
from adomnia.messages.texts import define_note
from adomnia.methods.synthesis.planning import list_closure, list_tables
from adomnia.methods.synthesis.residuals import Columns, Residuals
from adomnia.noise.afterwards import Generator
from adomnia.statistics.contract import Bounds, Estimate, Floats
from adomnia.statistics.products import Places

COUNTS = define_note(
    "counts_right_on_average",
    "Counts are about the data, and intervals about noise. They are right on average: of few rows some are below zero.",
)
NO_WHOLE = define_note(
    "no_whole_counts",
    "There is no whole_count: tables that overlap so are those of drawn rows, which would be too many here.",
)
_ALTERNATIONS = 40
_NEAR = 0.1  # rows: nearer than that need sums not be before they are rounded
_LARGEST_TOTAL = 2**48
_SLACK, _SLACK_OF_TOTAL, _MOST_SLACK = 1e-9, 1e-14, 1e-3  # what sums of doubles may be off by
_LIKELY = (0.5, 0.2)  # numbers are rounded up first where they are nearer to the one above
MOST_ROWS = 2_000_000
_MOST_PASSES = 40
_WORK = 30_000_000  # rows that are looked at in all passes over all tables
_SLOWER = 0.9  # of what is wrong is moved, in each pass so much of what the one before moved


@dataclass(frozen=True)
class Agreement:
    """Whole tables that agree, by their columns, and the rows that they are counted of where rows were drawn."""

    tag: ClassVar[str] = "Agreement"
    tables: Mapping[Columns, Places] = field(default_factory=dict)
    rows: Places | None = None


def agree(estimates: Residuals, ways: int, draw: Callable[[], Generator]) -> Agreement:
    """Whole tables near to all estimated ones of up to so many columns; none where it would take too many rows."""
    sizes = estimates.sizes
    closure = list_closure(sizes, ways)
    total = round(min(max(float(estimates.marginal(())), 0.0), _LARGEST_TOTAL))
    if ways <= 2:
        return Agreement(agree_pairwise({columns: estimates.marginal(columns) for columns in closure}, total))
    if ways == len(sizes):
        finest = agree_singly(estimates.marginal(closure[-1]), total)
        return Agreement({columns: _add_up(finest, columns) for columns in closure})
    if total > MOST_ROWS:
        return Agreement()
    wanted = {columns: agree_singly(estimates.marginal(columns), total) for columns in list_tables(sizes, ways)}
    rows = fit_rows(wanted, sizes, total, draw())
    return Agreement({columns: tabulate_rows(rows, columns, sizes) for columns in closure}, rows)


def _add_up(finest: Places, columns: Columns) -> Places:
    return np.asarray(finest.sum(axis=tuple(axis for axis in range(finest.ndim) if axis not in columns)))


def agree_singly(finest: Floats, total: int) -> Places:
    """One table of that total. Those of fewer columns are its sums."""
    flat = project(finest.ravel(), np.array(float(total)))
    return round_remainders(flat, np.array(total)).reshape(finest.shape)


def agree_pairwise(estimates: Mapping[Columns, Floats], total: int) -> dict[Columns, Places]:
    """Tables of one column and of pairs of them: the sums of every pair are the tables of its columns."""
    single: dict[Columns, Places] = {
        columns: agree_singly(table, total) for columns, table in estimates.items() if len(columns) == 1
    }
    found: dict[Columns, Places] = {(): np.array(total), **single}
    for columns, table in estimates.items():
        if len(columns) == 2:
            rows, others = single[columns[:1]], single[columns[1:]]
            found[columns] = round_within(project_to_sums(table, rows, others), rows, others)
    return found


def project_to_sums(table: Floats, rows: Places, columns: Places) -> Floats:
    """A table near to this one, not negative, with these sums of its rows and of its columns, up to rounding errors.

    The nearest one is the table plus a number for each row and for each column, cut at 0: rows and columns are shifted
    in turns until their sums are nearly right (Hildreth 1957), and what is missing is put where both miss it.
    """
    row_sums, column_sums = rows.astype(np.float64), columns.astype(np.float64)
    by_columns = np.zeros(table.shape[1])
    for _ in range(_ALTERNATIONS):
        by_rows = -find_levels(table + by_columns, row_sums)
        shifted = table + by_rows[:, np.newaxis]
        by_columns = -find_levels(np.ascontiguousarray(shifted.T), column_sums)
        found = np.maximum(0.0, shifted + by_columns)
        if np.abs(found.sum(axis=1) - row_sums).max() < _NEAR:
            break
    return _meet_sums(found, row_sums, column_sums)


def _meet_sums(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """What rows and columns have too much of is taken away, and what is missing put back (Altschuler et al. 2017)."""
    table = table * np.minimum(1.0, rows / np.maximum(table.sum(axis=1), 1e-300))[:, np.newaxis]
    table = table * np.minimum(1.0, columns / np.maximum(table.sum(axis=0), 1e-300))
    row_gaps, column_gaps = np.maximum(rows - table.sum(axis=1), 0), np.maximum(columns - table.sum(axis=0), 0)
    missing = row_gaps.sum()
    return table + np.outer(row_gaps, column_gaps) / missing if missing > 0 else table


def round_within(table: Floats, rows: Places, columns: Places) -> Places:
    """Whole numbers with these sums, each below or above the number in the table, which has them too.

    A flow of ones from rows to columns (Bacharach 1966): what the table has beyond the numbers below is one itself, of
    fractions, so that there is one of whole numbers. Cells that are nearer to the number above are tried first, and
    given back where others need that.
    """
    slack = min(_SLACK + _SLACK_OF_TOTAL * float(rows.sum()), _MOST_SLACK)
    whole = np.floor(table + slack).astype(np.int64)
    left = table - whole
    up = np.zeros(table.shape, dtype=bool)
    for least in (*_LIKELY, slack):
        up = _send(up, left >= least, rows - whole.sum(axis=1), columns - whole.sum(axis=0))
    return _repair(whole + up, rows, columns)


def _send(up: NDArray[np.bool_], open_cells: NDArray[np.bool_], rows: Places, columns: Places) -> NDArray[np.bool_]:
    """The most that rows and columns can still take through open cells; what was sent before may be sent elsewhere."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    needs = np.maximum(rows - up.sum(axis=1), 0), np.maximum(columns - up.sum(axis=0), 0)
    if not needs[0].any():
        return up
    height, width = up.shape
    source, sink = height + width, height + width + 1
    forward, back = np.nonzero(open_cells & ~up), np.nonzero(up)
    starts = np.concatenate([forward[0], back[1] + height, np.full(height, source), np.arange(width) + height])
    ends = np.concatenate([forward[1] + height, back[0], np.arange(height), np.full(width, sink)])
    most = np.concatenate([np.ones(len(forward[0]) + len(back[0])), *needs]).astype(np.int32)
    network = csr_array((most, (starts, ends)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(network, source, sink).flow[:height, height:source].toarray()
    # Between a row and a column one direction is open alone: a flow to the column sets, one from it takes back.
    changed: NDArray[np.bool_] = (up.astype(np.int64) + flow) > 0
    return changed


def _repair(table: Places, rows: Places, columns: Places) -> Places:
    """The table, and where doubles were too coarse for its sums, what is missing put into cells where both miss it."""
    if np.array_equal(table.sum(axis=1), rows) and np.array_equal(table.sum(axis=0), columns):
        return table
    found = _cut_rows(_cut_rows(table, rows).T, columns).T.copy()
    missing = rows - found.sum(axis=1), columns - found.sum(axis=0)
    for row in np.flatnonzero(missing[0]):
        for column in np.flatnonzero(missing[1]):
            added = min(missing[0][row], missing[1][column])
            found[row, column] += added
            missing[0][row] -= added
            missing[1][column] -= added
    return found


def _cut_rows(table: Places, sums: Places) -> Places:
    """Rows that have more than their sum, shortened to at most that."""
    factors = np.where(table.sum(axis=1) > sums, sums / np.maximum(table.sum(axis=1), 1) * (1 - 1e-9), 1.0)
    return np.asarray(np.floor(table * factors[:, np.newaxis]), dtype=np.int64)


def fit_rows(tables: Mapping[Columns, Places], sizes: Sequence[int], total: int, generator: Generator) -> Places:
    """So many rows, with the place of a value in every column: moved towards one table after the other.

    The gradual update of Zhang et al. 2021: of cells that have too many rows some are given to cells that have too few,
    where they become copies of a row of that cell, or take over its values alone.
    """
    rows = np.empty((total, len(sizes)), dtype=np.int32)
    for column in range(len(sizes)):
        rows[:, column] = generator.permutation(_start(tables, column, total))
    passes = max(2, min(_MOST_PASSES, _WORK // max(1, total * len(tables))))
    names = list(tables)
    for step in range(passes if total else 0):
        for place in generator.permutation(len(names)):
            _move(rows, names[place], tables[names[place]], _SLOWER**step, generator)
    return rows


def tabulate_rows(rows: Places, columns: Columns, sizes: Sequence[int]) -> Places:
    """How many rows have each of the values of some columns."""
    shape = [sizes[column] for column in columns]
    return np.bincount(_place(rows, columns, shape), minlength=prod(shape)).reshape(shape)


def _start(tables: Mapping[Columns, Places], column: int, total: int) -> Places:
    """The values of a column, as often as the first table that has it says."""
    columns, table = next((columns, table) for columns, table in tables.items() if column in columns)
    others = tuple(axis for axis, each in enumerate(columns) if each != column)
    return np.repeat(np.arange(table.shape[columns.index(column)]), table.sum(axis=others))[:total]


def _place(rows: Places, columns: Columns, shape: Sequence[int]) -> Places:
    if not columns:
        return np.zeros(len(rows), dtype=np.int64)
    return np.ravel_multi_index([rows[:, column] for column in columns], shape)


def _move(rows: Places, columns: Columns, table: Places, pace: float, generator: Generator) -> None:
    """Give rows of cells with too many to cells with too few."""
    places, wanted = _place(rows, columns, table.shape), table.ravel()
    counts = np.bincount(places, minlength=wanted.size)
    shuffled = generator.permutation(len(rows))
    small = places.astype(
        np.uint16 if wanted.size <= 2**16 else np.int64
    )  # sorted without comparing, where they can be
    order = shuffled[np.argsort(small[shuffled], kind="stable")]  # by cells, in each of them at random
    starts = np.cumsum(counts) - counts
    surplus = np.ceil(pace * np.maximum(counts - wanted, 0)).astype(np.int64)
    ranks = np.arange(len(rows)) - starts[places[order]]
    moved = generator.permutation(order[ranks < surplus[places[order]]])
    missing = np.maximum(wanted - counts, 0)
    cells = generator.permutation(np.repeat(np.arange(wanted.size), missing))[: len(moved)]
    moved = moved[: len(cells)]
    copied = (generator.random(len(cells)) < 0.5) & (counts[cells] > 0)
    models = order[starts[cells[copied]] + generator.integers(0, counts[cells[copied]])]
    rows[moved[copied]] = rows[models]
    rows[np.ix_(moved[~copied], columns)] = np.stack(np.unravel_index(cells[~copied], table.shape), axis=1)


def estimate_counts(values: Floats, variances: Floats, tails: Tails, method: str) -> Estimate:
    """Counts that are right on average, so that they may be below zero, with intervals of their noise."""
    deviations = np.sqrt(variances)

    def interval(confidence: float, cells: int) -> Bounds:
        far = margin(tails, find_alpha(confidence, cells)) * deviations
        return values - far, values + far

    return Estimate(values, interval, method)
