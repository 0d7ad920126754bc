"""Whether a question was paid for before: then asking it again is free, and the same answer comes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adomnia.api.routes.questions import choose_id
from adomnia.asking.batch import Batch
from adomnia.console.ask.drafts import PricedDraft, price_draft
from adomnia.errors import Failure
from adomnia.options import CONFIDENCE
from adomnia.pricing.policies import sets_price

if TYPE_CHECKING:
    from adomnia.console.visits import Visit
    from adomnia.ledger.requests import Receipt
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Question

__all__ = ["find_paid"]


def find_paid(visit: Visit, question: Question, plan: Plan) -> Receipt | None:
    """The receipt of an equal question of the same analyst at the same price, however it was spelled."""
    curator, name = visit.curator, visit.visitor.name
    analyst = curator.catalog.analyst(name)
    if analyst is None:
        return None
    batch, unused = Batch((question,), CONFIDENCE, curator.catalog.version), choose_id(None)
    if sets_price(analyst.policy):
        identity = batch.unpriced_identity([plan], curator.catalog, unused)
    else:
        draft = PricedDraft(replace(question, text=""), plan, curator.catalog, name)
        identity = batch.identity([price_draft(draft)], unused)
    try:
        found = curator.ledger.find_answer(name, unused, identity)
    except Failure:  # it was paid for, and has no answer
        return None
    return None if found is None else found.receipt
