"""An answer that was paid for before, with what was asked and measured for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.explaining.explanations import explain
from adomnia.pricing.effort import without_effort
from adomnia.pricing.quotes import quote_questions

if TYPE_CHECKING:
    from adomnia.asking.batch import Batch
    from adomnia.explaining.tree import Node
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
