"""From what was measured to answers: columns, their rows in order, and what was paid."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from adomnia.plans.finish import find_table, finish
from adomnia.plans.plan import DistinctRows
from adomnia.session.answer import Answer
from adomnia.session.columns import KeyColumn, ValueColumn, build_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from adomnia.curator.paying import Evaluated
    from adomnia.ledger.requests import KeptAnswer, Receipt
    from adomnia.plans.plan import Plan
    from adomnia.pricing.caps import Cap
    from adomnia.privacy.filters import Left
    from adomnia.statistics.contract import ResultTable
    from adomnia.statistics.products import Product


_PLAIN_PARTS = {"kind", "title"}  # of a figure's description, which name no column
_INTERVALS = 2  # of a column that are remembered: what is kept and what is shown, as a rule the same


@dataclass(frozen=True)
class DraftAnswer:
    """An answer before it is told what was paid for it; its fields are those of an Answer."""

    columns: tuple[KeyColumn | ValueColumn, ...]
    rows: NDArray[np.intp]
    confidence: float
    caps: tuple[Cap, ...] = ()
    notes: tuple[str, ...] = ()
    figure: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    product: Product | None = None

    def only(self, cells: tuple[int, ...]) -> DraftAnswer:
        """Only the given cells, in ascending order; every row that is shown must be among them."""
        columns = tuple(column.only(cells) for column in self.columns)
        return replace(self, columns=columns, rows=np.searchsorted(cells, self.rows))


@dataclass(frozen=True)
class Outcome:
    """What is answered from what was measured, now or before, its receipt, what the analyst has left since.

    `kept` is where it was just kept.
    """

    drafts: Sequence[DraftAnswer]
    receipt: Receipt
    replayed: bool
    left: Left | None = None
    kept: KeptAnswer | None = None


def build_answers(outcome: Outcome) -> list[Answer]:
    """One answer for each question."""
    assert outcome.left is not None  # noqa: S101 - an answer that was kept has it
    paid = (outcome.receipt, outcome.replayed, outcome.left)
    return [
        Answer(each.columns, each.rows, each.confidence, *paid, each.caps, each.notes, *_extras(each))
        for each in outcome.drafts
    ]


def _extras(draft: DraftAnswer) -> tuple[Mapping[str, Any], Mapping[str, Any], Product | None]:
    return draft.figure, draft.model, draft.product


def draft_answers(evaluated: Sequence[Evaluated], confidence: float) -> list[DraftAnswer]:
    """What is answered to each question, whose intervals are computed once each, as soon as one is asked for."""
    return [_remember_intervals(_draft_answer(each, confidence)) for each in evaluated]


def _draft_answer(evaluated: Evaluated, confidence: float) -> DraftAnswer:
    priced, results = evaluated.priced, evaluated.results
    plan = priced.plan
    columns, rows = build_columns(plan, results), finish(plan, results)
    table = find_table(plan, results)
    if table is not None:
        notes = (*table.notes, *priced.notes)
        shown = (_shown_figure(table, plan), table.model, table.product)
        return DraftAnswer(columns, rows, confidence, priced.caps, notes, *shown)
    draft = DraftAnswer(columns, rows, confidence, priced.caps, priced.notes)
    # What was not named was measured all the same, if only beside what was; of nothing, the made-up value has a type.
    cells = plan.named
    if any(isinstance(choice, DistinctRows) for choice in plan.inner):  # the others are in these
        cells = tuple(sorted(rows.tolist()))
    return draft if cells is None else draft.only(cells or (0,))


def _remember_intervals(draft: DraftAnswer) -> DraftAnswer:
    return replace(draft, columns=tuple(map(_remember_interval, draft.columns)))


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
