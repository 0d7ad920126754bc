"""From what was measured to answers: columns, their rows in order, and what to know of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from adomnia.plans.columns import KeyColumn, ValueColumn, build_columns, find_table, finish
from adomnia.plans.plan import DistinctRows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from adomnia.messages.notes import Note
    from adomnia.plans.plan import Plan
    from adomnia.statistics.contract import Result, ResultTable, Statistic
    from adomnia.statistics.products import Product


_PLAIN_PARTS = {"kind", "title"}  # of a figure's description, which name no column
_INTERVALS = 2  # of a column that are remembered: what is kept and what is shown, as a rule the same


@dataclass(frozen=True)
class Cap:
    """How many rows of a person count in one table.

    Without a profile nobody knows what that `leaves_out`. Where it is `shortened`, what a person adds to all groups
    together is cut to a length besides, and nobody knows how much that is in rows.
    """

    table: str
    rows: int
    leaves_out: LeftOut | None = None
    shortened: bool = False

    def __str__(self) -> str:
        counts = f"{self.rows:,} rows of a person count" if self.rows > 1 else "1 row of a person counts"
        fate = self.leaves_out or "how many rows that leaves out is not known"
        less = ", and people with many count less than that by an unknown part" if self.shortened else ""
        return f"{self.table}: at most {counts}{less}; {fate}"


@dataclass(frozen=True)
class LeftOut:
    """What a cap leaves out: an estimated share of all rows of the table, and its standard deviation.

    Few people with many rows cannot be seen: up to `hidden_people` may have more than `seen_rows`.
    """

    share: float
    deviation: float
    hidden_people: int
    seen_rows: int

    def __str__(self) -> str:
        share = f"about {100 * self.share:.2g}% (+-{100 * self.deviation:.1g}%) of all" if self.share else "no"
        hidden = (
            f", besides those of up to {self.hidden_people:,} people with over {self.seen_rows:,}, too few to be seen"
        )
        return f"{share} rows are seen to be left out{hidden * (self.hidden_people > 0)}"


@dataclass(frozen=True)
class DraftAnswer:
    """An answer before it is told what was paid for it; its fields are those of an Answer."""

    columns: tuple[KeyColumn | ValueColumn, ...]
    rows: NDArray[np.intp]
    confidence: float
    caps: tuple[Cap, ...] = ()
    notes: tuple[Note, ...] = ()
    figure: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    product: Product | None = None

    def only(self, cells: tuple[int, ...]) -> DraftAnswer:
        """Only the given cells, in ascending order; every row that is shown must be among them."""
        columns = tuple(column.only(cells) for column in self.columns)
        return replace(self, columns=columns, rows=np.searchsorted(cells, self.rows))


def draft_answer(
    plan: Plan,
    results: Mapping[Statistic, Result],
    confidence: float,
    caps: tuple[Cap, ...] = (),
    notes: tuple[Note, ...] = (),
) -> DraftAnswer:
    """What is answered to a question, whose intervals are computed once each, as soon as one is asked for."""
    columns, rows = build_columns(plan, results), finish(plan, results)
    table = find_table(plan, results)
    if table is not None:
        shown = (_shown_figure(table, plan), table.model, table.product)
        return DraftAnswer(_remember(columns), rows, confidence, caps, (*table.notes, *notes), *shown)
    draft = DraftAnswer(columns, rows, confidence, caps, notes)
    # What was not named was measured all the same, if only beside what was; of nothing, the made-up value has a type.
    cells = plan.named
    if any(isinstance(choice, DistinctRows) for choice in plan.inner):  # the others are in these
        cells = tuple(sorted(rows.tolist()))
    found = draft if cells is None else draft.only(cells or (0,))
    return replace(found, columns=_remember(found.columns))


def _remember(columns: Sequence[KeyColumn | ValueColumn]) -> tuple[KeyColumn | ValueColumn, ...]:
    return tuple(map(_remember_interval, columns))


def _remember_interval(column: KeyColumn | ValueColumn) -> KeyColumn | ValueColumn:
    if isinstance(column, KeyColumn):
        return column
    interval = lru_cache(_INTERVALS)(column.estimate.interval)
    return replace(column, estimate=replace(column.estimate, interval=interval))


def _shown_figure(table: ResultTable, plan: Plan) -> Mapping[str, Any]:
    """The description of a method's figure by the names that its columns are shown under; none if one is missing.

    Its `labels` are the columns that tell rows apart; what is neither a label nor measured is no key of a picture.
    """
    shown = {} if plan.view is None else {column: name for name, column in plan.view.columns}
    columns = {*table.labels, *table.estimates, *table.facts}
    named = {part: column for part, column in table.figure.items() if part not in _PLAIN_PARTS and column in columns}
    labels = {"labels": [shown[column] for column in table.labels if column in shown]}
    if not set(named.values()) <= shown.keys():
        return labels
    return {**table.figure, **{part: shown[column] for part, column in named.items()}, **labels}
