"""From what was measured to answers: columns, their rows in order, and what was paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.plans.finish import find_table, finish
from adomnia.plans.plan import Once
from adomnia.session.answer import Answer
from adomnia.session.columns import build_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from adomnia.curator.paying import Evaluated
    from adomnia.ledger.requests import KeptAnswer, Receipt
    from adomnia.plans.plan import Plan
    from adomnia.privacy.filters import Left
    from adomnia.statistics.contract import ResultTable


_PLAIN_PARTS = {"kind", "title"}  # of a figure's description, which name no column


@dataclass(frozen=True)
class Outcome:
    """What was measured, now or before, its receipt, what the analyst has left since, and where it was just kept."""

    evaluated: Sequence[Evaluated]
    receipt: Receipt
    replayed: bool
    left: Left | None = None
    kept: KeptAnswer | None = None


def build_answers(outcome: Outcome, confidence: float) -> list[Answer]:
    """One answer for each question."""
    return [_build_answer(each, outcome, confidence) for each in outcome.evaluated]


def _build_answer(evaluated: Evaluated, outcome: Outcome, confidence: float) -> Answer:
    priced, results = evaluated.priced, evaluated.results
    plan = priced.plan
    assert outcome.left is not None  # noqa: S101 - looked up by then
    columns, rows = build_columns(plan, results), finish(plan, results)
    paid = (outcome.receipt, outcome.replayed, outcome.left)
    table = find_table(results)
    if table is not None:
        notes = (*table.notes, *priced.notes)
        shown = (_shown_figure(table, plan), table.model, table.product)
        return Answer(columns, rows, confidence, *paid, priced.caps, notes, *shown)
    answer = Answer(columns, rows, confidence, *paid, priced.caps, priced.notes)
    # What was not named was measured all the same, if only beside what was; of nothing, the made-up value has a type.
    cells = plan.named
    if any(isinstance(choice, Once) for choice in plan.inner):  # the others are in these
        cells = tuple(sorted(rows.tolist()))
    return answer if cells is None else answer.only(cells or (0,))


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
