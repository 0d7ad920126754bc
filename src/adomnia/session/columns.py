"""The columns of an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

from adomnia.plans.finish import find_estimates, find_table
from adomnia.plans.intervals import estimate_term
from adomnia.privacy.keys import Key, key_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adomnia.plans.plan import Output, Plan
    from adomnia.privacy.keys import Label
    from adomnia.statistics.contract import Bounds, Estimate, Floats, Result, Statistic

Cell: TypeAlias = str | bool | int | float | date


@dataclass(frozen=True)
class KeyColumn:
    """A column of the answer that is public: declared values of a key, or a column of public tables."""

    name: str
    values: tuple[Cell | None, ...]

    def only(self, cells: tuple[int, ...]) -> KeyColumn:
        """Only the given cells."""
        return replace(self, values=tuple(self.values[cell] for cell in cells))


@dataclass(frozen=True)
class ValueColumn:
    """A statistic's column of the answer."""

    name: str
    estimate: Estimate

    def only(self, cells: tuple[int, ...]) -> ValueColumn:
        """Only the given cells."""
        whole = self.estimate
        places = list(cells)

        def interval(confidence: float, together: int) -> Bounds:
            lower, upper = whole.interval(confidence, together)
            return lower.ravel()[places], upper.ravel()[places]

        values = whole.values.ravel()[places]
        return replace(self, estimate=replace(whole, values=values, interval=interval, parts=(), derivation=None))


def read_dates(days: Floats) -> list[date | None]:
    """The dates that are so many days after the first of the calendar; None where nothing is known."""
    return [date.min + timedelta(days=day) if isfinite(day) else None for day in days.tolist()]


def build_columns(plan: Plan, results: Mapping[Statistic, Result]) -> tuple[KeyColumn | ValueColumn, ...]:
    """The columns of a plan's outputs over all of its cells, or of the table that is its result."""
    return tuple(column for output in plan.outputs for column in _columns(plan, output, results))


def _columns(plan: Plan, output: Output, results: Mapping[Statistic, Result]) -> Iterator[KeyColumn | ValueColumn]:
    source = output.source
    if isinstance(source, Key):
        yield KeyColumn(output.name, _cells(plan, source))
        return
    table = find_table(results)
    if table is None:
        yield ValueColumn(output.name, estimate_term(source, find_estimates(results)))
        return
    yield from (KeyColumn(name, labels) for name, labels in table.labels.items())
    yield from (ValueColumn(name, estimate) for name, estimate in table.estimates.items())


def _cells(plan: Plan, key: Key) -> tuple[Label, ...]:
    """The value of a key in each cell, cells counted with the last key fastest."""
    values = [key_values(each) for each in plan.keys]
    place = plan.keys.index(key)
    return tuple(cell[place] for cell in product(*values))
