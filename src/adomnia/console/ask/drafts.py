"""A question that is planned and not yet paid: its errors at other prices and in groups of other sizes.

All of it follows from the text and the catalog. A question that takes long to price is priced at no other prices, and
one that takes very long only once, so that whatever can be asked can be priced within the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from adomnia.asking.batch import Batch, bind_question, plan_text
from adomnia.errors import Refusal
from adomnia.options import CONFIDENCE
from adomnia.pricing.quotes import expect_errors
from adomnia.sql.lower import require_plan
from adomnia.work import MOST_STEPS, current

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from adomnia.catalog.model import Catalog
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Priced, Question
    from adomnia.pricing.quotes import Expected
    from adomnia.privacy.events import Price

__all__ = ["PricedDraft", "is_quick", "may_price_again", "plan_draft", "price_draft"]

_KEPT = 512  # errors of questions at other prices
_QUICK = 12_000  # steps until a question was priced once, of about ten microseconds each
_REPEATABLE = MOST_STEPS // 4  # steps that can be taken again, planning and pricing apart


@dataclass(frozen=True)
class PricedDraft:
    """A question and its plan."""

    question: Question
    plan: Plan
    catalog: Catalog
    analyst: str

    def expect_at(self, currency: str, amount: Fraction, rows: int | None, name: str) -> Sequence[Expected]:
        """The errors of a column at another price; none where it is refused."""
        usual = replace(self.question, epsilon=None, rho=None, error=None)
        question = replace(usual, epsilon=amount) if currency == "epsilon" else replace(usual, rho=amount)
        return self._expect(question, rows, name)

    def expect_in(self, rows: int, price: Price | None, name: str | None = None) -> Sequence[Expected]:
        """The errors at the same price in a group of so many rows, of all columns or of one.

        `price` is that which a policy set.
        """
        if price is not None and self.question.names_no_price:
            return self._expect(replace(self.question, epsilon=getattr(price, "epsilon", None)), rows, name)
        return self._expect(self.question, rows, name)

    def _expect(self, question: Question, rows: int | None, name: str | None) -> Sequence[Expected]:
        try:
            return _expect_errors(replace(self, question=replace(question, text="")), rows, name)
        except Refusal:
            return ()


@lru_cache(maxsize=_KEPT)
def price_draft(draft: PricedDraft) -> Priced:
    """A plan at the price that its question names.

    It is kept for each analyst apart: how soon it comes, and what there is time for then, tells what was asked.
    """
    batch = Batch((draft.question,), CONFIDENCE, draft.catalog.version)
    (priced,) = batch.price([draft.plan], draft.catalog)
    return priced


@lru_cache(maxsize=_KEPT)
def _expect_errors(draft: PricedDraft, rows: int | None, name: str | None) -> Sequence[Expected]:
    """The errors of a plan at a price. Whoever moves the slider asks for those at the same few prices again."""
    priced = price_draft(draft)
    return expect_errors(priced.plan, priced.price, CONFIDENCE, rows=rows, name=name)


def plan_draft(question: Question, catalog: Catalog, analyst: str) -> PricedDraft:
    """Plan a question; a Refusal where it cannot be answered, or is about public tables alone."""
    bound = bind_question(question)
    return PricedDraft(bound, require_plan(plan_text(bound, catalog, CONFIDENCE)), catalog, analyst)


def is_quick() -> bool:
    """Whether what was computed so far took so little that a few more prices may be asked."""
    return _took_at_most(_QUICK)


def may_price_again() -> bool:
    """Whether what was computed so far can be computed once more, to find an equal question that was paid before."""
    return _took_at_most(_REPEATABLE)


def _took_at_most(steps: int) -> bool:
    work = current()
    return work is None or work.steps <= steps
