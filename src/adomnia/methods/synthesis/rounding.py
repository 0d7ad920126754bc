"""Controlled rounding: a table with whole sums becomes whole, every number the one below or above it."""

import numpy as np
from numpy.typing import NDArray

from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Places

_SLACK, _SLACK_OF_TOTAL, _MOST_SLACK = 1e-9, 1e-14, 1e-3  # what sums of doubles may be off by
_LIKELY = (0.5, 0.2)  # numbers are rounded up first where they are nearer to the one above


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
