"""Answers that were paid for: recalled, found again as entries of the ledger, and shared by links with others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.api.ledger_view import find_debit
from adomnia.api.running.request_facts import choose_id
from adomnia.asking.batch import Batch
from adomnia.errors import Refusal
from adomnia.session.sharing import find_offer, price_same
from adomnia.work import limit

if TYPE_CHECKING:
    from adomnia.api.access import Share
    from adomnia.api.ledger_view import LedgerEntry
    from adomnia.api.requests import Visit
    from adomnia.ledger.requests import Receipt
    from adomnia.pricing.bills import Quote
    from adomnia.session.answer import Answer
    from adomnia.session.recalled import Recalled
    from adomnia.session.sharing import Offer

_MOST_UNANSWERED = 1000


def recall(visit: Visit, request_id: str, place: int = 0, *, confidence: float | None = None) -> Recalled:
    """One of one's own answers, with what was asked and measured for it."""
    return visit.curator.session(visit.visitor.name).recall(request_id, place, confidence=confidence)


def recall_batch(visit: Visit, request_id: str) -> list[Answer]:
    """All of one's own answers that were paid for under a request id."""
    first = recall(visit, request_id)
    others = (recall(visit, request_id, place).answer for place in range(1, len(first.batch.questions)))
    return [first.answer, *others]


def find_entry(visit: Visit, receipt: Receipt) -> LedgerEntry | None:
    """The entry of the ledger that a receipt is of; None if there is no such entry."""
    with visit.curator.ledger.snapshot() as records:
        return find_debit(records, receipt)


def list_unanswered(visit: Visit) -> list[Receipt]:
    """What one paid for and got no answer to."""
    return visit.curator.ledger.unanswered(visit.visitor.name, _MOST_UNANSWERED)


def read_asked(text: str) -> Batch:
    """What was asked, as a ledger keeps it."""
    return Batch.from_text(text)


@dataclass(frozen=True)
class SharedAnswer:
    """What a link leads to: who shares it, its receipt and what was asked.

    `had_as` is the request id under which one has it already: it is one's `own`, or was bought before.
    """

    share: Share
    receipt: Receipt
    asked: Batch
    own: bool
    had_as: str


def make_share(visit: Visit, request_id: str) -> tuple[str, Share]:
    """Make a link to one of one's own answers; gives its code, which is shown this once, and the share."""
    name = visit.visitor.name
    receipt = visit.curator.ledger.receipt(name, request_id)
    if receipt is None or not receipt.asked:
        raise Refusal("The request", "has no answer of yours", "choose one of the list", code="unknown_answer")
    if not read_asked(receipt.asked).replay:
        why = "was measured afresh on purpose, so that nobody else can have it"
        raise Refusal("The answer", why, "ask it again with replay, and share that", code="not_shared")
    return visit.services.access.create_share(name, request_id)


def find_shared(visit: Visit, code: str) -> SharedAnswer:
    """What a link leads to; unknown and ended codes are refused alike, as unknown addresses are."""
    share, receipt = _find(visit, code)
    own, had_as = share.user == visit.visitor.name, receipt.request_id
    if not own:
        bought = visit.curator.ledger.find_answer(visit.visitor.name, choose_id(None), receipt.plan)
        had_as = "" if bought is None else bought.receipt.request_id
    return SharedAnswer(share, receipt, read_asked(receipt.asked), own, had_as)


def offer_shared(visit: Visit, shared: SharedAnswer) -> Offer:
    """What one would pay for it, and one's own account before and after; a Refusal where it cannot be had."""
    return find_offer(visit.curator, visit.visitor.name, shared.receipt)


def expect_shared(visit: Visit, shared: SharedAnswer) -> Quote | None:
    """How wrong each output may be; None where that cannot be told."""
    try:
        return price_same(visit.session, shared.asked)
    except Refusal:
        return None


def buy_shared(visit: Visit, code: str, request_id: str) -> tuple[str, list[Answer] | None]:
    """Pay for the answers that a link leads to, from one's own budget alone; their id, and none if one has them."""
    shared = find_shared(visit, code)
    if shared.had_as:  # also where nothing is left to pay with: whoever lost the reply asks for it again
        return shared.had_as, None
    receipt = shared.receipt
    with limit():
        find_offer(visit.curator, visit.visitor.name, receipt)  # it says best why not
    answers = visit.curator.session(visit.visitor.name).take(receipt, request_id)
    visit.services.metrics.count_question("replayed" if answers[0].replayed else "answered")
    return (answers[0].receipt or receipt).request_id, answers


def _find(visit: Visit, code: str) -> tuple[Share, Receipt]:
    share = visit.services.access.find_share(code)
    known = share is not None and visit.catalog.analyst(share.user) is not None
    receipt = visit.curator.ledger.receipt(share.user, share.request_id) if share is not None and known else None
    if share is None or receipt is None:
        fix = "ask whoever gave it to you for another"
        raise Refusal("The link", "leads nowhere: it was ended, or never made", fix, code="unknown_link")
    return share, receipt
