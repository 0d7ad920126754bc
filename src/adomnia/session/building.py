"""Answers of what was bought, or was free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.session.answer import Answer
from adomnia.session.models import choose_class
from adomnia.work import allow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.asking.purchase import Outcome
    from adomnia.plans.columns import DraftAnswer
    from adomnia.statistics.products import Product


def build_answers(outcome: Outcome) -> list[Answer]:
    """One answer for each question."""
    assert outcome.left is not None  # noqa: S101 - an answer that was kept has it
    paid = outcome.receipt, outcome.replayed, outcome.left
    with allow():  # it is paid for, or costs nothing
        return [
            (choose_class(each.columns, each.model) if each.figure or each.model else Answer)(
                each.columns, each.rows, each.confidence, *paid, each.caps, each.notes, *_extras(each)
            )
            for each in outcome.drafts
        ]


def _extras(draft: DraftAnswer) -> tuple[Mapping[str, Any], Mapping[str, Any], Product | None]:
    return draft.figure, draft.model, draft.product
