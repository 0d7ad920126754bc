"""The columns of an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from adomnia.plans.formulas import estimated
from adomnia.privacy.keys import Key, key_values

if TYPE_CHECKING:
    from adomnia.plans.plan import Plan
    from adomnia.privacy.keys import Label
    from adomnia.statistics.contract import Bounds, Estimate, Statistic

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

        return replace(self, estimate=replace(whole, values=whole.values.ravel()[places], interval=interval, parts=()))


def build_columns(plan: Plan, found: dict[Statistic, Estimate]) -> tuple[KeyColumn | ValueColumn, ...]:
    """The columns of a plan's outputs over all of its cells."""
    return tuple(
        KeyColumn(output.name, _cells(plan, output.source))
        if isinstance(output.source, Key)
        else ValueColumn(output.name, estimated(output.source, found))
        for output in plan.outputs
    )


def _cells(plan: Plan, key: Key) -> tuple[Label, ...]:
    """The value of a key in each cell, cells counted with the last key fastest."""
    values = [key_values(each) for each in plan.keys]
    place = plan.keys.index(key)
    return tuple(cell[place] for cell in product(*values))
