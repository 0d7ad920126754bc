"""The session over data on this machine: from text to answer. What is debited and read, `curator/paying` decides."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, Unpack

from adomnia.asking.asker import Asker
from adomnia.asking.batch import Batch, bind_question, refuse_from_release
from adomnia.asking.inquiry import Inquiry, ask
from adomnia.asking.purchase import buy
from adomnia.asking.quoting import explain_question, quote
from adomnia.asking.releasing import buy_release, find_release, list_releases, publish
from adomnia.errors import AdomniaError, Refusal
from adomnia.explaining.methods import list_methods
from adomnia.options import ASK, BATCH, CONFIDENCE, EXPLAIN, PRICE, RELEASE
from adomnia.pricing.policies import terms
from adomnia.pricing.questions import Payment, Question, check_names
from adomnia.releases.page import ReleaseList
from adomnia.session.accounts import Budgets, Past, list_pasts
from adomnia.session.askable import AskableRelease, make_askable
from adomnia.session.building import build_answers
from adomnia.session.catalog_page import show_catalog
from adomnia.session.contract import MOST_LISTED, check_page
from adomnia.session.derived import DerivedSession
from adomnia.session.explanation import build_explanation
from adomnia.session.progress import ProgressLine
from adomnia.session.recalled import Recalled, recall
from adomnia.session.session_page import SessionPage
from adomnia.session.signatures import takes_options
from adomnia.session.table import PrivateTable, open_table
from adomnia.sql.reading.statements import is_explain, without_explain
from adomnia.work import limit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from adomnia.asking.asker import Dataset
    from adomnia.catalog.model import Catalog
    from adomnia.engines.contract import Progress
    from adomnia.explaining.methods import MethodList
    from adomnia.ledger.requests import Receipt
    from adomnia.pricing.bills import Quote
    from adomnia.session.answer import Answer
    from adomnia.session.explanation import Explanation


class DatasetHolder(Protocol):
    """Who gives sessions with a dataset, and with made-up rows in its place."""

    dataset: Dataset
    made_up: bool  # whether its rows are

    def session(self, analyst: str) -> LocalSession:
        """A session of an analyst."""
        ...

    def mock(self) -> DatasetHolder:
        """The same on made-up rows."""
        ...


class LocalSession(DerivedSession):
    """A session with a dataset on this machine."""

    def __init__(self, curator: DatasetHolder, analyst: str) -> None:
        self._curator, self.analyst = curator, analyst
        self.from_release = False

    @takes_options(ASK)
    def sql(
        self,
        text: str,
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        replay: bool = True,
        allow_uninformative: bool = False,
        **payment: Unpack[Payment],
    ) -> Answer:
        check_names(payment)
        if isinstance(text, str) and is_explain(text):
            return self.explain(text, confidence=confidence, **payment)
        inquiry = Inquiry(
            self._asker,
            text,
            confidence,
            payment,
            request_id=request_id,
            replay=replay,
            allow_uninformative=allow_uninformative,
            from_release=self.from_release,
            watch=ProgressLine,
        )
        with self._asking():
            return build_answers(ask(inquiry))[0]

    @takes_options(BATCH)
    def batch(
        self,
        questions: Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        allow_uninformative: bool = False,
        **payment: Unpack[Payment],
    ) -> list[Answer]:
        check_names(payment)
        with self._asking():
            batch = self._asker.build_batch(questions, confidence, payment)
            refuse_from_release(batch.questions, payment)
            plans = batch.plans(self._dataset.catalog)
            return build_answers(buy(self._asker, batch, plans, request_id, allow_uninformative=allow_uninformative))

    @takes_options(PRICE)
    def price(
        self,
        text: str | Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        simultaneous: bool = False,
        **payment: Unpack[Payment],
    ) -> Quote:
        check_names(payment)
        with self._asking():
            return quote(self._asker, text, confidence, simultaneous, payment)

    @takes_options(EXPLAIN)
    def explain(self, text: str, *, confidence: float = CONFIDENCE, **payment: Unpack[Payment]) -> Explanation:
        with self._asking():
            question = bind_question(Question(without_explain(text), **payment))
            return build_explanation(explain_question(self._asker, question, confidence), confidence, self._asker.left)

    @takes_options(RELEASE)
    def release(
        self,
        name: str,
        text: str,
        *,
        private: bool = False,
        confidence: float = CONFIDENCE,
        progress: Progress | None = None,
        **payment: Unpack[Payment],
    ) -> AskableRelease:
        with self._asking(), ProgressLine() as line:
            tell = line if progress is None else progress
            batch = self._asker.build_batch((Question(text, **payment),), confidence)
            if private:
                return make_askable(buy_release(self._asker, name, batch, tell))
            return make_askable(publish(self._dataset, name, batch, self._asker.declared, tell))

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
        return Budgets(personal, ledger.account(), terms(self._asker.policy, personal))

    def catalog(self) -> Catalog:
        return show_catalog(self._dataset.catalog, self.releases())

    def answers(self, *, after: str | None = None, limit: int = MOST_LISTED) -> list[Past]:
        check_page(after, limit)
        return list_pasts(self._dataset.ledger, self.analyst, after, limit)

    def answer(self, request_id: str, place: int = 0, *, confidence: float | None = None) -> Answer:
        return self.recall(request_id, place, confidence=confidence).answer

    def recall(self, request_id: str, place: int = 0, *, confidence: float | None = None) -> Recalled:
        """What was paid for under a request id, as `answer` gives it, and what was asked and measured for it."""
        return recall(self._asker, request_id, place, confidence)

    def explain_answer(self, request_id: str, place: int = 0) -> Explanation:
        recalled = self.recall(request_id, place)
        told = recalled.explain()
        if told is None:
            why = "was answered under a catalog that meant something else by it, and is not explained any more"
            raise Refusal(f"Request {request_id}", why, "read the notes of the answer", code="catalog_changed")
        return build_explanation(told[0], recalled.batch.confidence, self._asker.left)

    def take(self, receipt: Receipt, request_id: str | None = None) -> list[Answer]:
        """The very answers that another analyst paid for, at the expense of one's own budget alone, or a Refusal."""
        batch = Batch.from_text(receipt.asked)
        with self._asking():
            plans = batch.plans(self._dataset.catalog)
            bought = buy(self._asker, batch, plans, request_id, allow_uninformative=True, source=receipt.key)
            return build_answers(bought)

    def mock(self) -> LocalSession:
        return self._curator.mock().session(self.analyst)

    def _page(self) -> SessionPage:
        page = SessionPage(self._heading, self._dataset.catalog, None, made_up=self._curator.made_up)
        with suppress(AdomniaError):  # of a ledger that cannot be read
            return replace(page, budgets=self.budget(), releases=tuple(each.name for each in self.releases()))
        return page

    @property
    def _heading(self) -> str:
        return f"Session of {self.analyst} with {self._dataset.catalog.name}."

    def _asking(self) -> AbstractContextManager[None]:
        """What is around every question: what is computed for it is counted."""
        return limit()

    @property
    def _dataset(self) -> Dataset:
        return self._curator.dataset

    @property
    def _asker(self) -> Asker:
        return Asker(self._dataset, self.analyst)
