"""Whether the questions of a request would say anything at their price, by what their analyst may know of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adomnia.asking.known_rows import find_rows
from adomnia.pricing.vacuity import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.asking.batch import Batch
    from adomnia.asking.dataset import Dataset
    from adomnia.asking.known_rows import EarlierAnswers, Look, Recall
    from adomnia.plans.drafts import DraftAnswer
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Priced
    from adomnia.pricing.vacuity import KnownRows, Verdict


class Judge:
    """Judges the questions of one request.

    `seen` is the number of the analyst's newest answer that was looked at, if any was. Where it is from memory, there
    may be a newer one in the ledger: whoever pays for what was judged notices, and has it judged afresh.
    """

    def __init__(self, dataset: Dataset, analyst: str, batch: Batch, plans: Sequence[Plan], recall: Recall) -> None:
        self._dataset, self._analyst, self._recall = dataset, analyst, recall
        self._batch, self._plans = batch, plans
        self._earlier: EarlierAnswers | None = None

    @property
    def seen(self) -> int | None:
        return None if self._earlier is None else self._earlier.newest

    def judge(self, priced: Sequence[Priced]) -> list[Verdict | None]:
        """Of each question, the first output that would say almost nothing."""
        return self._judge(priced, self._dataset.counts.remember)

    def judge_afresh(self, priced: Sequence[Priced]) -> list[Verdict | None]:
        """The same by what is in the ledger now."""
        return self._judge(priced, self._dataset.counts.read)

    def _judge(self, priced: Sequence[Priced], look: Look) -> list[Verdict | None]:
        self._earlier = None
        confidence, common = self._batch.confidence, self._batch.common_price
        return [
            judge(plan, each, self._find_rows(plan, each, question.rows, look), confidence, common)
            for question, plan, each in zip(self._batch.questions, self._plans, priced, strict=True)
        ]

    def _find_rows(self, plan: Plan, priced: Priced, given: int | None, look: Look) -> KnownRows:
        known = find_rows(plan, priced, given, self._dataset.catalog)
        if known.sure:
            return known
        if self._earlier is None:
            self._earlier = look(self._analyst, self._dataset.ledger, self._dataset.catalog, self._recall)
        return self._earlier.find(plan)


def add_notes(drafts: Sequence[DraftAnswer], verdicts: Sequence[Verdict | None]) -> list[DraftAnswer]:
    """The answers with notes on what says almost nothing.

    They are for whoever asked, and not kept: they tell of their earlier answers, and others may share this one.
    """
    return [
        each if verdict is None else replace(each, notes=(verdict.note(), *each.notes))
        for each, verdict in zip(drafts, verdicts, strict=True)
    ]
