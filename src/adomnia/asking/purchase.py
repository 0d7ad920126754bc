"""Questions that are paid for: proved, paid, and measured or shown again.

It never ends between payment and answer for what could have been known before: names, ceilings, sizes and what would
say almost nothing are looked at first, then the second look, and only then the ledger.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.asking.batch import choose_request_id, price_of
from adomnia.asking.known_rows import find_rows
from adomnia.asking.replaying import check_form, replay_answers, show_answers
from adomnia.asking.sizes import count_storage, measure_size
from adomnia.curator.paying import PaymentRequest, Reservation, measure, pay
from adomnia.ledger.requests import NewerAnswer
from adomnia.pricing.policies import sets_price
from adomnia.pricing.vacuity import judge
from adomnia.work import allow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adomnia.asking.asker import Asker, Dataset
    from adomnia.asking.batch import Batch
    from adomnia.asking.known_rows import EarlierAnswers, Look
    from adomnia.catalog.model import Analyst
    from adomnia.curator.paying import SharedForm
    from adomnia.ledger.requests import KeptAnswer, Receipt, StoredAnswer
    from adomnia.plans.columns import DraftAnswer
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Priced
    from adomnia.pricing.vacuity import KnownRows, Verdict
    from adomnia.privacy.filters import Left


@dataclass(frozen=True)
class Outcome:
    """What came of asking: answers, the receipt if they were paid for, and what the analyst has left since.

    `kept` is where they were just kept.
    """

    drafts: Sequence[DraftAnswer]
    receipt: Receipt | None
    replayed: bool
    left: Left | None = None
    kept: KeptAnswer | None = None


def buy(  # noqa: PLR0913 - all that decides what is paid for
    asker: Asker,
    batch: Batch,
    plans: Sequence[Plan],
    request_id: str | None,
    *,
    allow_uninformative: bool,
    source: str = "",
) -> Outcome:
    """What came of questions that an analyst pays for, or paid for before."""
    asker.check_named(batch)
    named = choose_request_id(request_id)
    priced = [] if sets_price(asker.policy) else asker.price(batch, plans)
    identity = asker.identify(batch, plans, priced, asker.own(named))
    request = PaymentRequest(asker.name, named, identity, batch.to_text(), source=source)
    purchase = _Purchase(asker, batch, plans, allow_uninformative)
    with asker.dataset.ledger.lock("question", identity.hex()):
        outcome = purchase.make(request, priced) if priced else purchase.make_by_policy(request)
    if outcome.kept is not None and outcome.receipt is not None:
        with allow():  # it is paid for
            told = outcome.kept, outcome.receipt, batch, plans, outcome.drafts[0]
            asker.dataset.counts.note(asker.name, *told)
    return outcome


def pay_once(
    dataset: Dataset,
    payer: Analyst | None,
    request: PaymentRequest,
    priced: Sequence[Priced],
    check: Callable[[SharedForm], None] | None = None,
) -> Reservation | StoredAnswer:
    """Pay, once there is room for the answer in memory and in the ledger: how much it needs is public."""
    size = measure_size(priced)
    dataset.admit(size)
    storage = None if payer is None else count_storage(payer, size, request.asked)
    return pay(dataset.kernel, replace(request, storage=storage), priced, check)


def give(
    dataset: Dataset,
    paid: Reservation | StoredAnswer,
    priced: Sequence[Priced],
    confidence: float,
    verdicts: Sequence[Verdict | None] = (),
) -> Outcome:
    """What was paid for: measured now, or given again, with notes on what says almost nothing."""
    if not isinstance(paid, Reservation):
        with allow():  # what was paid for is shown
            shown = show_again(priced, paid, confidence)
            return replace(shown, drafts=_add_notes(shown.drafts, verdicts))
    drafts, receipt = measure(dataset.kernel, paid, show_answers(priced, confidence))
    return Outcome(_add_notes(drafts, verdicts), receipt, replayed=False, left=paid.hold.left, kept=paid.hold.kept)


def show_again(priced: Sequence[Priced], stored: StoredAnswer, confidence: float) -> Outcome:
    """What was answered before, from what was measured then."""
    return Outcome(replay_answers(priced, stored, confidence), stored.receipt, replayed=True, left=stored.left)


class Judge:
    """Whether the questions of a request would say anything at their price, by what their analyst may know of the rows.

    `seen` is the number of the analyst's newest answer that was looked at, if any was. Where it is from memory, there
    may be a newer one in the ledger: whoever pays for what was judged notices, and has it judged afresh.
    """

    def __init__(self, asker: Asker, batch: Batch, plans: Sequence[Plan]) -> None:
        self._asker, self._batch, self._plans = asker, batch, plans
        self._earlier: EarlierAnswers | None = None

    @property
    def seen(self) -> int | None:
        return None if self._earlier is None else self._earlier.newest

    def judge(self, priced: Sequence[Priced]) -> list[Verdict | None]:
        """Of each question, the first output that would say almost nothing."""
        return self._judge(priced, self._asker.dataset.counts.remember)

    def judge_afresh(self, priced: Sequence[Priced]) -> list[Verdict | None]:
        """The same by what is in the ledger now."""
        return self._judge(priced, self._asker.dataset.counts.read)

    def _judge(self, priced: Sequence[Priced], look: Look) -> list[Verdict | None]:
        self._earlier = None
        confidence, common = self._batch.confidence, self._batch.common_price
        return [
            judge(plan, each, self._find_rows(plan, each, question.rows, look), confidence, common)
            for question, plan, each in zip(self._batch.questions, self._plans, priced, strict=True)
        ]

    def _find_rows(self, plan: Plan, priced: Priced, given: int | None, look: Look) -> KnownRows:
        dataset = self._asker.dataset
        known = find_rows(plan, priced, given, dataset.catalog)
        if known.sure:
            return known
        if self._earlier is None:
            self._earlier = look(self._asker.name, dataset.ledger, dataset.catalog, self._asker.recall)
        return self._earlier.find(plan)


def _add_notes(drafts: Sequence[DraftAnswer], verdicts: Sequence[Verdict | None]) -> list[DraftAnswer]:
    """The answers with notes on what says almost nothing.

    They are for whoever asked, and not kept: they tell of their earlier answers, and others may share this one.
    """
    return [
        each if verdict is None else replace(each, notes=(verdict.note(), *each.notes))
        for each, verdict in zip(drafts, verdicts or [None] * len(drafts), strict=True)
    ]


@dataclass(frozen=True)
class _Purchase:
    """Questions that an analyst wants to buy, and whether they want them however little they would say."""

    asker: Asker
    batch: Batch
    plans: Sequence[Plan]
    allow_uninformative: bool

    def make(self, request: PaymentRequest, priced: Sequence[Priced]) -> Outcome:
        """At the price that was named."""
        verdicts, paid = self._judge_and_pay(request, priced)
        return give(self.asker.dataset, paid, priced, self.batch.confidence, verdicts)

    def make_by_policy(self, request: PaymentRequest) -> Outcome:
        """At the price that the policy sets, unless the questions were answered before, at whatever price."""
        asker, confidence = self.asker, self.batch.confidence
        dataset = asker.dataset
        stored = dataset.ledger.find_answer(asker.name, request.request_id, request.identity)
        if stored is None:
            with dataset.ledger.lock("price", asker.name):  # nobody else may spend what this price is a part of
                priced = asker.price(self.batch, self.plans, asker.next_price())
                verdicts, paid = self._judge_and_pay(request, priced)
            if isinstance(paid, Reservation):
                return give(dataset, paid, priced, confidence, verdicts)
            stored = paid
        with allow():  # it is paid for: perhaps just now, where somebody else's answer is shared
            priced = self._price_at(stored.receipt)
            dataset.admit(measure_size(priced))
            return give(dataset, stored, priced, confidence)

    def _judge_and_pay(
        self, request: PaymentRequest, priced: Sequence[Priced]
    ) -> tuple[list[Verdict | None], Reservation | StoredAnswer]:
        """Pay for questions that are worth their price, and for others if that is allowed; and say which."""
        judge = Judge(self.asker, self.batch, self.plans)
        verdicts = judge.judge(priced)
        if self.allow_uninformative or not self._find_vacuous(verdicts, request):
            with suppress(NewerAnswer):  # of another thread, process or host
                return verdicts, self._pay(replace(request, seen=judge.seen), priced)
        # By what is in the ledger now. What is answered from here on is not waited for: there might be no end of it.
        verdicts = judge.judge_afresh(priced)
        if not self.allow_uninformative and (vacuous := self._find_vacuous(verdicts, request)) is not None:
            raise vacuous.refusal()
        return verdicts, self._pay(request, priced)

    def _find_vacuous(self, verdicts: Sequence[Verdict | None], request: PaymentRequest) -> Verdict | None:
        """What is known to say almost nothing and is not sold, if anything is, unless it was paid for before."""
        dataset = self.asker.dataset
        sure = next((verdict for verdict in verdicts if verdict is not None and verdict.sure), None)
        if sure is None or dataset.catalog.vacuous_answers != "refuse":
            return None
        stored = dataset.ledger.find_answer(self.asker.name, request.request_id, request.identity)
        return sure if stored is None else None

    def _pay(self, request: PaymentRequest, priced: Sequence[Priced]) -> Reservation | StoredAnswer:
        def find_priced(shared: SharedForm) -> Sequence[Priced]:
            if not sets_price(self.asker.policy):
                return priced
            with allow():  # what is refused for its work does not depend on who has asked it before
                return self._price_at(shared)

        def check(shared: SharedForm) -> None:
            """Refuse another analyst's answer that might not be shown; of policies, at the price it had."""
            check_form(shared, lambda: find_priced(shared))

        return pay_once(self.asker.dataset, self.asker.declared, request, priced, check)

    def _price_at(self, paid: SharedForm | Receipt) -> list[Priced]:
        """The questions at the price that was paid for them, whatever the policy says now."""
        return self.batch.price(self.plans, self.asker.dataset.catalog, price_of(paid.event))
