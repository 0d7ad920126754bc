"""What questions would cost and what they mean, before anything is paid: nothing is read and nothing is spent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adomnia.asking.batch import plan_text
from adomnia.asking.from_release import tell_free_answer
from adomnia.asking.purchase import Judge
from adomnia.asking.releasing import price_release
from adomnia.curator.paying import prove
from adomnia.explaining.balances import warn
from adomnia.explaining.explanations import explain
from adomnia.plans.public_columns import PublicRows
from adomnia.pricing.notes import list_notes
from adomnia.pricing.payment import plan_without_price
from adomnia.pricing.policies import sets_price
from adomnia.pricing.questions import Question
from adomnia.pricing.quotes import quote_questions
from adomnia.pricing.rules import without_effort
from adomnia.sql.reading.statements import read_creation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adomnia.asking.asker import Asker
    from adomnia.asking.batch import Batch
    from adomnia.explaining.tree import Node
    from adomnia.pricing.bills import Quote
    from adomnia.pricing.questions import Payment, Priced
    from adomnia.pricing.vacuity import Verdict


def quote(
    asker: Asker, asked: str | Iterable[Question | str], confidence: float, simultaneous: bool, payment: Payment
) -> Quote:
    """What a question, a release or a batch would cost, and how far off its answers may be."""
    if not isinstance(asked, str):
        batch = asker.build_batch(asked, confidence, payment)
    elif (creation := read_creation(asked)) is not None:
        return _price_creation(asker, Question(creation.question, **payment), confidence, simultaneous)[1]
    else:
        batch = asker.build_batch((Question(asked, **payment),), confidence)
    priced, verdicts = _price_now(asker, batch)
    found = quote_questions(priced, confidence, simultaneous, payment.get("rows"))
    return tell_free_answer(_add_warnings(asker, found, verdicts), asker.dataset, asker.name, batch)


def explain_question(asker: Asker, question: Question, confidence: float) -> Node:
    """What a question means and measures, and if a price is named what it buys."""
    creation = read_creation(question.text)
    if creation is not None:
        question = replace(question, text=creation.question)
        if not question.names_no_price:
            one, found = _price_creation(asker, question, confidence, simultaneous=False)
            return explain(without_effort(one.plan), found)
    catalog = asker.dataset.catalog
    plan = plan_text(question, catalog, confidence)
    if isinstance(plan, PublicRows):
        return explain(plan)
    if question.names_no_price and not sets_price(asker.policy):
        return explain(plan_without_price(question, plan, catalog), notes=list_notes(plan, catalog))
    (priced,), verdicts = _price_now(asker, asker.build_batch((question,), confidence))
    found = _add_warnings(asker, quote_questions([priced], confidence, False, question.rows), verdicts)
    return explain(without_effort(priced.plan), found)


def _price_now(asker: Asker, batch: Batch) -> tuple[list[Priced], list[Verdict | None]]:
    """The questions as they would be paid for now, and what would say almost nothing."""
    plans = batch.plans(asker.dataset.catalog)
    asker.check_named(batch)
    priced = asker.price(batch, plans, asker.next_price())
    prove(asker.dataset.kernel, priced)
    return priced, Judge(asker, batch, plans).judge_afresh(priced)


def _price_creation(asker: Asker, question: Question, confidence: float, simultaneous: bool) -> tuple[Priced, Quote]:
    """A release as the dataset would pay for it."""
    batch = asker.build_batch((question,), confidence)
    return price_release(asker.dataset, batch, asker.declared, simultaneous=simultaneous)


def _add_warnings(asker: Asker, found: Quote, verdicts: Sequence[Verdict | None]) -> Quote:
    """The quote with what would say almost nothing, and what it would mean for the budgets as they are now."""
    ledger, declared = asker.dataset.ledger, asker.dataset.catalog.ledger
    shares = declared is not None and declared.lifetime is not None
    lifetime = ledger.lifetime().get(None) if shares else None  # a ledger in memory shares nothing
    warnings = warn(ledger.account(asker.name), ledger.account(), found.event, lifetime)
    return replace(found, warnings=warnings, vacuous=tuple(each.warning() for each in verdicts if each is not None))
