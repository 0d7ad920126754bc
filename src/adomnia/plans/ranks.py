"""Ranks of the rows of an answer: by their noisy values, and what they may be by the exact ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adomnia.plans.cells import sort_cells
from adomnia.plans.formulas import may_be_null
from adomnia.plans.intervals import estimate_term
from adomnia.privacy.keys import Key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adomnia.plans.cells import Cells, Membership
    from adomnia.plans.formulas import WindowFunction
    from adomnia.statistics.contract import Bounds, Floats

RANKS = ("row_number", "rank", "dense_rank")


def rank_values(over: WindowFunction, cells: Cells, rows: NDArray[np.intp], groups: NDArray[np.intp]) -> Floats:
    """The rank of each row among those of its group; NULL in cells that are no row."""
    rows = np.sort(rows)
    by = [(order, cells.sort_values(order)) for order in over.order]
    rows = sort_cells(rows, by)
    rows = rows[np.argsort(groups[rows], kind="stable")]
    begins = np.r_[True, groups[rows][1:] != groups[rows][:-1]][: len(rows)]
    changes = begins.copy()
    for _, values in by:
        found = values[rows]
        changes[1:] |= (found[1:] != found[:-1]) & ~(np.isnan(found[1:]) & np.isnan(found[:-1]))
    ranks = np.full(cells.size, np.nan)
    if len(rows):
        ranks[rows] = _number(over.function, begins, changes)
    return ranks


def _number(function: str, begins: NDArray[np.bool_], changes: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The rank of sorted rows, by where groups begin and where values change."""
    places = np.arange(len(begins))
    first = np.maximum.accumulate(np.where(begins, places, 0))
    if function == "row_number":
        return np.asarray(places - first + 1)
    if function == "rank":
        return np.asarray(np.maximum.accumulate(np.where(changes, places, 0)) - first + 1)
    counted = np.cumsum(changes)
    return np.asarray(counted - counted[first] + 1)


def rank_bounds(over: WindowFunction, cells: Cells, members: Membership, each: float) -> Bounds | None:
    """The least and the greatest rank, where every row is within its interval; None where one of them may be NULL."""
    first = over.order[0]
    if isinstance(first.by, Key):
        lower = upper = cells.sort_values(first)
    elif may_be_null(first.by):
        return None
    else:
        ends = estimate_term(first.by, cells).interval(each, 1)
        lower, upper = (np.broadcast_to(end, cells.shape).ravel() for end in ends)
    if first.descending:
        lower, upper = -upper, -lower
    strict = over.function == "rank" and len(over.order) == 1
    before = _count_below(members.groups, upper, members.sure, lower, strict=True)
    maybe = _count_below(members.groups, lower, members.maybe, upper, strict=strict)
    itself = members.maybe & (lower < upper if strict else True)
    least = 1 + (np.minimum(before, 1) if over.function == "dense_rank" else before)
    return least.astype(np.float64), np.maximum(1 + maybe - itself, least).astype(np.float64)


def _count_below(
    groups: NDArray[np.intp], values: Floats, counted: NDArray[np.bool_], limits: Floats, *, strict: bool
) -> NDArray[np.intp]:
    """For each limit, how many of the counted values of its group are below it, or also equal to it."""
    size = len(groups)
    both = np.concatenate([groups, groups])
    numbers = np.concatenate([values, limits])
    is_limit = np.repeat([False, True], size)
    # Of what is equal, limits come first where only what is below them counts.
    order = np.lexsort((~is_limit if strict else is_limit, numbers, both))
    counts = np.concatenate([counted, np.zeros(size, dtype=bool)])[order]
    up_to = np.cumsum(counts)
    starts = np.r_[True, both[order][1:] != both[order][:-1]]
    before = np.maximum.accumulate(np.where(starts, up_to - counts, 0))
    found = np.empty(2 * size, dtype=np.intp)
    found[order] = up_to - before
    return found[size:]
