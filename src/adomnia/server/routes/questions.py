"""Questions: answered, priced, explained, and answered once more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Query
from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.errors import Failure, Refusal
from adomnia.noise import SystemBits
from adomnia.server.problems import encoded, route_of
from adomnia.server.rendering import encoded_answer, encoded_batch, encoded_pasts
from adomnia.server.replies import Asked, Kept, Replies
from adomnia.server.routes.requests import at_counter, check_dataset, desk_of, visitor_of, with_dataset
from adomnia.wire.answers import answer_record, batch_record, left_record
from adomnia.wire.asking import (  # noqa: TC001 - likewise
    Ask,
    AskBatch,
    AskBatchPrice,
    AskExplanation,
    AskPrice,
)
from adomnia.wire.explanations import explanation_record
from adomnia.wire.pasts import pasts_record
from adomnia.wire.quotes import quote_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.ledger import Ledger
    from adomnia.server.access import Visitor
    from adomnia.server.desk import Desk
    from adomnia.server.running.served import Edition
    from adomnia.session.answer import Answer
    from adomnia.session.contract import Session

JSON = "application/json"
_CHANGING = frozenset({"replayed", "left"})  # what is not the same when a reply is given again
_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,200}")  # ids that the ledger takes without a second thought


@dataclass(frozen=True)
class Errand:
    """A question that is to be paid for: whose it is, about which dataset, under which request id."""

    desk: Desk
    visitor: Visitor
    dataset: str
    request_id: str

    async def run(self, request: Request, ask: Callable[[Session, Edition], bytes]) -> Response:
        """The reply; the question goes on to its end even if nobody waits for it."""
        route = route_of(request.scope)
        try:
            body = await self.desk.pace.run(self.visitor.name, request.state.arrived, lambda: self._asked(ask, route))
        except Failure as failure:
            raise Failure(failure.request_id or self.request_id) from None
        return Response(body, media_type=JSON)

    def _asked(self, ask: Callable[[Session, Edition], bytes], route: str) -> bytes:
        try:
            with self.desk.served.lease() as edition:
                check_dataset(edition.curator, self.dataset, self.visitor)
                return ask(edition.curator.session(self.visitor.name), edition)
        except Refusal:
            self.desk.metrics.question("refused")
            raise
        except Exception as fault:  # noqa: BLE001 - what went wrong after data was read must not be told
            self.desk.metrics.question("failed")
            if not isinstance(fault, Failure):
                self.desk.logs.fault(route, fault)
            raise Failure(getattr(fault, "request_id", None)) from None


async def query(dataset: str, asked: Ask, request: Request) -> Response:
    """Pay for a question and answer it."""
    desk, visitor, replies = desk_of(request), visitor_of(request), replies_of(request)
    with desk.served.lease() as edition:
        check_dataset(edition.curator, dataset, visitor)
        kept = replies.find(_key(visitor, edition, asked)) if asked.replay else None
    if kept is not None:
        body = await at_counter(request, lambda: _replayed(desk, visitor, kept, asked.request_id))
        if body is not None:
            desk.metrics.question("replayed")
            return Response(body, media_type=JSON)
    request_id = _named(asked.request_id)
    named = asked.model_copy(update={"request_id": request_id})

    def ask(session: Session, edition: Edition) -> bytes:
        answer = named.put_to(session)
        desk.metrics.question("replayed" if answer.replayed else "answered")
        record = answer_record(answer)
        left = encoded(record["left"])
        lasting = encoded_answer({name: part for name, part in record.items() if name not in _CHANGING})
        if answer.receipt is not None and asked.replay:
            replies.keep(_key(visitor, edition, asked), Kept(answer.receipt.request_id, lasting))
        return _whole(lasting, left, answer.replayed)

    return await Errand(desk, visitor, dataset, request_id).run(request, ask)


async def batch(dataset: str, asked: AskBatch, request: Request) -> Response:
    """Pay for several questions at once and answer them: one refusal refuses all."""
    desk, visitor, request_id = desk_of(request), visitor_of(request), _named(asked.request_id)
    named = asked.model_copy(update={"request_id": request_id})

    def ask(session: Session, _edition: Edition) -> bytes:
        answers: list[Answer] = named.put_to(session)
        desk.metrics.question("replayed" if answers[0].replayed else "answered")
        return encoded_batch(batch_record(answers))

    return await Errand(desk, visitor, dataset, request_id).run(request, ask)


async def price(dataset: str, asked: AskPrice | AskBatchPrice, request: Request) -> Response:
    """What a question or a batch would cost, and how far off its answers may be; nothing is read or spent."""
    return await _free(request, dataset, lambda session: encoded(quote_record(asked.put_to(session))))


async def explain(dataset: str, asked: AskExplanation, request: Request) -> Response:
    """What a question means and measures, and if a price is named what it buys; nothing is read or spent."""
    return await _free(request, dataset, lambda session: encoded(explanation_record(asked.put_to(session))))


async def answers(dataset: str, request: Request) -> Response:
    """Everything this analyst has paid for and got, oldest first."""
    return await _free(request, dataset, lambda session: encoded_pasts(pasts_record(session.answers())))


async def answer(  # noqa: PLR0913, PLR0917 - each is a part of the address
    dataset: str,
    request_id: str,
    request: Request,
    place: Annotated[int, Query(ge=0, le=2**31, description="Of a batch: which answer, from 0.")] = 0,
    confidence: Annotated[
        float | None, Query(gt=0, lt=1, description="For other intervals than were asked for.")
    ] = None,
    together: Annotated[bool, Query(description="Intervals that hold all groups of a column at once.")] = False,
) -> Response:
    """One of one's own answers once more, free."""

    def ask(session: Session) -> bytes:
        again = session.answer(request_id, place, confidence=confidence)
        return encoded_answer(answer_record(again, together=together))

    return await _free(request, dataset, ask)


def replies_of(request: Request) -> Replies:
    """The memory of this process."""
    kept: Replies = request.app.state.replies
    return kept


async def _free(request: Request, dataset: str, ask: Callable[[Session], bytes]) -> Response:
    """What a session says without paying or reading; it never waits for questions that do."""
    name = visitor_of(request).name
    body = await with_dataset(request, dataset, lambda curator: ask(curator.session(name)))
    return Response(body, media_type=JSON)


def _key(visitor: Visitor, edition: Edition, asked: Ask) -> Asked:
    question = repr([(name, part) for name, part in asked if name != "request_id"])
    return Asked(visitor.name, edition.identity, question)


def _replayed(desk: Desk, visitor: Visitor, kept: Kept, request_id: str | None) -> bytes | None:
    """A kept reply with what is left now; None if only the ledger can say what the request id stands for."""
    with desk.served.curator() as curator:
        if request_id not in (None, kept.request_id) and not _is_unused(curator.ledger, visitor.name, request_id):
            return None
        left = encoded(left_record(curator.ledger.left(visitor.name)))
    return _whole(kept.body, left, replayed=True)


def _whole(lasting: bytes, left: bytes, replayed: bool) -> bytes:
    """A reply with what is not the same when it is given again; both parts are JSON objects."""
    return lasting[:-1] + b',"replayed":' + encoded(replayed) + b',"left":' + left + b"}"


def _is_unused(ledger: Ledger, analyst: str, request_id: str) -> bool:
    """Whether the ledger would give the same answer under this id as under none."""
    try:
        return _PLAIN_ID.fullmatch(request_id) is not None and ledger.answer(analyst, request_id) is None
    except Failure:
        return False


def _named(request_id: str | None) -> str:
    """The request id, or one made here: who loses the reply to a Failure can still ask what became of it."""
    return SystemBits().words(2).tobytes().hex() if request_id is None else request_id
