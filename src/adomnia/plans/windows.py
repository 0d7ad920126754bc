"""Functions of several rows of an answer: totals, means, extremes and counts of rows, and how their intervals follow.

A total of sums that were measured is a sum too: the row's own value, and rings around it, each of noise of its own. So
a share of a total knows that its row is part of it. Where the rows were chosen by noisy values, or the function is no
sum, all rows are within their intervals at once, and the ends are the least and the greatest value of that: a row that
may be among those that count, or not, counts where that makes the interval longer.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from adomnia.distributions.margins import divide_confidence
from adomnia.plans.cells import Cells, LeftRows, Membership, sort_cells, with_values
from adomnia.plans.formulas import Term, WindowFunction, leaves_of, may_be_null, walk
from adomnia.plans.intervals import around, estimate_term, find_line
from adomnia.privacy.keys import Key
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured, join_about
from adomnia.statistics.linear import Ring, linear
from adomnia.statistics.summed import as_addable, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

    from adomnia.plans.plan import Plan

_METHOD = "of rows of the answer, by the distribution of their noise"
_BOXED = "of rows of the answer, each within its interval"
_CUT = "of rows that LIMIT chose by noisy values: nothing is known of others"
RANKS = ("row_number", "rank", "dense_rank")


class WindowedCells(Cells):
    """Cells of which functions of several rows are known too."""

    def __missing__(self, leaf: Term) -> Estimate:
        if not isinstance(leaf, WindowFunction):
            return super().__missing__(leaf)
        self[leaf] = _estimate(leaf, self)
        return self[leaf]


def _estimate(over: WindowFunction, cells: Cells) -> Estimate:
    """What a function of several rows is in each of them."""
    rows = cells.rows_at(over.stage)
    there = np.zeros(cells.size, dtype=bool)
    there[rows.cells] = True
    groups = np.unique(cells.groups(over.keys), return_inverse=True)[1].reshape(-1)
    if not rows.by_noise and over.function in ("sum", "avg"):
        found = _by_distribution(over, cells, Membership(groups, there, there))
        if found is not None:
            return found
    values = _values(over, cells, Membership(groups, there, there), rows).reshape(cells.shape)

    largest = int(np.bincount(groups).max(initial=1))

    def interval(confidence: float, simultaneous: int) -> Bounds:
        # A row is covered if all of its group are within their intervals at once; all rows, if all cells are.
        intervals = (largest if simultaneous == 1 else cells.size) * (2 if rows.by_noise else 1)
        with np.errstate(all="ignore"):
            lower, upper = _bounds(over, cells, rows, groups, divide_confidence(confidence, intervals))
        return around(values, (lower.reshape(cells.shape), upper.reshape(cells.shape)))

    method = f"{over.function.replace('_', ' ')} {_CUT if rows.cut else _BOXED}"
    about = join_about(cells[leaf] for term in over.terms for leaf in leaves_of(term))
    return Estimate(values, interval, method, _is_whole(over, cells), about=about)


def _is_whole(over: WindowFunction, cells: Cells) -> bool:
    counts = over.function in RANKS or over.function == "count"
    return counts or (over.function != "avg" and estimate_term(over.terms[0], cells).whole)


def _values(over: WindowFunction, cells: Cells, members: Membership, rows: LeftRows) -> Floats:
    if over.function in RANKS:
        return rank_values(over, cells, rows.cells, members.groups)
    values = cells.values_of(over.terms[0]) if over.terms else np.zeros(cells.size)
    there = members.sure & ~np.isnan(values)
    number = members.add(np.ones(cells.size), there)
    if over.function == "count":
        return number
    match over.function:
        case "min":
            found = members.extreme(values, there, np.minimum, np.inf)
        case "max":
            found = members.extreme(values, there, np.maximum, -np.inf)
        case function:
            found = members.add(values, there) / (np.maximum(number, 1.0) if function == "avg" else 1.0)
    return np.where(number > 0, found, np.nan)


def _bounds(over: WindowFunction, cells: Cells, rows: LeftRows, groups: NDArray[np.intp], each_sure: float) -> Bounds:
    """The ends, where every row is within its interval, and so is whether it counts, each with that confidence."""
    members = _members(cells, rows, groups, each_sure)
    if over.function in RANKS:
        found = None if rows.cut else rank_bounds(over, cells, members, each_sure)
        last = members.add(np.ones(cells.size), np.ones(cells.size, dtype=bool))
        return (np.ones(cells.size), last) if found is None else found
    if not over.terms:
        return members.add(np.ones(cells.size), members.sure), members.add(np.ones(cells.size), members.maybe)
    if rows.cut:
        return np.full(cells.size, -np.inf), np.full(cells.size, np.inf)
    term = over.terms[0]
    each = estimate_term(term, cells).interval(each_sure, 1)
    lower, upper = (np.broadcast_to(end, cells.shape).ravel() for end in each)
    if may_be_null(term):
        members = replace(members, sure=np.zeros_like(members.sure))
    return _FUNCTIONS[over.function](members, lower, upper)


def _members(cells: Cells, rows: LeftRows, groups: NDArray[np.intp], each_sure: float) -> Membership:
    base = np.zeros(cells.size, dtype=bool)
    base[cells.rows_at(0).cells] = True
    if rows.cut:
        return Membership(groups, np.zeros_like(base), base)
    ends = estimate_term(rows.condition, cells).interval(each_sure, 1)
    least, most = (np.broadcast_to(end, cells.shape).ravel() for end in ends)
    return Membership(groups, base & (least == 1), base & (most == 1))


def _sum_bounds(members: Membership, lower: Floats, upper: Floats) -> Bounds:
    low = np.where(members.sure, lower, np.minimum(lower, 0.0))
    high = np.where(members.sure, upper, np.maximum(upper, 0.0))
    return members.add(low, members.maybe), members.add(high, members.maybe)


def _mean_bounds(members: Membership, lower: Floats, upper: Floats) -> Bounds:
    number = members.add(np.ones(len(lower)), members.maybe)
    known = members.add(np.ones(len(lower)), members.sure) == number
    means = [members.add(end, members.maybe) / np.maximum(number, 1.0) for end in (lower, upper)]
    least = members.extreme(lower, members.maybe, np.minimum, np.inf)
    most = members.extreme(upper, members.maybe, np.maximum, -np.inf)
    return np.where(known, means[0], least), np.where(known, means[1], most)


def _least_bounds(members: Membership, lower: Floats, upper: Floats) -> Bounds:
    least = members.extreme(lower, members.maybe, np.minimum, np.inf)
    most = members.extreme(upper, members.maybe, np.maximum, -np.inf)
    sure = members.extreme(upper, members.sure, np.minimum, np.inf)
    return least, np.minimum(most, sure)


def _greatest_bounds(members: Membership, lower: Floats, upper: Floats) -> Bounds:
    least, most = _least_bounds(members, -upper, -lower)
    return -most, -least


def _count_bounds(members: Membership, _lower: Floats, _upper: Floats) -> Bounds:
    one = np.ones(len(members.groups))
    return members.add(one, members.sure), members.add(one, members.maybe)


_FUNCTIONS: dict[str, Callable[[Membership, Floats, Floats], Bounds]] = {
    "sum": _sum_bounds,
    "avg": _mean_bounds,
    "min": _least_bounds,
    "max": _greatest_bounds,
    "count": _count_bounds,
}


def _by_distribution(over: WindowFunction, cells: Cells, members: Membership) -> Estimate | None:
    """A total of noisy integers times constants, or their mean where as many rows are in every group."""
    line = find_line(over.terms[0], cells)
    numbers = members.add(np.ones(cells.size), members.sure)
    counted = set(numbers[members.sure].tolist())
    if line is None or not line.parts or not counted or (over.function == "avg" and len(counted) > 1):
        return None
    if line.constant and len(counted) > 1:
        return None
    number = Fraction(int(min(counted)))
    factor, added = (1 / number, line.constant) if over.function == "avg" else (Fraction(1), number * line.constant)
    chain = _find_chain(cells.plan, over)
    parts = tuple(
        (piece, share * factor)
        for measured, share in line.parts.values()
        for piece in _pieces(measured, cells, members.sure, chain, over.stage)
    )
    found = linear(parts, f"{over.function} {_METHOD}", added)
    values = _values(over, cells, members, cells.rows_at(over.stage)).reshape(cells.shape)
    return replace(
        with_values(found, values), unsigned=line.parts.keys() <= line.unsigned, whole=_is_whole(over, cells)
    )


def _pieces(
    measured: Measured, cells: Cells, there: NDArray[np.bool_], chain: list[tuple[Key, ...]], stage: int
) -> list[Measured]:
    """The row's own number, and those of the rings around it that make it the total of the last keys."""
    numbers = as_addable(measured.values.reshape(-1))
    found, total, count = [measured], np.where(there, numbers, 0), there.astype(np.intp)
    inner: frozenset[Hashable] | None = None
    for keys in chain:
        groups = np.unique(cells.groups(keys), return_inverse=True)[1].reshape(-1)
        wider = np.zeros(int(groups.max()) + 1, dtype=numbers.dtype)
        np.add.at(wider, groups[there], numbers[there])
        often = np.bincount(groups[there], minlength=len(wider))[groups]
        times = int((often - count)[there].max())
        ring = Ring(inner, frozenset(keys), stage)
        if times:
            values = np.asarray(wider[groups] - total).reshape(cells.shape)
            found.append(part_of(measured, values, times, ring))
        total, count, inner = wider[groups], often, ring.outer
    return found


def _find_chain(plan: Plan, over: WindowFunction) -> list[tuple[Key, ...]]:
    """The keys of all totals within that of some keys, from the narrowest on, if each is within the next."""
    terms = [*plan.terms, *over.terms]
    totals = [
        each for term in terms for each in walk(term) if isinstance(each, WindowFunction) and each.stage == over.stage
    ]
    inside = {frozenset(each.keys): each.keys for each in totals if each.function in ("sum", "avg")}
    around_it = sorted((keys for keys in inside if keys >= set(over.keys)), key=len, reverse=True)
    nested = all(narrow > wide for narrow, wide in pairwise(around_it))
    return [inside[keys] for keys in around_it] if nested and around_it else [over.keys]


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
