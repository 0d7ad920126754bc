"""A question that is planned and not yet paid: how it reads, its errors at other prices and in groups of other sizes.

All of it follows from the text and the catalog. A question that takes long to price is priced at no other prices, and
one that takes very long only once, so that whatever can be asked can be priced within the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from adomnia.api.running.request_facts import choose_id
from adomnia.asking.batch import Batch, bind_question, plan_text
from adomnia.errors import Failure, Refusal
from adomnia.explaining.plan_sentences import count_rows, read_plan
from adomnia.options import CONFIDENCE
from adomnia.pricing.policies import sets_price
from adomnia.pricing.quotes import expect_errors
from adomnia.sql.lower import require_plan
from adomnia.sql.reading.statements import is_explain, is_listing, read_creation
from adomnia.work import MOST_STEPS, current

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Catalog
    from adomnia.explaining.plan_sentences import Piece
    from adomnia.ledger.requests import Receipt
    from adomnia.plans.plan import Plan
    from adomnia.pricing.bills import ErrorName, Expected
    from adomnia.pricing.questions import Priced, Question
    from adomnia.privacy.events import Price

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
    confidence: float = CONFIDENCE

    @property
    def grouped(self) -> bool:
        """Whether it has groups."""
        return bool(self.plan.keys)

    def read(self) -> tuple[Piece, ...]:
        """How it reads, in a sentence."""
        return read_plan(self.plan, by_row=not self.catalog.unit.table)

    def count_rows(self, *, finds_values: bool) -> str:
        """How many rows come back, in words."""
        return count_rows(self.plan, finds_values=finds_values)

    def expect_at(self, currency: str, amount: Fraction, rows: int | None, of: ErrorName) -> Sequence[Expected]:
        """The errors of a column at another price; none where it is refused."""
        usual = replace(self.question, epsilon=None, rho=None, error=None)
        question = replace(usual, epsilon=amount) if currency == "epsilon" else replace(usual, rho=amount)
        return self._expect(question, rows, of)

    def expect_in(self, rows: int, price: Price | None, of: ErrorName | None = None) -> Sequence[Expected]:
        """The errors at the same price in a group of so many rows, of all columns or of one.

        `price` is that which a policy set.
        """
        if price is not None and self.question.names_no_price:
            return self._expect(replace(self.question, epsilon=getattr(price, "epsilon", None)), rows, of)
        return self._expect(self.question, rows, of)

    def _expect(self, question: Question, rows: int | None, of: ErrorName | None) -> Sequence[Expected]:
        try:
            return _expect_errors(replace(self, question=replace(question, text="")), rows, of)
        except Refusal:
            return ()


@lru_cache(maxsize=_KEPT)
def price_draft(draft: PricedDraft) -> Priced:
    """A plan at the price that its question names.

    It is kept for each analyst apart: how soon it comes, and what there is time for then, tells what was asked.
    """
    batch = Batch((draft.question,), draft.confidence, draft.catalog.version)
    (priced,) = batch.price([draft.plan], draft.catalog)
    return priced


@lru_cache(maxsize=_KEPT)
def _expect_errors(draft: PricedDraft, rows: int | None, of: ErrorName | None) -> Sequence[Expected]:
    """The errors of a plan at a price. Whoever moves the slider asks for those at the same few prices again."""
    priced = price_draft(draft)
    return expect_errors(priced.plan, priced.price, draft.confidence, rows=rows, of=of)


def plan_draft(visit: Visit, question: Question, confidence: float = CONFIDENCE) -> PricedDraft:
    """Plan a question; a Refusal where it cannot be answered, or is about public tables alone."""
    bound = bind_question(question)
    plan = require_plan(plan_text(bound, visit.catalog, confidence))
    return PricedDraft(bound, plan, visit.catalog, visit.visitor.name, confidence)


def find_paid(visit: Visit, draft: PricedDraft) -> Receipt | None:
    """The receipt of an equal question of the same analyst at the same price, however it was spelled.

    Asking it again is free, and the same answer comes.
    """
    name, catalog, analyst = visit.visitor.name, visit.catalog, visit.catalog.analyst(visit.visitor.name)
    if analyst is None:
        return None
    batch, unused = Batch((draft.question,), draft.confidence, catalog.version), choose_id(None)
    if sets_price(analyst.policy):
        identity = batch.unpriced_identity([draft.plan], catalog, unused)
    else:
        unnamed = replace(draft, question=replace(draft.question, text=""))
        identity = batch.identity([price_draft(unnamed)], unused)
    try:
        found = visit.curator.ledger.find_answer(name, unused, identity)
    except Failure:  # it was paid for, and has no answer
        return None
    return None if found is None else found.receipt


def is_about_nobody(text: str) -> bool:
    """Whether a text asks for what is public about questions and tables, which is free."""
    return is_explain(text) or is_listing(text)


def makes_release(text: str) -> bool:
    """Whether a text would make a release."""
    return read_creation(text) is not None


def is_quick() -> bool:
    """Whether what was computed so far took so little that a few more prices may be asked."""
    return _took_at_most(_QUICK)


def may_price_again() -> bool:
    """Whether what was computed so far can be computed once more, to find an equal question that was paid before."""
    return _took_at_most(_REPEATABLE)


def _took_at_most(steps: int) -> bool:
    work = current()
    return work is None or work.steps <= steps
