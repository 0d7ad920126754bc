"""What is asked, a dataset with its rows, budgets and releases; and who asks it, an analyst of its catalog."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.asking.batch import MOST_QUESTIONS, Batch, bind_question, check_common
from adomnia.asking.known_rows import EarlierCounts
from adomnia.asking.replaying import replay_answers
from adomnia.asking.sizes import check_size, measure_size
from adomnia.curator.profiles import add_profiles
from adomnia.errors import Refusal
from adomnia.pricing.parts import cost
from adomnia.pricing.policies import check_ceiling, check_named, next_price, sets_price
from adomnia.pricing.questions import Question
from adomnia.releases.store import ReleaseStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from adomnia.asking.sizes import AnswerSize
    from adomnia.catalog.model import Analyst, Catalog, Policy
    from adomnia.curator.paying import Kernel
    from adomnia.engines.contract import Engine, Progress
    from adomnia.ledger import Ledger
    from adomnia.ledger.requests import Receipt, StoredAnswer
    from adomnia.plans.columns import DraftAnswer
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Payment, Priced
    from adomnia.pricing.rules import Rules
    from adomnia.privacy.events import Pure
    from adomnia.privacy.filters import Left


def admit_any(_size: AnswerSize) -> None:
    """Admit answers of any size: whoever asks in their own process has all of its memory."""


@dataclass(frozen=True)
class Dataset:
    """A dataset under protection; `admit` is called before anything is paid, and may refuse."""

    kernel: Kernel
    counts: EarlierCounts
    releases: ReleaseStore
    admit: Callable[[AnswerSize], None] = admit_any

    @property
    def catalog(self) -> Catalog:
        """What the owner declared, with what was measured once for all."""
        return self.kernel.catalog

    @property
    def engine(self) -> Engine:
        """Where the data is."""
        return self.kernel.engine

    @property
    def ledger(self) -> Ledger:
        """Where budgets are."""
        return self.kernel.ledger


def open_dataset(kernel: Kernel, progress: Progress, releases: Path | None = None) -> Dataset:
    """The data of a kernel, with what is measured once for all, where it was not yet; `releases` names a folder."""
    known = replace(kernel, catalog=add_profiles(kernel, progress))
    return Dataset(known, EarlierCounts(), ReleaseStore(releases))


@dataclass(frozen=True)
class Asker:
    """An analyst, and the dataset that they ask."""

    dataset: Dataset
    name: str

    @property
    def declared(self) -> Analyst:
        """What the owner declared of them."""
        analyst = self.dataset.catalog.analyst(self.name)
        assert analyst is not None  # noqa: S101 - Curator.session gives sessions to nobody else
        return analyst

    @property
    def policy(self) -> Policy:
        """What decides their prices."""
        return self.declared.policy

    @property
    def left(self) -> Left:
        """What they have left."""
        return self.dataset.ledger.left(self.name)

    def build_batch(
        self,
        questions: Iterable[Question | str],
        confidence: float,
        payment: Payment | None = None,
        *,
        replay: bool = True,
    ) -> Batch:
        """Questions that are paid for together, about the data of today."""
        check_common(payment or {})
        named = tuple(Question(each) if isinstance(each, str) else each for each in questions)
        if not named:
            raise Refusal("The batch", "is empty", "put at least one question into it", code="empty")
        if len(named) > MOST_QUESTIONS:
            why = f"has {len(named):,} questions, more than {MOST_QUESTIONS}"
            raise Refusal("The batch", why, "take it apart", code="too_complex")
        return Batch(tuple(map(bind_question, named)), confidence, self.dataset.catalog.version, payment, replay)

    def price(self, batch: Batch, plans: Sequence[Plan], price: Pure | None = None) -> list[Priced]:
        """The plans at their price, if this analyst may pay so much, and have so large an answer."""
        priced = batch.price(plans, self.dataset.catalog, price)
        check_ceiling(self.policy, cost(priced))
        check_size(self.declared, measure_size(priced))
        return priced

    def next_price(self) -> Pure | None:
        """What a policy says that the next question costs; None where the analyst names the price."""
        return next_price(self.policy, self.dataset.ledger.account(self.name)) if sets_price(self.policy) else None

    def identify(self, batch: Batch, plans: Sequence[Plan], priced: Sequence[Priced], request: str = "") -> bytes:
        """What an answer is stored under: where a policy sets its price, whatever that is."""
        if sets_price(self.policy):
            return batch.unpriced_identity(plans, self.dataset.catalog, request)
        return batch.identity(priced, request)

    def price_as_before(self, batch: Batch, receipt: Receipt) -> list[Priced]:
        """The questions as they were measured, by whichever rules, if the catalog still means the same by them."""
        catalog, request = replace(self.dataset.catalog, version=batch.version), self.own(receipt.request_id)

        def identify(plans: Sequence[Plan], priced: Sequence[Priced], rules: Rules) -> bytes:
            if batch.names_a_price:
                return batch.identity(priced, request)
            return batch.unpriced_identity(plans, catalog, request, rules)

        return batch.price_as_before(catalog, receipt, identify)

    def recall(self, receipt: Receipt) -> DraftAnswer:
        """A small answer that was paid for before, as it was asked."""
        batch, kept = Batch.from_text(receipt.asked), self.find_kept(receipt.request_id)
        if kept is None:
            what = f"Request {receipt.request_id!r}"
            raise Refusal(what, "has no answer of yours", "ask again", code="unknown_answer")
        return replay_answers(self.price_as_before(batch, kept.receipt), kept, batch.confidence)[0]

    def find_kept(self, request_id: str) -> StoredAnswer | None:
        """What was answered under a request id of theirs, if anything was."""
        return self.dataset.ledger.answer(self.name, request_id)

    def check_named(self, batch: Batch) -> None:
        """Refuse a price where a policy sets it, and none where it does not."""
        check_named(self.policy, batch.names_a_price)

    def own(self, request_id: str) -> str:
        """A request id with its analyst before it: two analysts may use the same id."""
        return f"{self.name}\n{request_id}"
