"""An answer that was paid for before, with what was asked and measured for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.asking.batch import Batch
from adomnia.asking.purchase import Outcome, show_again
from adomnia.asking.replaying import recall_stored
from adomnia.asking.sizes import measure_size
from adomnia.asking.stored_answers import refuse_level
from adomnia.errors import Refusal
from adomnia.explaining.explanations import explain
from adomnia.messages.texts import write
from adomnia.options import CONFIDENCE
from adomnia.pricing.payment import check_confidence
from adomnia.pricing.quotes import quote_questions
from adomnia.pricing.rules import without_effort
from adomnia.session.building import build_answers

if TYPE_CHECKING:
    from adomnia.asking.asker import Asker
    from adomnia.explaining.tree import Node
    from adomnia.ledger.requests import StoredAnswer
    from adomnia.pricing.bills import Quote
    from adomnia.pricing.questions import Priced, Question
    from adomnia.session.answer import Answer


@dataclass(frozen=True)
class Recalled:
    """The answer in one place of a batch, and its question as it was priced then, by the rules of then.

    Where the catalog means something else by the question now, it has no price and no explanation any more.
    """

    answer: Answer
    batch: Batch
    place: int
    priced: Priced | None

    @property
    def question(self) -> Question:
        """What was asked, and what was named beside it."""
        return self.batch.questions[self.place]

    def explain(self) -> tuple[Node, Quote] | None:
        """What was measured and why it cost what it did, in words, and the quote that they are of, if it is known."""
        if self.priced is None:
            return None
        quote = quote_questions([self.priced], self.batch.confidence, False, self.question.rows)
        return explain(without_effort(self.priced.plan), quote), quote


def recall(asker: Asker, request_id: str, place: int, confidence: float | None) -> Recalled:
    """What was paid for under a request id, and what was asked and measured for it."""
    check_confidence(CONFIDENCE if confidence is None else confidence)
    kept = asker.find_kept(request_id)
    batch = None if kept is None or not kept.receipt.asked else Batch.from_text(kept.receipt.asked)
    if kept is None or batch is None or not 0 <= place < len(batch.questions):
        fix = write("take a request id and place that {answers()} lists")
        raise Refusal(f"Request {request_id!r}", "has no answer of yours there", fix, code="unknown_answer")
    try:
        priced = asker.price_as_before(batch, kept.receipt)
    except Refusal:
        return Recalled(_choose(_recall_stored(kept), place, confidence), batch, place, None)
    if batch.version != asker.dataset.catalog.version:  # what caps leave out is known of today's rows alone
        priced = [replace(each, caps=tuple(replace(cap, leaves_out=None) for cap in each.caps)) for each in priced]
    asker.dataset.admit(measure_size(priced))
    shown = show_again(priced, kept, confidence or batch.confidence)
    return Recalled(_choose(shown, place, confidence), batch, place, priced[place])


def _recall_stored(kept: StoredAnswer) -> Outcome:
    """Answers as they were given, where the catalog means something else by their questions now."""
    drafts = recall_stored(kept)
    if drafts is None:
        why, fix = "was answered under a catalog that meant something else by it", "ask again"
        raise Refusal(f"Request {kept.receipt.request_id}", why, fix, code="catalog_changed")
    return Outcome(drafts, kept.receipt, replayed=True, left=kept.left)


def _choose(outcome: Outcome, place: int, confidence: float | None) -> Answer:
    """The answer in one place, if it is at the confidence that is asked for: one that is stored has its own."""
    stored = outcome.drafts[place].confidence
    if confidence is not None and stored != confidence:
        raise refuse_level(stored)
    return build_answers(outcome)[place]
