"""The cells of an answer: what is known of every one of them before it is computed with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adomnia.plans.formulas import (
    Formula,
    Grouping,
    Keyed,
    Order,
    Term,
    statistics_of,
)
from adomnia.plans.functions import KEY_COMPARISONS, UNKNOWN, noisy_values
from adomnia.plans.intervals import around
from adomnia.plans.plan import Choice, Plan, RowFilter, RowLimit
from adomnia.privacy.keys import Key, key_cells, key_values
from adomnia.statistics.contract import Bounds, Estimate, Floats, Statistic
from adomnia.statistics.summed import sum_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

EXACT = "follows from the keys, without noise"


class LeftRows(NamedTuple):
    """Some rows of the answer, and the choices that left them."""

    cells: NDArray[np.intp]
    choices: tuple[Choice, ...]

    @property
    def cut(self) -> bool:
        """Whether they are the first of some order."""
        return any(isinstance(choice, RowLimit) for choice in self.choices)

    @property
    def condition(self) -> Term:
        """What they fulfil."""
        return Formula("and", tuple(choice.condition for choice in self.choices if isinstance(choice, RowFilter)))

    @property
    def by_noise(self) -> bool:
        """Whether noisy values chose them."""
        return self.cut or any(True for _ in statistics_of(self.condition))


@dataclass(frozen=True)
class Membership:
    """Which rows of each group count for sure, and which may count; groups are numbered from zero."""

    groups: NDArray[np.intp]
    sure: NDArray[np.bool_]
    maybe: NDArray[np.bool_]

    @property
    def number(self) -> int:
        return int(self.groups.max(initial=-1)) + 1

    def add(self, values: Floats, where: NDArray[np.bool_]) -> Floats:
        """The total of each group, in each of its cells."""
        totals = np.bincount(self.groups[where], values[where].astype(np.float64), self.number)
        return np.asarray(totals[self.groups], dtype=np.float64)

    def extreme(self, values: Floats, where: NDArray[np.bool_], combine: np.ufunc, start: float) -> Floats:
        """The least or the greatest of each group, in each of its cells."""
        found = np.full(self.number, start)
        combine.at(found, self.groups[where], values[where])
        return found[self.groups]


def with_values(estimate: Estimate, values: Floats) -> Estimate:
    """The estimate with totals of values that were rounded one by one, as they are shown."""

    def interval(confidence: float, simultaneous: int) -> Bounds:
        return around(values, estimate.interval(confidence, simultaneous))

    return replace(estimate, values=values, interval=interval)


class Cells(dict[Any, Estimate]):
    """Estimates of one number a cell, for statistics and for all else that formulas are made of.

    The cells of a grouping by `kept` keys alone have a length of 1 along the others.
    """

    def __init__(
        self, plan: Plan, estimates: Mapping[Statistic, Estimate], kept: tuple[Key, ...] | None = None
    ) -> None:
        self.plan, self.kept = plan, plan.keys if kept is None else kept
        self.shape = tuple(len(key_cells(key)) if key in self.kept else 1 for key in plan.keys)
        self.size = prod(self.shape)
        axes = tuple(axis for axis, key in enumerate(plan.keys) if key not in self.kept)
        super().__init__({each: _coarsen(estimate, axes) for each, estimate in estimates.items()})
        self._left: dict[int, NDArray[np.intp]] = {}

    def __missing__(self, leaf: Term) -> Estimate:
        match leaf:
            case Keyed():
                self[leaf] = _exact(self._compared(leaf))
            case Grouping(key=key):
                self[leaf] = _exact(np.full(self.shape, float(key not in self.kept)))
            case _:
                raise KeyError(leaf)
        return self[leaf]

    def values_of(self, term: Term) -> Floats:
        """The value of a term in each cell, in one row."""
        return np.broadcast_to(noisy_values(term, self), self.shape).ravel()

    def places(self, key: Key) -> NDArray[np.intp]:
        """Which of a key's values each cell has; the number of them where it is added up over."""
        axis = self.plan.keys.index(key)
        if key not in self.kept:
            return np.full(self.size, len(key_cells(key)))
        return np.asarray(np.indices(self.shape)[axis].ravel())

    def labels(self, key: Key) -> tuple[Any, ...]:
        """The value of a key in each cell; None where it is added up over."""
        known = (*key_values(key), None)
        return tuple(known[place] for place in self.places(key))

    def rows_at(self, stage: int) -> LeftRows:
        """The rows that the first choices leave."""
        if stage not in self._left:
            before = self._all() if stage == 0 else self.rows_at(stage - 1).cells
            self._left[stage] = before if stage == 0 else self._choose(self.plan.choices[stage - 1], before)
        return LeftRows(self._left[stage], self.plan.choices[:stage])

    def _all(self) -> NDArray[np.intp]:
        named = self.plan.named
        return np.arange(self.size) if named is None else np.array(named, dtype=np.intp)

    def _choose(self, choice: Choice, cells: NDArray[np.intp]) -> NDArray[np.intp]:
        match choice:
            case RowFilter(condition=condition):
                return np.asarray(cells[self.values_of(condition)[cells] == 1])
            case RowLimit(order=order, limit=limit, offset=offset):
                return sort_cells(cells, [(each, self.sort_values(each)) for each in order])[offset:][:limit]
        return self._choose_once(choice.keys, cells)

    def _choose_once(self, keys: tuple[Key, ...], cells: NDArray[np.intp]) -> NDArray[np.intp]:
        if not keys and not len(cells):
            return np.zeros(1, dtype=np.intp)
        first: NDArray[np.intp] = np.unique(self.groups(keys)[cells], return_index=True)[1]
        return np.asarray(cells[np.sort(first)])

    def groups(self, keys: tuple[Key, ...]) -> NDArray[np.intp]:
        """A number for each combination of values of some keys, in each cell."""
        found = np.zeros(self.size, dtype=np.intp)
        for key in keys:
            found = found * (len(key_cells(key)) + 1) + self.places(key)
        return found

    def sort_values(self, order: Order) -> Floats:
        """What cells are sorted by: a key is NULL where it is added up over."""
        if not isinstance(order.by, Key):
            return self.values_of(order.by)
        return np.where(order.by in self.kept, self.places(order.by), np.nan)

    def _compared(self, leaf: Keyed) -> Floats:
        axis = self.plan.keys.index(leaf.key)
        if leaf.key not in self.kept:
            return np.full(self.shape, UNKNOWN)
        holds = [KEY_COMPARISONS[leaf.sign](label, leaf.value) for label in key_values(leaf.key)]
        flags = np.array(holds, dtype=np.float64)
        return np.broadcast_to(
            flags.reshape([-1 if each == axis else 1 for each in range(len(self.shape))]), self.shape
        )


def _exact(values: Floats) -> Estimate:
    def interval(_confidence: float, _cells: int) -> Bounds:
        return values, values

    return Estimate(values, interval, EXACT, whole=True)


def _coarsen(estimate: Estimate, axes: tuple[int, ...]) -> Estimate:
    if not axes:
        return estimate
    if estimate.coarsen is not None:
        return estimate.coarsen(axes)
    assert estimate.again is not None  # noqa: S101 - nothing else is added up over keys
    found = estimate.again(lambda measured: sum_over(measured, axes))
    return with_values(found, estimate.values.sum(axis=axes, keepdims=True)) if estimate.whole else found


def sort_cells(cells: NDArray[np.intp], by: list[tuple[Order, Floats]]) -> NDArray[np.intp]:
    """The cells in an order, NULL last unless it says first; what is equal stays as it was."""
    for order, values in reversed(by):
        found = values[cells]
        # Stable, and by the negative for DESC: reversing would turn the cells that are equal.
        found = -found if order.descending else found
        cells = cells[
            np.argsort(np.where(np.isnan(found), -np.inf, found) if order.nulls_first else found, kind="stable")
        ]
    return cells
