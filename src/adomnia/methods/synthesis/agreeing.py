"""Whole numbers that are not negative, near to estimates, and agree: every table has the sums that smaller ones say."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from adomnia.methods.synthesis.fitted_rows import MOST_ROWS, fit_rows, tabulate_rows
from adomnia.methods.synthesis.planning import list_closure, list_tables
from adomnia.methods.synthesis.residuals import Columns, Residuals
from adomnia.methods.synthesis.rounding import round_within
from adomnia.noise.afterwards import Generator
from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

NO_WHOLE = "There is no whole_count: tables that overlap so are those of drawn rows, which would be too many here."
_ALTERNATIONS = 40
_NEAR = 0.1  # rows: nearer than that need sums not be before they are rounded
_LARGEST_TOTAL = 2**48


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
    return round_to_total(project_to_total(finest.ravel(), total), total).reshape(finest.shape)


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


def project_to_total(values: Floats, total: float) -> Floats:
    """The nearest values that are not negative and have that total."""
    found: Floats = project_rows(values[np.newaxis], np.array([float(total)]))[0]
    return found


def round_to_total(values: Floats, total: int) -> Places:
    """Whole numbers of that total: rounded down, and one more where most was left out."""
    whole = np.floor(values + 1e-9).astype(np.int64)
    missing = total - int(whole.sum())
    order = np.argsort(whole - values, kind="stable")
    whole[order[:missing]] += 1
    return whole


def project_rows(table: Floats, sums: Floats) -> Floats:
    """Every row moved by one number, and cut at 0, so that it has its sum."""
    return np.maximum(0.0, table + _shift_rows(table, sums)[:, np.newaxis])


def _shift_rows(table: Floats, sums: Floats) -> Floats:
    """What is added to each row: of its largest values, as many as stay above 0, the mean of what is missing."""
    ordered = -np.sort(-table, axis=1)
    numbers = np.arange(1, table.shape[1] + 1)
    shifts = (sums[:, np.newaxis] - np.cumsum(ordered, axis=1)) / numbers
    last = np.count_nonzero(ordered + shifts > 0, axis=1) - 1
    found = np.take_along_axis(shifts, np.maximum(last, 0)[:, np.newaxis], axis=1)[:, 0]
    return np.where(sums > 0, found, -ordered[:, 0])


def project_to_sums(table: Floats, rows: Places, columns: Places) -> Floats:
    """A table near to this one, not negative, with these sums of its rows and of its columns, up to rounding errors.

    The nearest one is the table plus a number for each row and for each column, cut at 0: rows and columns are shifted
    in turns until their sums are nearly right (Hildreth 1957), and what is missing is put where both miss it.
    """
    row_sums, column_sums = rows.astype(np.float64), columns.astype(np.float64)
    by_columns = np.zeros(table.shape[1])
    for _ in range(_ALTERNATIONS):
        by_rows = _shift_rows(table + by_columns, row_sums)
        shifted = table + by_rows[:, np.newaxis]
        by_columns = _shift_rows(np.ascontiguousarray(shifted.T), column_sums)
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
