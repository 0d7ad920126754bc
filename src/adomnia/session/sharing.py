"""Answers that somebody else has paid for: had again with the same noise, at the expense of one's own budget alone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, cast

from adomnia.asking.batch import Batch
from adomnia.errors import Refusal
from adomnia.pricing.parts import cost
from adomnia.pricing.policies import check_ceiling, next_price, sets_price
from adomnia.privacy.losses import covers

if TYPE_CHECKING:
    from adomnia.ledger.requests import Receipt
    from adomnia.pricing.bills import Quote
    from adomnia.pricing.questions import Payment, Priced, Question
    from adomnia.privacy.events import Event
    from adomnia.privacy.filters import Filter
    from adomnia.session.contract import Session
    from adomnia.session.curator import Curator

_ANEW = "ask it anew: the noise will be another, and the dataset pays for it too"


@dataclass(frozen=True)
class Offer:
    """What an analyst pays for the answer of another, and their own account before and after it; nobody else pays."""

    cost: Event
    before: Filter
    after: Filter


def find_offer(curator: Curator, analyst: str, receipt: Receipt) -> Offer:
    """What an analyst would pay for the very answer of a receipt; a Refusal where asking would not give that answer.

    The ledger shares an answer if the plan has the same identity and the price covers what was paid (DESIGN 4.7, 4.11).
    `LocalSession.take` holds the ledger to that: what has changed since is refused there, and nothing is measured.
    """
    batch = Batch.from_text(receipt.asked)
    _check_same(curator, batch, analyst, receipt)
    before = curator.ledger.account(analyst)
    return Offer(receipt.event, before, before.after(receipt.event))


def price_same(session: Session, batch: Batch) -> Quote:
    """What that would cost as a new question, and how far off its answers may be; nothing is read or spent."""
    if batch.payment is not None:
        return session.price(batch.questions, confidence=batch.confidence, **batch.payment)
    (question,) = batch.questions
    return session.price(question.text, confidence=batch.confidence, **_list_payment(question))


def _list_payment(question: Question) -> Payment:
    named = {field.name: getattr(question, field.name) for field in fields(question) if field.name != "text"}
    return cast("Payment", named)


def _check_same(curator: Curator, batch: Batch, analyst: str, receipt: Receipt) -> None:
    if not batch.replay:
        raise _refuse("was measured afresh on purpose, and such answers are for one analyst alone")
    if batch.version != curator.catalog.version:
        raise _refuse(f"is of version {batch.version} of the data, which is now at {curator.catalog.version}")
    identity, priced = _identify(curator, batch, analyst)
    if identity != receipt.plan:
        raise _refuse("was asked when the catalog or the rules of measuring were others")
    if not covers(cost(priced), receipt.event):
        raise _refuse("cost more than your policy pays for a question now")


def _identify(curator: Curator, batch: Batch, analyst: str) -> tuple[bytes, list[Priced]]:
    """What the answer would be stored under if this analyst asked, and the questions at their price."""
    declared, catalog = curator.catalog.analyst(analyst), curator.catalog
    assert declared is not None  # noqa: S101 - only analysts of the catalog have sessions
    if sets_price(declared.policy) == batch.names_a_price:
        raise _refuse("was paid for at a price of another kind: for one of you a policy sets it, for the other not")
    plans = batch.plans(catalog)
    price = next_price(declared.policy, curator.ledger.account(analyst))
    priced = batch.price(plans, catalog, price)
    check_ceiling(declared.policy, cost(priced))
    if price is None:
        return batch.identity(priced, ""), priced
    return batch.unpriced_identity(plans, catalog, ""), priced


def _refuse(why: str) -> Refusal:
    return Refusal("The answer", why, _ANEW, code="not_shared")
