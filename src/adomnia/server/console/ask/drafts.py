"""A question that is planned and not yet paid: its errors at other prices and in groups of other sizes.

All of it follows from the text and the catalog. A question that takes long to price is priced once and no more, so that
whatever can be asked can be priced within the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.pricing.quotes import quote_plan
from adomnia.session.batch import Batch, bind_question, plan_text
from adomnia.session.contract import CONFIDENCE
from adomnia.sql.lower import require_plan
from adomnia.work import current

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from adomnia.catalog.model import Catalog
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Question
    from adomnia.pricing.quotes import Expected
    from adomnia.privacy.events import Price

__all__ = ["PricedDraft", "is_quick", "plan_draft"]

_KEPT = 512  # errors of questions at other prices
_QUICK = 12_000  # steps until a question was priced once, of about ten microseconds each


@dataclass(frozen=True)
class PricedDraft:
    """A question and its plan."""

    question: Question
    plan: Plan
    catalog: Catalog
    analyst: str

    def expect_at(self, currency: str, amount: Fraction, rows: int | None) -> Sequence[Expected]:
        """The errors at another price; none where it is refused."""
        usual = replace(self.question, epsilon=None, rho=None, error=None)
        question = replace(usual, epsilon=amount) if currency == "epsilon" else replace(usual, rho=amount)
        return self._expect(question, rows)

    def expect_in(self, rows: int, price: Price | None) -> Sequence[Expected]:
        """The errors at the same price in a group of so many rows; `price` is that which a policy set."""
        if price is not None and self.question.names_no_price:
            return self._expect(replace(self.question, epsilon=getattr(price, "epsilon", None)), rows)
        return self._expect(self.question, rows)

    def _expect(self, question: Question, rows: int | None) -> Sequence[Expected]:
        try:
            return _expect_errors(replace(question, text=""), self.plan, self.catalog, rows, self.analyst)
        except Refusal:
            return ()


@lru_cache(maxsize=_KEPT)
def _expect_errors(
    question: Question, plan: Plan, catalog: Catalog, rows: int | None, _analyst: str
) -> Sequence[Expected]:
    """The errors of a plan at a price. Whoever moves the slider asks for those at the same few prices again.

    They are kept for each analyst apart: how soon they come, and what there is time for then, tells what was asked.
    """
    (priced,) = Batch((question,), CONFIDENCE, catalog.version).price([plan], catalog)
    return quote_plan(priced.plan, priced.price, CONFIDENCE, rows=rows).outputs


def plan_draft(question: Question, catalog: Catalog, analyst: str) -> PricedDraft:
    """Plan a question; a Refusal where it cannot be answered, or is about public tables alone."""
    bound = bind_question(question)
    return PricedDraft(bound, require_plan(plan_text(bound, catalog, CONFIDENCE)), catalog, analyst)


def is_quick() -> bool:
    """Whether what was computed so far took so little that a few more prices may be asked."""
    work = current()
    return work is None or work.steps <= _QUICK
