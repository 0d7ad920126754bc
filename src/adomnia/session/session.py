"""The session over data on this machine: from text to answer. What is debited and read, `curator/paying` decides."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

import numpy as np

from adomnia.asking.answering import Outcome
from adomnia.asking.batch import (
    MOST_QUESTIONS,
    Batch,
    bind_question,
    check_common,
    check_text,
    plan_text,
    price_of,
    refuse_from_release,
)
from adomnia.asking.from_release import answer_from_release, tell_free_answer
from adomnia.asking.judging import Judge, add_notes
from adomnia.asking.listings import is_listing, list_catalog
from adomnia.asking.releasing import find_receipt, find_release, keep_private, list_releases, price_release, publish
from adomnia.asking.replaying import check_form, recall_stored, replay_answers, show_answers
from adomnia.asking.request_ids import choose_request_id
from adomnia.asking.sizes import check_size, count_storage, measure_size, size_of_rows
from adomnia.asking.stored_answers import refuse_level
from adomnia.curator.paying import PaymentRequest, Reservation, measure, pay, prove
from adomnia.errors import Refusal
from adomnia.explaining.balances import warn
from adomnia.explaining.explanations import explain, is_explain, without_explain
from adomnia.explaining.methods import list_methods
from adomnia.ledger.requests import NewerAnswer
from adomnia.messages.texts import write
from adomnia.options import CONFIDENCE
from adomnia.plans.plan import Plan
from adomnia.plans.public_columns import read_public_columns
from adomnia.plans.public_rows import PublicRows
from adomnia.pricing.effort import without_effort
from adomnia.pricing.findings import cost
from adomnia.pricing.notes import list_notes
from adomnia.pricing.payment import check_confidence, plan_without_price
from adomnia.pricing.policies import check_ceiling, check_named, next_price, sets_price, terms
from adomnia.pricing.questions import Payment, Question
from adomnia.pricing.quotes import Quote, quote_questions
from adomnia.pricing.rules import VERSIONS
from adomnia.releases.answering import answer_released
from adomnia.releases.page import ReleaseList, describe_release
from adomnia.session.accounts import Budgets, Past, list_pasts
from adomnia.session.answer import Answer, build_answers, build_free
from adomnia.session.askable import AskableRelease, make_askable
from adomnia.session.catalog_page import show_catalog
from adomnia.session.contract import MOST_LISTED, check_page
from adomnia.session.derived import DerivedSession
from adomnia.session.explanation import build_explanation
from adomnia.session.progress import ProgressLine
from adomnia.session.recalled import Recalled
from adomnia.session.table import PrivateTable, open_table
from adomnia.sql.reading.creating import read_creation
from adomnia.sql.reading.parameters import translate_places
from adomnia.sql.reading.released import may_name_release, parse_released
from adomnia.work import allow, limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from adomnia.asking.dataset import Dataset
    from adomnia.catalog.model import Analyst, Catalog, Policy
    from adomnia.curator.paying import SharedForm
    from adomnia.engines.contract import Progress
    from adomnia.explaining.methods import MethodList
    from adomnia.explaining.tree import Node
    from adomnia.ledger.requests import Receipt, StoredAnswer
    from adomnia.plans.columns import KeyColumn
    from adomnia.plans.drafts import DraftAnswer
    from adomnia.pricing.questions import Priced
    from adomnia.pricing.vacuity import Verdict
    from adomnia.privacy.events import Pure
    from adomnia.releases.model import Release
    from adomnia.session.curator import Curator
    from adomnia.session.explanation import Explanation
    from adomnia.sql.reading.creating import Creation


class LocalSession(DerivedSession):
    """A session with a dataset on this machine."""

    def __init__(self, curator: Curator, analyst: str) -> None:
        self._curator, self.analyst = curator, analyst
        self.from_release = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.analyst} asks {self._dataset.catalog.name})"

    def sql(
        self,
        text: str,
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        replay: bool = True,
        anyway: bool = False,
        **payment: Unpack[Payment],
    ) -> Answer:
        if isinstance(text, str) and is_explain(text):
            return self.explain(text, confidence=confidence, **payment)
        creation = read_creation(text) if isinstance(text, str) else None
        if creation is not None:
            return self._create(creation, confidence, payment)
        with limit():
            if isinstance(text, str) and is_listing(text):
                return self._show_public(list_catalog(text, self._dataset.catalog, self.releases()), confidence)
            question = bind_question(Question(text, **payment))
            plan = self._plan_or_answer(question, confidence)
            if not isinstance(plan, Plan):
                return plan
            batch = self._build_batch((question,), confidence, replay=replay)
            if self.from_release if question.from_release is None else question.from_release:
                free = answer_from_release(self._dataset, self._declared, batch, plan)
                return build_free(free, self._dataset.ledger.left(self.analyst))
            return self._answer_batch(batch, [plan], request_id, anyway=anyway)[0]

    def batch(
        self,
        questions: Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        anyway: bool = False,
        **payment: Unpack[Payment],
    ) -> list[Answer]:
        with limit():
            batch = self._build_batch(questions, confidence, payment)
            refuse_from_release(batch.questions, payment)
            return self._answer_batch(batch, batch.plans(self._dataset.catalog), request_id, anyway=anyway)

    def price(
        self,
        text: str | Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        together: bool = False,
        **payment: Unpack[Payment],
    ) -> Quote:
        with limit():
            if isinstance(text, str):
                creation = read_creation(text)
                if creation is not None:
                    return self._price_creation(Question(creation.question, **payment), confidence, together)[1]
                batch = self._build_batch((Question(text, **payment),), confidence)
            else:
                batch = self._build_batch(text, confidence, payment)
            priced, verdicts = self._price_now(batch)
            quote = quote_questions(priced, confidence, together, payment.get("rows"))
            return tell_free_answer(self._with_warnings(quote, verdicts), self._dataset, self.analyst, batch)

    def explain(self, text: str, *, confidence: float = CONFIDENCE, **payment: Unpack[Payment]) -> Explanation:
        with limit():
            question = bind_question(Question(without_explain(text), **payment))
            return build_explanation(
                self._explain_question(question, confidence), confidence, self._dataset.ledger.left(self.analyst)
            )

    def release(
        self,
        name: str,
        text: str,
        *,
        private: bool = False,
        confidence: float = CONFIDENCE,
        progress: Progress | None = None,
        **payment: Unpack[Payment],
    ) -> Release:
        with limit(), ProgressLine() as line:
            tell = line if progress is None else progress
            batch = self._build_batch((Question(text, **payment),), confidence)
            if private:
                return keep_private(self, self._dataset, name, batch, tell)
            return publish(self._dataset, name, batch, self._declared, tell)

    def releases(self) -> ReleaseList:
        return ReleaseList(list_releases(self._dataset, self.analyst))

    def open_release(self, name: str) -> AskableRelease:
        return make_askable(find_release(self._dataset, name, self.analyst))

    def table(self, name: str) -> PrivateTable:
        return open_table(self, name)

    def methods(self) -> MethodList:
        return list_methods()

    def budget(self) -> Budgets:
        ledger = self._dataset.ledger
        personal = ledger.account(self.analyst)
        return Budgets(personal, ledger.account(), terms(self._policy, personal))

    def catalog(self) -> Catalog:
        return show_catalog(self._dataset.catalog, self.releases())

    def answers(self, *, after: str | None = None, limit: int = MOST_LISTED) -> list[Past]:
        check_page(after, limit)
        return list_pasts(self._dataset.ledger, self.analyst, after, limit)

    def answer(self, request_id: str, place: int = 0, *, confidence: float | None = None) -> Answer:
        return self.recall(request_id, place, confidence=confidence).answer

    def recall(self, request_id: str, place: int = 0, *, confidence: float | None = None) -> Recalled:
        """What was paid for under a request id, as `answer` gives it, and what was asked and measured for it."""
        check_confidence(CONFIDENCE if confidence is None else confidence)
        kept = self._dataset.ledger.answer(self.analyst, request_id)
        batch = None if kept is None or not kept.receipt.asked else Batch.from_text(kept.receipt.asked)
        if kept is None or batch is None or not 0 <= place < len(batch.questions):
            fix = write("take a request id and place that {answers()} lists")
            raise Refusal(f"Request {request_id!r}", "has no answer of yours there", fix, code="unknown_answer")
        try:
            priced = self._price_as_before(batch, kept.receipt)
        except Refusal:
            return Recalled(self._recall_stored(kept, place, confidence), batch, place, None)
        if batch.version != self._dataset.catalog.version:  # what caps leave out is known of today's rows alone
            priced = [replace(each, caps=tuple(replace(cap, leaves_out=None) for cap in each.caps)) for each in priced]
        self._dataset.admit(measure_size(priced))
        drafts = replay_answers(priced, kept, confidence or batch.confidence)
        return Recalled(self._choose(drafts, kept, place, confidence), batch, place, priced[place])

    def _recall_stored(self, kept: StoredAnswer, place: int, confidence: float | None) -> Answer:
        """An answer as it was given, where the catalog means something else by its question now."""
        drafts = recall_stored(kept)
        if drafts is None:
            why, fix = "was answered under a catalog that meant something else by it", "ask again"
            raise Refusal(f"Request {kept.receipt.request_id}", why, fix, code="catalog_changed")
        return self._choose(drafts, kept, place, confidence)

    def _choose(
        self, drafts: Sequence[DraftAnswer], kept: StoredAnswer, place: int, confidence: float | None
    ) -> Answer:
        """The answer in one place, if it is at the confidence that is asked for: one that is stored has its own."""
        if confidence is not None and drafts[place].confidence != confidence:
            raise refuse_level(drafts[place].confidence)
        return build_answers(Outcome(drafts, kept.receipt, True, kept.left))[place]

    def take(self, receipt: Receipt, request_id: str | None = None) -> Answer:
        """The very answer that another analyst paid for, at the expense of one's own budget alone, or a Refusal.

        Of several questions, the first answer.
        """
        batch = Batch.from_text(receipt.asked)
        with limit():
            plans = batch.plans(self._dataset.catalog)
            return self._answer_batch(batch, plans, request_id, anyway=True, source=receipt.key)[0]

    def mock(self) -> LocalSession:
        """The same session on made-up rows, to try questions out: nothing is read and nothing is spent."""
        return self._curator.mock().session(self.analyst)

    def identify(self, batch: Batch, plans: Sequence[Plan]) -> bytes:
        """What the answer to a question would be stored under."""
        if sets_price(self._policy):
            check_named(self._policy, batch.names_a_price)
            return batch.unpriced_identity(plans, self._dataset.catalog, "")
        return batch.identity(self._price_plans(batch, plans, None), "")

    def buy(self, batch: Batch, plans: Sequence[Plan], request_id: str) -> Outcome:
        """What came of questions that are planned: paid for, or paid for before."""
        return self._pay_and_give(batch, plans, request_id, anyway=True)

    def _create(self, creation: Creation, confidence: float, payment: Payment) -> Answer:
        """What is told of a release that was made, with the receipt of the dataset."""
        replayed = find_receipt(self._dataset, creation.name) is not None
        release = self.release(creation.name, creation.question, confidence=confidence, **payment)
        told = self._show_public(describe_release(release), confidence)
        return replace(told, receipt=find_receipt(self._dataset, release.name), replayed=replayed)

    def _price_creation(self, question: Question, confidence: float, together: bool = False) -> tuple[Priced, Quote]:
        """A release as the dataset would pay for it."""
        batch = self._build_batch((question,), confidence)
        return price_release(self._dataset, batch, self._declared, together=together)

    def _explain_question(self, question: Question, confidence: float) -> Node:
        creation = read_creation(question.text)
        if creation is not None:
            question = replace(question, text=creation.question)
            if not question.names_no_price:
                one, quote = self._price_creation(question, confidence)
                return explain(without_effort(one.plan), quote)
        plan = plan_text(question, self._dataset.catalog, confidence)
        if isinstance(plan, PublicRows):
            return explain(plan)
        if question.names_no_price and not sets_price(self._policy):
            catalog = self._dataset.catalog
            return explain(plan_without_price(question, plan, catalog), notes=list_notes(plan, catalog))
        (priced,), verdicts = self._price_now(self._build_batch((question,), confidence))
        quote = self._with_warnings(quote_questions([priced], confidence, False, question.rows), verdicts)
        return explain(without_effort(priced.plan), quote)

    def _plan_or_answer(self, question: Question, confidence: float) -> Plan | Answer:
        """The plan of a question about people; the answer to one about releases or public tables alone."""
        released = self._answer_released(question, confidence)
        if released is not None:
            return released
        plan = plan_text(question, self._dataset.catalog, confidence)
        return self._read_public(plan, confidence) if isinstance(plan, PublicRows) else plan

    def _answer_released(self, question: Question, confidence: float) -> Answer | None:
        """The answer to a question about a release; None for any other. No table of the dataset is read."""
        check_text(question)
        if not may_name_release(question.text):
            return None
        check_confidence(confidence)
        with translate_places(question.text):
            select = parse_released(question.text)
            if select is None:
                return None
            found = answer_released(select, self._find_release, confidence)
            return build_free(found, self._dataset.ledger.left(self.analyst))

    def _find_release(self, name: str) -> Release:
        return find_release(self._dataset, name, self.analyst)

    def _read_public(self, plan: PublicRows, confidence: float) -> Answer:
        """Public rows: nothing is reserved, and no private table is read."""
        columns = read_public_columns(plan, self._dataset.engine, self._dataset.catalog)
        self._dataset.admit(size_of_rows(columns))
        return self._show_public(columns, confidence)

    def _show_public(self, columns: tuple[KeyColumn, ...], confidence: float) -> Answer:
        """An answer that cost nothing."""
        rows = np.arange(len(columns[0].values), dtype=np.intp)
        return Answer(columns, rows, confidence, None, False, self._dataset.ledger.left(self.analyst))

    @property
    def _dataset(self) -> Dataset:
        return self._curator.dataset

    @property
    def _policy(self) -> Policy:
        return self._declared.policy

    @property
    def _declared(self) -> Analyst:
        analyst = self._dataset.catalog.analyst(self.analyst)
        assert analyst is not None  # noqa: S101 - Curator.session gives sessions to nobody else
        return analyst

    def _build_batch(
        self,
        questions: Iterable[Question | str],
        confidence: float,
        payment: Payment | None = None,
        *,
        replay: bool = True,
    ) -> Batch:
        check_common(payment or Payment())
        named = tuple(Question(each) if isinstance(each, str) else each for each in questions)
        if not named:
            raise Refusal("The batch", "is empty", "put at least one question into it", code="empty")
        if len(named) > MOST_QUESTIONS:
            why = f"has {len(named):,} questions, more than {MOST_QUESTIONS}"
            raise Refusal("The batch", why, "take it apart", code="too_complex")
        return Batch(tuple(map(bind_question, named)), confidence, self._dataset.catalog.version, payment, replay)

    def _price_now(self, batch: Batch) -> tuple[list[Priced], list[Verdict | None]]:
        """The questions as they would be paid for now, and what would say almost nothing; nothing is read or spent."""
        plans = batch.plans(self._dataset.catalog)
        check_named(self._policy, batch.names_a_price)
        priced = self._price_plans(batch, plans, self._next_price())
        prove(self._dataset.kernel, priced)
        return priced, self._appoint_judge(batch, plans).judge_afresh(priced)

    def _appoint_judge(self, batch: Batch, plans: Sequence[Plan]) -> Judge:
        return Judge(self._dataset, self.analyst, batch, plans, self._recall)

    def _recall(self, receipt: Receipt) -> DraftAnswer:
        """A small answer that was paid for before, as it was asked."""
        kept, batch = self._dataset.ledger.answer(self.analyst, receipt.request_id), Batch.from_text(receipt.asked)
        if kept is None:
            raise Refusal(
                f"Request {receipt.request_id!r}", "has no answer of yours", "ask again", code="unknown_answer"
            )
        priced = self._price_as_before(batch, kept.receipt)
        return replay_answers(priced, kept, batch.confidence)[0]

    def _find_vacuous(self, verdicts: Sequence[Verdict | None], request: PaymentRequest) -> Verdict | None:
        """What is known to say almost nothing and is not sold, if anything is, unless it was paid for before."""
        sure = next((verdict for verdict in verdicts if verdict is not None and verdict.sure), None)
        if sure is None or self._dataset.catalog.vacuous_answers != "refuse":
            return None
        stored = self._dataset.ledger.find_answer(self.analyst, request.request_id, request.identity)
        return sure if stored is None else None

    def _with_warnings(self, quote: Quote, verdicts: Sequence[Verdict | None]) -> Quote:
        """The quote with what would say almost nothing, and what it would mean for the budgets as they are now."""
        ledger = self._dataset.ledger
        declared = self._dataset.catalog.ledger
        shares = declared is not None and declared.lifetime is not None
        lifetime = ledger.lifetime().get(None) if shares else None  # a ledger in memory shares nothing
        warnings = warn(ledger.account(self.analyst), ledger.account(), quote.event, lifetime)
        return replace(quote, warnings=warnings, vacuous=tuple(each.warning() for each in verdicts if each is not None))

    def _next_price(self) -> Pure | None:
        """What a policy says that the next question costs; None where the analyst names the price."""
        if not sets_price(self._policy):
            return None
        return next_price(self._policy, self._dataset.ledger.account(self.analyst))

    def _price_plans(self, batch: Batch, plans: Sequence[Plan], price: Pure | None) -> list[Priced]:
        priced = batch.price(plans, self._dataset.catalog, price)
        check_ceiling(self._policy, cost(priced))
        check_size(self._declared, measure_size(priced))
        return priced

    def _answer_batch(
        self, batch: Batch, plans: Sequence[Plan], request_id: str | None, *, anyway: bool, source: str = ""
    ) -> list[Answer]:
        """What came of it, as answers."""
        outcome = self._pay_and_give(batch, plans, request_id, anyway=anyway, source=source)
        with allow():  # it is paid for
            return build_answers(outcome)

    def _pay_and_give(
        self, batch: Batch, plans: Sequence[Plan], request_id: str | None, *, anyway: bool, source: str = ""
    ) -> Outcome:
        request = choose_request_id(request_id)
        check_named(self._policy, batch.names_a_price)
        if sets_price(self._policy):
            identity = batch.unpriced_identity(plans, self._dataset.catalog, self._with_analyst(request))
            with self._dataset.ledger.lock("question", identity.hex()):
                wanted = PaymentRequest(self.analyst, request, identity, batch.to_text(), source=source)
                outcome = self._pay_by_policy(batch, plans, wanted, anyway=anyway)
        else:
            priced = self._price_plans(batch, plans, None)
            identity = batch.identity(priced, self._with_analyst(request))
            with self._dataset.ledger.lock("question", identity.hex()):
                wanted = PaymentRequest(self.analyst, request, identity, batch.to_text(), source=source)
                verdicts, paid = self._judge_and_pay(batch, plans, priced, wanted, anyway=anyway)
                outcome = self._give(paid, priced, batch.confidence, verdicts)
        if outcome.kept is not None:
            with allow():  # it is paid for
                self._dataset.counts.note(self.analyst, outcome.kept, batch, plans, outcome)
        return outcome

    def _judge_and_pay(
        self, batch: Batch, plans: Sequence[Plan], priced: Sequence[Priced], request: PaymentRequest, *, anyway: bool
    ) -> tuple[list[Verdict | None], Reservation | StoredAnswer]:
        """Pays for questions that are worth their price, and for others if they are wanted `anyway`; and says which."""
        judge, check = self._appoint_judge(batch, plans), partial(self._check_form, batch, plans, priced)
        verdicts = judge.judge(priced)
        if anyway or not self._find_vacuous(verdicts, request):
            with suppress(NewerAnswer):  # of another thread, process or host
                return verdicts, self._pay(replace(request, seen=judge.seen), priced, check)
        # By what is in the ledger now. What is answered from here on is not waited for: there might be no end of it.
        verdicts = judge.judge_afresh(priced)
        if not anyway and (vacuous := self._find_vacuous(verdicts, request)) is not None:
            raise vacuous.refusal()
        return verdicts, self._pay(request, priced, check)

    def _check_form(self, batch: Batch, plans: Sequence[Plan], priced: Sequence[Priced], shared: SharedForm) -> None:
        """Refuse another analyst's answer that might not be shown; where policies set prices, at the price it had."""

        def find_priced() -> Sequence[Priced]:
            if not sets_price(self._policy):
                return priced
            with allow():  # what is refused for its work does not depend on who has asked it before
                return batch.price(plans, self._dataset.catalog, price_of(shared.event))

        check_form(shared, find_priced)

    def _pay_by_policy(self, batch: Batch, plans: Sequence[Plan], request: PaymentRequest, *, anyway: bool) -> Outcome:
        """Pays the price that the policy sets, unless the question was answered before, at whatever price."""
        stored = self._dataset.ledger.find_answer(self.analyst, request.request_id, request.identity)
        if stored is None:
            with self._dataset.ledger.lock("price", self.analyst):  # nobody else may spend what this price is a part of
                priced = self._price_plans(batch, plans, self._next_price())
                verdicts, paid = self._judge_and_pay(batch, plans, priced, request, anyway=anyway)
            if isinstance(paid, Reservation):
                return self._give(paid, priced, batch.confidence, verdicts)
            stored = paid
        with allow():  # it is paid for: perhaps just now, where somebody else's answer is shared
            priced = batch.price(plans, self._dataset.catalog, price_of(stored.receipt.event))
            self._dataset.admit(measure_size(priced))
            return self._give(stored, priced, batch.confidence, [None] * len(priced))

    def _pay(
        self, request: PaymentRequest, priced: Sequence[Priced], check: Callable[[SharedForm], None]
    ) -> Reservation | StoredAnswer:
        """Pays, once there is room for the answer in memory and in the ledger: how much it needs is public."""
        size = measure_size(priced)
        self._dataset.admit(size)
        storage = count_storage(self._declared, size, request.asked)
        return pay(self._dataset.kernel, replace(request, storage=storage), priced, check)

    def _give(
        self,
        paid: Reservation | StoredAnswer,
        priced: Sequence[Priced],
        confidence: float,
        verdicts: Sequence[Verdict | None],
    ) -> Outcome:
        """What was paid for: measured now, or given again, with notes on what says almost nothing."""
        if not isinstance(paid, Reservation):
            with allow():  # what was paid for is shown
                drafts = add_notes(replay_answers(priced, paid, confidence), verdicts)
            return Outcome(drafts, paid.receipt, replayed=True, left=paid.left)
        drafts, receipt = measure(self._dataset.kernel, paid, show_answers(priced, confidence))
        noted = add_notes(drafts, verdicts)
        return Outcome(noted, receipt, replayed=False, left=paid.hold.left, kept=paid.hold.kept)

    def _with_analyst(self, request_id: str) -> str:
        """A request id with its analyst before it: two analysts may use the same id."""
        return f"{self.analyst}\n{request_id}"

    def _price_as_before(self, batch: Batch, receipt: Receipt) -> list[Priced]:
        """The questions as they were measured, by whichever rules, if the catalog still means the same by them."""
        catalog = replace(self._dataset.catalog, version=batch.version)
        plans, request = batch.plans(catalog), self._with_analyst(receipt.request_id)
        for rules in VERSIONS:
            if batch.names_a_price:
                priced = batch.price(plans, catalog, rules=rules)
                same = batch.identity(priced, request)
            else:
                priced = batch.price(plans, catalog, price_of(receipt.event), rules)
                same = batch.unpriced_identity(plans, catalog, request, rules)
            if same == receipt.plan:
                return priced
        raise Refusal("The catalog", "means something else by it", "ask again", code="catalog_changed")
