"""A session: one analyst's questions, from text to answer. What is paid and read, `paying` decides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from adomnia.curator.measurements import Record, Replay
from adomnia.curator.paying import Paid, Request, found, measured, pay, proved
from adomnia.errors import Failure, Refusal
from adomnia.explaining.explanations import explained, is_explain, without_explain
from adomnia.noise import SystemBits
from adomnia.plans.finish import finished
from adomnia.plans.public_rows import PublicRows
from adomnia.pricing.effort import usual
from adomnia.pricing.findings import cost
from adomnia.pricing.payment import Payment, Question, check_confidence, is_free, unpriced
from adomnia.pricing.policies import check_ceiling, check_named, next_price, sets_price, terms
from adomnia.pricing.quotes import Quote, bill
from adomnia.session.answer import Answer
from adomnia.session.asked import MOST_QUESTIONS, Asked, meaning, price_of
from adomnia.session.columns import answer_columns
from adomnia.session.contract import CONFIDENCE, Budgets, Past, Session
from adomnia.session.explanation import explanation
from adomnia.session.public import public_columns
from adomnia.session.table import PrivateTable, private_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adomnia.catalog.model import Catalog, Policy
    from adomnia.ledger.requests import Receipt
    from adomnia.ledger.requests import Replay as Kept
    from adomnia.plans.plan import Plan
    from adomnia.pricing.payment import Priced
    from adomnia.privacy.events import Pure
    from adomnia.privacy.filters import Left
    from adomnia.session.curator import Curator
    from adomnia.session.explanation import Explanation
    from adomnia.statistics.contract import Estimate, Statistic


class LocalSession(Session):
    """A session with a dataset on this machine."""

    def __init__(self, curator: Curator, analyst: str) -> None:
        self._curator, self.analyst = curator, analyst

    def sql(
        self,
        text: str,
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        replay: bool = True,
        **payment: Unpack[Payment],
    ) -> Answer:
        if isinstance(text, str) and is_explain(text):
            return self.explain(text, confidence=confidence, **payment)
        question = Question(text, **payment)
        said = meaning(question, self._curator.catalog, confidence)
        if isinstance(said, PublicRows):
            return self._public(said, confidence)
        return self._answered(self._said((question,), confidence, replay=replay), [said], request_id)[0]

    def batch(
        self,
        questions: Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        **payment: Unpack[Payment],
    ) -> list[Answer]:
        asked = self._said(questions, confidence, payment)
        return self._answered(asked, asked.plans(self._curator.catalog), request_id)

    def price(
        self,
        text: str | Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        together: bool = False,
        **payment: Unpack[Payment],
    ) -> Quote:
        if isinstance(text, str):
            asked = self._said((Question(text, **payment),), confidence)
        else:
            asked = self._said(text, confidence, payment)
        return bill(self._priced(asked), confidence, together, payment.get("rows"))

    def explain(self, text: str, *, confidence: float = CONFIDENCE, **payment: Unpack[Payment]) -> Explanation:
        question = Question(without_explain(text), **payment)
        said = meaning(question, self._curator.catalog, confidence)
        if isinstance(said, PublicRows):
            tree = explained(said)
        elif is_free(question) and not sets_price(self._policy):
            tree = explained(unpriced(question, said))
        else:
            (asked,) = self._priced(self._said((question,), confidence))
            tree = explained(usual(asked.plan), bill([asked], confidence, False, question.rows))
        return explanation(tree, confidence, self._curator.ledger.left(self.analyst))

    def table(self, name: str) -> PrivateTable:
        return private_table(self, name)

    def budget(self) -> Budgets:
        ledger = self._curator.ledger
        personal = ledger.account(self.analyst)
        return Budgets(personal, ledger.account(), terms(self._policy, personal))

    def catalog(self) -> Catalog:
        return self._curator.catalog

    def answers(self) -> list[Past]:
        return [_past(receipt) for receipt in self._curator.ledger.answers(self.analyst) if receipt.asked]

    def answer(self, request_id: str, place: int = 0, *, confidence: float | None = None) -> Answer:
        check_confidence(CONFIDENCE if confidence is None else confidence)
        kept = self._curator.ledger.answer(self.analyst, request_id)
        asked = None if kept is None or not kept.receipt.asked else Asked.from_text(kept.receipt.asked)
        if kept is None or asked is None or not 0 <= place < len(asked.questions):
            fix = "take a request id and place that answers() lists"
            raise Refusal(f"Request {request_id!r}", "has no answer of yours there", fix, code="unknown_answer")
        try:
            priced = self._measured_before(asked, kept.receipt)
        except Refusal:
            why, fix = "was answered under a catalog that meant something else by it", "ask again"
            raise Refusal(f"Request {request_id}", why, fix, code="catalog_changed") from None
        if asked.version != self._curator.catalog.version:  # what caps leave out is known of today's rows alone
            priced = [replace(each, caps=()) for each in priced]
        paid = (kept.receipt, True, self._curator.ledger.left(self.analyst))
        return _answers(priced, Record.from_bytes(kept.payload), confidence or asked.confidence, paid)[place]

    def mock(self) -> LocalSession:
        """The same session on made-up rows, to try questions out: nothing is read and nothing is spent."""
        return self._curator.mock().session(self.analyst)

    def _public(self, meaning: PublicRows, confidence: float) -> Answer:
        """Public rows: nothing is reserved, and no private table is read."""
        columns = public_columns(meaning, self._curator.engine, self._curator.catalog)
        rows = np.arange(len(columns[0].values), dtype=np.intp)
        return Answer(columns, rows, confidence, None, False, self._curator.ledger.left(self.analyst))

    @property
    def _policy(self) -> Policy:
        analyst = self._curator.catalog.analyst(self.analyst)
        assert analyst is not None  # noqa: S101 - Curator.session gives sessions to nobody else
        return analyst.policy

    def _said(
        self,
        questions: Iterable[Question | str],
        confidence: float,
        payment: Payment | None = None,
        *,
        replay: bool = True,
    ) -> Asked:
        asked = tuple(Question(each) if isinstance(each, str) else each for each in questions)
        if not asked:
            raise Refusal("The batch", "is empty", "put at least one question into it", code="empty")
        if len(asked) > MOST_QUESTIONS:
            why = f"has {len(asked):,} questions, more than {MOST_QUESTIONS}"
            raise Refusal("The batch", why, "take it apart", code="too_complex")
        return Asked(asked, confidence, self._curator.catalog.version, payment, replay)

    def _priced(self, asked: Asked) -> list[Priced]:
        """The questions as they would be paid for now; nothing is read or spent."""
        plans = asked.plans(self._curator.catalog)
        check_named(self._policy, asked.names_a_price)
        priced = self._paid(asked, plans, self._next_price())
        proved(self._curator.kernel, priced)
        return priced

    def _next_price(self) -> Pure | None:
        """What a policy says that the next question costs."""
        return next_price(self._policy, self._curator.ledger.account(self.analyst))

    def _paid(self, asked: Asked, plans: Sequence[Plan], price: Pure | None) -> list[Priced]:
        priced = asked.paid(plans, self._curator.catalog, price)
        check_ceiling(self._policy, cost(priced))
        return priced

    def _answered(self, asked: Asked, plans: Sequence[Plan], request_id: str | None) -> list[Answer]:
        request = SystemBits().words(2).tobytes().hex() if request_id is None else request_id
        check_named(self._policy, asked.names_a_price)
        if sets_price(self._policy):
            identity = asked.unpriced_identity(plans, self._curator.catalog, self._own(request))
            with self._curator.ledger.turn("question", identity.hex()):
                outcome = self._by_policy(asked, plans, Request(self.analyst, request, identity, asked.to_text()))
        else:
            priced = self._paid(asked, plans, None)
            identity = asked.identity(priced, self._own(request))
            with self._curator.ledger.turn("question", identity.hex()):
                paid = pay(self._curator.kernel, Request(self.analyst, request, identity, asked.to_text()), priced)
                outcome = (priced, *self._outcome(paid))
        priced, record, receipt, replayed, left = outcome
        left = left or self._curator.ledger.left(self.analyst)
        return _answers(priced, record, asked.confidence, (receipt, replayed, left))

    def _by_policy(
        self, asked: Asked, plans: Sequence[Plan], request: Request
    ) -> tuple[list[Priced], Record, Receipt, bool, Left | None]:
        """At the price that the policy sets; what was answered before at whatever price it had then."""
        paid: Paid | Kept | None
        paid = self._curator.ledger.answered(self.analyst, request.request_id, request.identity)
        if paid is None:
            with self._curator.ledger.turn("price", self.analyst):  # nobody else may spend what this price is a part of
                paid = pay(self._curator.kernel, request, self._paid(asked, plans, self._next_price()))
        record, receipt, replayed, left = self._outcome(paid)
        return asked.paid(plans, self._curator.catalog, price_of(receipt.event)), record, receipt, replayed, left

    def _outcome(self, paid: Paid | Kept) -> tuple[Record, Receipt, bool, Left | None]:
        """What was measured, its receipt, whether that was before, and if not what is left since."""
        if isinstance(paid, Paid):
            return *measured(self._curator.kernel, paid), False, paid.hold.left
        return Record.from_bytes(paid.payload), paid.receipt, True, None

    def _own(self, request_id: str) -> str:
        """A request id with whose it is: two analysts may use the same."""
        return f"{self.analyst}\n{request_id}"

    def _measured_before(self, asked: Asked, receipt: Receipt) -> list[Priced]:
        """The questions as they were measured, if the catalog still means the same by them."""
        catalog = replace(self._curator.catalog, version=asked.version)
        plans = asked.plans(catalog)
        by_policy = not asked.names_a_price
        priced = asked.paid(plans, catalog, price_of(receipt.event) if by_policy else None)
        if by_policy:
            same = asked.unpriced_identity(plans, catalog, self._own(receipt.request_id))
        else:
            same = asked.identity(priced, self._own(receipt.request_id))
        if same != receipt.plan:
            raise Refusal("The catalog", "means something else by it", "ask again", code="catalog_changed")
        return priced


def _past(receipt: Receipt) -> Past:
    asked = Asked.from_text(receipt.asked)
    return Past(receipt.request_id, tuple(each.text for each in asked.questions), asked.version, receipt)


def _answers(
    priced: Sequence[Priced], record: Record, confidence: float, paid: tuple[Receipt, bool, Left]
) -> list[Answer]:
    try:
        known = found(priced, Replay(record))
    except (LookupError, ValueError):  # the record is not one of these measurements
        raise Failure(paid[0].request_id) from None
    return [replace(_answer(each.plan, estimates, confidence, paid), caps=each.caps) for each, estimates in known]


def _answer(
    plan: Plan, values: dict[Statistic, Estimate], confidence: float, paid: tuple[Receipt, bool, Left]
) -> Answer:
    answer = Answer(answer_columns(plan, values), finished(plan, values), confidence, *paid)
    # What was not named was measured all the same, if only beside what was; of nothing, the made-up value has a type.
    return answer if plan.named is None else answer.only(plan.named or (0,))
