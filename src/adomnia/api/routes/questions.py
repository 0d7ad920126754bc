"""Routes of questions: answer, price, explain, and read earlier answers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from fastapi import Query
from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.free_work import reply_free
from adomnia.api.problems import route_of
from adomnia.api.replies import (
    JSON,
    CachedReply,
    EncodedReply,
    Pieces,
    PiecewiseResponse,
    ReplyCache,
    ReplyKey,
    choose_form,
    encode_answer,
    encode_batch,
    encode_json,
    encode_pasts,
    encode_table,
    encode_within,
)
from adomnia.api.requests import Visit, check_dataset, run_in_pool, services_of, visitor_of
from adomnia.api.running.request_facts import choose_id
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.pricing.questions import check_names
from adomnia.session.contract import MOST_LISTED
from adomnia.wire.asking import (  # noqa: TC001 - likewise
    Ask,
    AskBatch,
    AskBatchPrice,
    AskExplanation,
    AskPrice,
)
from adomnia.wire.budgets import pasts_record
from adomnia.wire.explanations import explanation_record
from adomnia.wire.models import LARGEST_BODY, LeftReply
from adomnia.wire.quotes import quote_record
from adomnia.wire.tables import HEADER, facts_header

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.api.access import Visitor
    from adomnia.api.requests import Services
    from adomnia.ledger import Ledger
    from adomnia.privacy.filters import Left
    from adomnia.session.answer import Answer

_CHANGING = frozenset({"replayed", "left"})  # parts of a reply that change each time
_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,200}")  # ids that the ledger surely takes


@dataclass(frozen=True)
class QuestionJob:
    """A question to pay for: who asks it, about which dataset, under which request id."""

    services: Services
    visitor: Visitor
    dataset: str | None  # None: whichever is served
    request_id: str
    form: str = JSON
    headers: dict[str, str] = field(default_factory=dict)

    async def run(self, request: Request, ask: Callable[[Visit], Pieces]) -> Response:
        """Run the question and return the reply."""
        return PiecewiseResponse(await self.answer(request, ask), self.headers)

    async def answer(self, request: Request, ask: Callable[[Visit], Pieces]) -> EncodedReply:
        """Run the question and encode its reply; the question goes on to its end even if the caller hangs up."""
        route, request.state.question_id = route_of(request.scope), self.request_id
        try:
            return await self.services.time_buckets.run(
                self.visitor.name, request.state.arrived, lambda: self._ask(ask, route)
            )
        except Failure as failure:
            raise Failure(failure.request_id or self.request_id) from None

    def _ask(self, ask: Callable[[Visit], Pieces], route: str) -> EncodedReply:
        try:
            with self.services.dataset.lease() as edition:
                visit = Visit(self.services, self.visitor, edition)
                check_dataset(visit, self.dataset)
                return encode_within(self.services.answer_memory, lambda: ask(visit), self.form)
        except Refusal as refusal:
            self.services.metrics.count_refusal(refusal.code)
            raise
        except Unavailable:
            self.services.metrics.count_question("unavailable")
            raise
        except Exception as fault:  # noqa: BLE001 - what went wrong after data was read must not be shown
            self.services.metrics.count_question("failed")
            if not isinstance(fault, Failure):
                self.services.logs.log_fault(route, fault)
            raise Failure(getattr(fault, "request_id", None)) from None


async def query(dataset: str, asked: Ask, request: Request) -> Response:
    """Pay for a question and answer it."""
    services, visitor, cache = services_of(request), visitor_of(request), reply_cache_of(request)
    form, request.state.question_id = choose_form(request.headers.get("Accept")), asked.request_id
    cacheable = asked.replay and form == JSON
    with services.dataset.lease() as edition:
        visit = Visit(services, visitor, edition)
        check_dataset(visit, dataset)
        cached = cache.get(_key(visit, asked)) if cacheable else None
    if cached is not None:
        pieces = await run_in_pool(request, lambda: _replay(services, visitor, cached, asked.request_id))
        if pieces is not None:
            services.metrics.count_question("replayed")
            return PiecewiseResponse(EncodedReply(pieces))
    request_id = choose_id(asked.request_id)
    identified = asked.model_copy(update={"request_id": request_id})

    def ask(visit: Visit) -> Pieces:
        answer = identified.put_to(visit.session)
        services.metrics.count_question("replayed" if answer.replayed else "answered")
        if form != JSON:
            job.headers[HEADER] = facts_header(answer, simultaneous=asked.simultaneous)
            return encode_table(answer, form, simultaneous=asked.simultaneous)
        constant_part = encode_answer(answer, without=_CHANGING, simultaneous=asked.simultaneous)
        if answer.receipt is not None and cacheable:
            cache.put(_key(visit, asked), CachedReply(answer.receipt.request_id, constant_part))
        return _assemble(constant_part, answer.left, answer.replayed)

    job = QuestionJob(services, visitor, dataset, request_id, form)
    return await job.run(request, ask)


async def batch(dataset: str, asked: AskBatch, request: Request) -> Response:
    """Pay for several questions at once and answer them: one refusal refuses all."""
    services, visitor, request_id = services_of(request), visitor_of(request), choose_id(asked.request_id)
    identified = asked.model_copy(update={"request_id": request_id})

    def ask(visit: Visit) -> Pieces:
        answers: list[Answer] = identified.put_to(visit.session)
        services.metrics.count_question("replayed" if answers[0].replayed else "answered")
        return encode_batch(answers)

    return await QuestionJob(services, visitor, dataset, request_id).run(request, ask)


async def price(dataset: str, asked: AskPrice | AskBatchPrice, request: Request) -> Response:
    """What a question or a batch would cost, and how far off its answers may be; nothing is read or spent."""
    return await reply_free(request, dataset, lambda visit: [encode_json(quote_record(asked.put_to(visit.session)))])


async def explain(dataset: str, asked: AskExplanation, request: Request) -> Response:
    """What a question means and measures, and if a price is named what it buys; nothing is read or spent."""
    return await reply_free(
        request, dataset, lambda visit: [encode_json(explanation_record(asked.put_to(visit.session)))]
    )


async def answers(
    dataset: str,
    request: Request,
    after: Annotated[
        str | None, Query(max_length=LARGEST_BODY, description="Those after the one of this request id.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED, description="So many at most.")] = MOST_LISTED,
) -> Response:
    """What this analyst has paid for and got, oldest first, page by page."""

    def ask(visit: Visit) -> Pieces:
        return [encode_pasts(pasts_record(visit.session.answers(after=after, limit=limit)))]

    return await reply_free(request, dataset, ask, None)


async def answer(  # noqa: PLR0913, PLR0917 - each is a part of the address
    dataset: str,
    request_id: str,
    request: Request,
    place: Annotated[int, Query(ge=0, le=2**31, description="Of a batch: which answer, from 0.")] = 0,
    confidence: Annotated[
        float | None, Query(gt=0, lt=1, description="For other intervals than were asked for.")
    ] = None,
    simultaneous: Annotated[bool, Query(description="Intervals that hold all groups of a column at once.")] = False,
) -> Response:
    """One of one's own answers once more, free."""
    check_names(request.query_params, "`{}`")
    form, headers, request.state.question_id = choose_form(request.headers.get("Accept")), {}, request_id

    def ask(visit: Visit) -> Pieces:
        found = visit.session.answer(request_id, place, confidence=confidence)
        if form == JSON:
            return encode_answer(found, simultaneous=simultaneous)
        headers[HEADER] = facts_header(found, simultaneous=simultaneous)
        return encode_table(found, form, simultaneous=simultaneous)

    return await reply_free(request, dataset, ask, None, form, headers)


async def explanation(
    dataset: str,
    request_id: str,
    request: Request,
    place: Annotated[int, Query(ge=0, le=2**31, description="Of a batch: which answer, from 0.")] = 0,
) -> Response:
    """What was measured for one of one's own answers, and what each part of it cost; free."""
    check_names(request.query_params, "`{}`")

    def ask(visit: Visit) -> Pieces:
        return [encode_json(explanation_record(visit.session.explain_answer(request_id, place)))]

    return await reply_free(request, dataset, ask, None)


def reply_cache_of(request: Request) -> ReplyCache:
    """The reply cache of this process."""
    cache: ReplyCache = request.app.state.reply_cache
    return cache


def _key(visit: Visit, asked: Ask) -> ReplyKey:
    question = repr([(name, part) for name, part in asked if name != "request_id"])
    return ReplyKey(visit.visitor.name, visit.edition.identity, question)


def _replay(services: Services, visitor: Visitor, cached: CachedReply, request_id: str | None) -> Pieces | None:
    """A cached reply with what is left now; None if only the ledger knows what the request id stands for."""
    with services.dataset.curator() as curator:
        if request_id not in (None, cached.request_id) and not _is_unused(curator.ledger, visitor.name, request_id):
            return None
        left = curator.ledger.left(visitor.name)
    return _assemble(cached.body, left, replayed=True)


def _assemble(constant_part: Pieces, left: Left, replayed: bool) -> Pieces:
    """Add the parts that change each time to a reply, which is a JSON object."""
    changing = encode_json({"replayed": replayed, "left": LeftReply.record(left)})
    *before, last = constant_part
    return [*before, last[:-1] + b"," + changing[1:]]


def _is_unused(ledger: Ledger, analyst: str, request_id: str) -> bool:
    """Whether the ledger has no other answer under this request id."""
    try:
        return _PLAIN_ID.fullmatch(request_id) is not None and ledger.answer(analyst, request_id) is None
    except Failure:
        return False
