"""From what was measured to answers: columns, their rows in order, and what was paid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.plans.finish import finish
from adomnia.session.answer import Answer
from adomnia.session.columns import build_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.curator.paying import Evaluated
    from adomnia.ledger.requests import Receipt
    from adomnia.privacy.filters import Left


@dataclass(frozen=True)
class Outcome:
    """What was measured, now or before, its receipt, and what the analyst has left since."""

    evaluated: Sequence[Evaluated]
    receipt: Receipt
    replayed: bool
    left: Left | None = None


def build_answers(outcome: Outcome, confidence: float) -> list[Answer]:
    """One answer for each question."""
    return [_build_answer(each, outcome, confidence) for each in outcome.evaluated]


def _build_answer(evaluated: Evaluated, outcome: Outcome, confidence: float) -> Answer:
    priced, results = evaluated.priced, evaluated.results
    plan = priced.plan
    assert outcome.left is not None  # noqa: S101 - looked up by then
    columns, rows = build_columns(plan, results), finish(plan, results)
    paid = (outcome.receipt, outcome.replayed, outcome.left)
    answer = Answer(columns, rows, confidence, *paid, priced.caps, priced.notes)
    # What was not named was measured all the same, if only beside what was; of nothing, the made-up value has a type.
    return answer if plan.named is None else answer.only(plan.named or (0,))
