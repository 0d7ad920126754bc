"""A session over HTTP: everything one analyst may do, asked of a server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack
from urllib.parse import quote as percent_encoded

from adomnia.asking.batch import check_common, choose_request_id
from adomnia.client.connection import Connection, check_address
from adomnia.client.mock import open_remote_mock
from adomnia.errors import AdomniaError, Refusal
from adomnia.explaining.methods import list_methods
from adomnia.options import ASK, BATCH, CONFIDENCE, EXPLAIN, PRICE, RELEASE
from adomnia.pricing.payment import check_confidence
from adomnia.pricing.questions import Payment, Question, check_names
from adomnia.releases.archive import unpack_archive
from adomnia.releases.checks import check_release_name
from adomnia.releases.page import ReleaseList
from adomnia.session.askable import AskableRelease, make_askable
from adomnia.session.catalog_page import show_catalog
from adomnia.session.contract import MOST_LISTED, Session, check_page
from adomnia.session.derived import DerivedSession
from adomnia.session.session_page import SessionPage
from adomnia.session.signatures import takes_options
from adomnia.session.table import PrivateTable, open_table
from adomnia.sql.reading.statements import is_explain
from adomnia.wire.answers import AnswerReply, BatchReply, answer_of, ends_of
from adomnia.wire.asking import payment_body, question_body
from adomnia.wire.budgets import BudgetReply, PastsReply, budgets_of
from adomnia.wire.catalogs import CatalogReply, catalog_of
from adomnia.wire.explanations import ExplanationReply, explanation_of
from adomnia.wire.methods import MethodsReply
from adomnia.wire.models import Reply, require
from adomnia.wire.quotes import QuoteReply, quote_of
from adomnia.wire.releases import ReleaseReply, ReleasesReply, entry_of
from adomnia.wire.shares import NewShareReply, SharedReply, ShareReply, SharesReply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adomnia.catalog.model import Catalog
    from adomnia.engines.contract import Progress
    from adomnia.explaining.methods import MethodList
    from adomnia.pricing.bills import Quote
    from adomnia.session.accounts import Budgets, Past
    from adomnia.session.answer import Answer
    from adomnia.session.explanation import Explanation
    from adomnia.statistics.contract import Bounds

TIMEOUT = 70.0  # seconds: longer than a server lets a question run

_Told = TypeVar("_Told", bound=Reply)
_Read = TypeVar("_Read")


class _Named(Reply):
    name: str


class _Datasets(Reply):
    datasets: list[_Named]


class RemoteSession(DerivedSession):
    """A session over HTTP: the server holds data, noise and budget.

    A question has its request id before it is first sent, so that it can be sent again and is paid once.
    """

    def __init__(self, connection: Connection, dataset: str, analyst: str) -> None:
        self._connection, self.dataset, self.analyst = connection, dataset, analyst
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
        if self.from_release and payment.get("from_release") is None:
            payment["from_release"] = True
        body = {**_ask_body(Question(text, **payment), confidence), "replay": replay, **_anyway(allow_uninformative)}
        record = self._post("query", body | {"request_id": choose_request_id(request_id)})
        return self._read(AnswerReply, lambda told: self._answer(told, 0, body), record)

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
        body = {**_batch_body(questions, confidence, payment), "request_id": choose_request_id(request_id)}
        body |= _anyway(allow_uninformative)
        record = self._post("batch", body)
        return self._read(BatchReply, self._answers, record)

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
        if isinstance(text, str):
            body = _ask_body(Question(text, **payment), confidence)
        else:
            body = _batch_body(text, confidence, payment)
        return self._read(QuoteReply, quote_of, self._post("price", body | {"simultaneous": simultaneous}))

    @takes_options(EXPLAIN)
    def explain(self, text: str, *, confidence: float = CONFIDENCE, **payment: Unpack[Payment]) -> Explanation:
        record = self._post("explain", _ask_body(Question(text, **payment), confidence))
        return self._read(ExplanationReply, explanation_of, record)

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
        check_release_name(name)
        if progress is not None:
            progress(f"asking the server for {name}", 0.1)
        body = _ask_body(Question(text, **payment), confidence) | {"name": name, "private": private}
        self._read(ReleaseReply, entry_of, self._post("releases", body))
        return self.open_release(name)

    def releases(self) -> ReleaseList:
        told = self._get("releases")
        return self._read(ReleasesReply, lambda reply: ReleaseList(map(entry_of, reply.releases)), told)

    def open_release(self, name: str) -> AskableRelease:
        check_release_name(name)
        path = f"/datasets/{path_part(self.dataset)}/releases/{path_part(name)}/archive"
        return make_askable(unpack_archive(self._connection.download(path)))

    def table(self, name: str) -> PrivateTable:
        return open_table(self, name)

    def methods(self) -> MethodList:
        told = self._connection.get("/methods")
        return self._read(MethodsReply, lambda _: list_methods(told["methods"]), told)

    def budget(self) -> Budgets:
        return self._read(BudgetReply, budgets_of, self._get("budget"))

    def catalog(self) -> Catalog:
        return show_catalog(self._read(CatalogReply, catalog_of, self._get("catalog")), self._list_releases())

    def answers(self, *, after: str | None = None, limit: int = MOST_LISTED) -> list[Past]:
        check_page(after, limit)
        wanted = {"limit": limit} | ({} if after is None else {"after": after})
        return self._read(PastsReply, lambda told: [past.past() for past in told.answers], self._get("answers", wanted))

    def answer(self, request_id: str, place: int = 0, *, confidence: float | None = None) -> Answer:
        check_confidence(CONFIDENCE if confidence is None else confidence)
        wanted = {"place": place} | ({} if confidence is None else {"confidence": confidence})
        record = self._get_answer(request_id, wanted)
        return self._read(AnswerReply, lambda told: self._answer(told, place), record)

    def explain_answer(self, request_id: str, place: int = 0) -> Explanation:
        told = self._get(f"explanations/{path_part(request_id)}", {"place": place})
        return self._read(ExplanationReply, explanation_of, told)

    def share(self, request_id: str) -> NewShareReply:
        """A link to what was paid for under a request id; its `code`, for other analysts, is shown this once."""
        told = self._post("shares", {"request_id": request_id})
        return self._read(NewShareReply, take_reply, told)

    def shares(self) -> list[ShareReply]:
        """The links that one has made and not ended, newest first."""
        return self._read(SharesReply, lambda told: told.shares, self._get("shares"))

    def end_share(self, share_id: str) -> None:
        """End one of one's own links; whoever has paid by it keeps the answers."""
        self._connection.delete(f"/datasets/{path_part(self.dataset)}/shares/{path_part(share_id)}")

    def open_shared(self, code: str) -> SharedReply:
        """What another analyst's link leads to: the questions and their price, and nothing of the answers; free."""
        return self._read(SharedReply, take_reply, self._get(f"shared/{path_part(code)}"))

    def buy_shared(self, code: str) -> list[Answer]:
        """Pay for the very answers that a link leads to, from one's own budget alone; what one has already is free."""
        told = self._post(f"shared/{path_part(code)}", {})
        return self._read(BatchReply, self._answers, told)

    def mock(self) -> Session:
        return open_remote_mock(self.catalog(), self.sql).session(self.analyst)

    def close(self) -> None:
        """Close the connection to the server."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _page(self) -> SessionPage:
        place = f"{self.dataset} at {self._connection.address.url}"
        page = SessionPage(f"Session of {self.analyst} with {place}.", None, None)
        try:
            catalog = self._read(CatalogReply, catalog_of, self._peek("catalog"))
            listed = self._read(ReleasesReply, lambda told: told.releases, self._peek("releases"))
            budgets = self._read(BudgetReply, budgets_of, self._peek("budget"))
        except AdomniaError as error:
            return replace(page, heading=f"{page.heading} {error}")
        return replace(page, catalog=catalog, releases=tuple(each.name for each in listed), budgets=budgets)

    def _peek(self, path: str) -> Any:  # noqa: ANN401 - JSON
        return self._connection.peek(f"/datasets/{path_part(self.dataset)}/{path}")

    def _list_releases(self) -> ReleaseList:
        try:
            return self.releases()
        except Refusal as refusal:
            if refusal.code != "other_version":
                raise
            return ReleaseList()  # a server of an earlier version has none

    def _get(self, path: str, parameters: dict[str, Any] | None = None) -> Any:  # noqa: ANN401 - JSON
        return self._connection.get(f"/datasets/{path_part(self.dataset)}/{path}", parameters)

    def _post(self, path: str, body: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        return self._connection.post(f"/datasets/{path_part(self.dataset)}/{path}", body)

    def _get_answer(self, request_id: str, parameters: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        return self._get(f"answers/{path_part(request_id)}", parameters)

    def _answers(self, told: BatchReply) -> list[Answer]:
        return [self._answer(each, place) for place, each in enumerate(told.answers)]

    def _answer(self, told: AnswerReply, place: int, body: dict[str, Any] | None = None) -> Answer:
        """The answer, which asks again where other intervals are wanted than those that came.

        By its request id, if it was paid for; what was free, as it was asked first.
        """
        known: dict[tuple[float, bool], Any] = {}

        def intervals(name: str, confidence: float, simultaneous: bool) -> Bounds:
            if (confidence, simultaneous) not in known:
                check_confidence(confidence)
                known[confidence, simultaneous] = self._ask_again(told, place, body, confidence, simultaneous)
            again = known[confidence, simultaneous]
            return self._read(AnswerReply, lambda reply: ends_of(reply, name, told.rows), again)

        return answer_of(told, intervals)

    def _ask_again(
        self, told: AnswerReply, place: int, body: dict[str, Any] | None, confidence: float, simultaneous: bool
    ) -> Any:  # noqa: ANN401 - JSON
        if told.receipt is None and body is not None:
            again = {"confidence": confidence, "simultaneous": simultaneous, "request_id": choose_request_id(None)}
            return self._post("query", body | again)
        wanted = {"place": place, "confidence": confidence, "simultaneous": str(simultaneous).lower()}
        return self._get_answer(require(told.receipt).request_id, wanted)

    def _read(self, model: type[_Told], read: Callable[[_Told], _Read], record: Any) -> _Read:  # noqa: ANN401 - JSON
        return read_reply(self._connection, model, read, record)


def connect(
    url: str, token: str, dataset: str | None = None, *, timeout: float = TIMEOUT, insecure: bool = False
) -> RemoteSession:
    """A session with a server, with the same face as one on this machine.

    `dataset` may be left out where the server has one. `timeout` is how many seconds one try may take. A server on
    another machine needs https://, unless `insecure` says that the way there is safe by other means.

    >>> alice = connect("http://127.0.0.1:8000", "the token of alice")  # doctest: +SKIP
    """
    connection = Connection(check_address(url, insecure=insecure), token, timeout)
    try:
        return RemoteSession(connection, *find_dataset(connection, dataset))
    except BaseException:
        connection.close()
        raise


def find_dataset(connection: Connection, dataset: str | None) -> tuple[str, str]:
    """The dataset of that name, or the only one, and who asks it; a Refusal where there is none."""
    analyst = read_reply(connection, _Named, _name, connection.get("/me"))
    names = read_reply(connection, _Datasets, lambda told: list(map(_name, told.datasets)), connection.get("/datasets"))
    chosen = names[0] if dataset is None and len(names) == 1 else dataset
    if chosen is None or chosen not in names:
        what = "The dataset" if dataset is None else f"The dataset {dataset}"
        why = f"is not among those that {analyst} may ask: {', '.join(names) or 'there is none'}"
        raise Refusal(what, why, "name one of them, or ask the owner", code="unknown_dataset")
    return chosen, analyst


def read_reply(
    connection: Connection,
    model: type[_Told],
    read: Callable[[_Told], _Read],
    record: Any,  # noqa: ANN401 - JSON
) -> _Read:
    """Checks and reads a reply; a Refusal where it is of another version."""
    try:
        return read(model.model_validate(record, strict=True))
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
        raise connection.other_version() from None


def _name(told: _Named) -> str:
    """A name that can be shown."""
    if not told.name.isprintable():
        raise ValueError("Name must be printable.")
    return told.name


def take_reply(told: _Told) -> _Told:
    return told


def path_part(text: str) -> str:
    """A part of a path; dots alone would be taken for a step up."""
    encoded = percent_encoded(text, safe="")
    return encoded.replace(".", "%2E") if encoded in {".", ".."} else encoded


def _anyway(allow_uninformative: bool) -> dict[str, bool]:
    """Only where it is said: a server of an earlier version takes no such key."""
    return {"allow_uninformative": True} if allow_uninformative else {}


def _ask_body(question: Question, confidence: float) -> dict[str, Any]:
    check_confidence(confidence)
    return {**question_body(question), "confidence": confidence}


def _batch_body(questions: Iterable[Question | str], confidence: float, payment: Payment) -> dict[str, Any]:
    check_confidence(confidence)
    check_common(payment)
    bodies = [each if isinstance(each, str) else question_body(each) for each in questions]
    return {"questions": bodies, "confidence": confidence, **payment_body(payment)}
