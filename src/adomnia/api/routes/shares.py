"""Routes of links to answers: for who paid for one to make and end, and for other analysts to open and pay for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.actions.answers import buy_shared, find_shared, make_share, offer_shared, recall_batch
from adomnia.api.free_work import reply_free
from adomnia.api.models import NewShare  # noqa: TC001 - FastAPI reads the annotations
from adomnia.api.replies import Pieces, encode_batch, encode_json, json_response
from adomnia.api.requests import Visit, read_dataset, run_in_pool, services_of, visitor_of
from adomnia.api.routes.questions import QuestionJob
from adomnia.api.running.request_facts import choose_id
from adomnia.errors import Refusal
from adomnia.wire.shares import SharedReply, ShareReply

if TYPE_CHECKING:
    from adomnia.api.actions.answers import SharedAnswer


async def shares(dataset: str, request: Request) -> Response:
    """The links that one has made and not ended, newest first."""
    listed = await read_dataset(request, dataset, lambda visit: visit.services.access.shares(visit.visitor.name))
    return json_response({"shares": list(map(ShareReply.record, listed))})


async def create_share(dataset: str, asked: NewShare, request: Request) -> Response:
    """A link to one of one's own answers; its code is shown this once."""
    code, share = await read_dataset(request, dataset, lambda visit: make_share(visit, asked.request_id))
    return json_response({**ShareReply.record(share), "code": code, "path": f"/shared/{code}"}, 201)


async def end_share(dataset: str, share_id: str, request: Request) -> Response:
    """End one of one's own links; whoever has paid by it keeps the answer."""
    del dataset  # links are of the server
    access, name = services_of(request).access, visitor_of(request).name
    await run_in_pool(request, lambda: access.end_share(share_id, name))
    return Response(status_code=204)


async def open_shared(dataset: str, code: str, request: Request) -> Response:
    """What a link leads to: the question and its price, and nothing of the answer; free."""

    def ask(visit: Visit) -> Pieces:
        return [encode_json(SharedReply.record(_describe(visit, find_shared(visit, code))))]

    return await reply_free(request, dataset, ask)


async def buy(dataset: str, code: str, request: Request) -> Response:
    """Pay for the answers that a link leads to, from one's own budget alone; what one has already is free."""
    request_id = choose_id(None)

    def ask(visit: Visit) -> Pieces:
        paid_as, answers = buy_shared(visit, code, request_id)
        return encode_batch(recall_batch(visit, paid_as) if answers is None else answers)

    return await QuestionJob(services_of(request), visitor_of(request), dataset, request_id).run(request, ask)


def _describe(visit: Visit, shared: SharedAnswer) -> dict[str, object]:
    asked = shared.asked
    told = {
        "by": shared.share.user,
        "created": shared.share.created,
        "questions": [question.text for question in asked.questions],
        "version": asked.version,
        "confidence": asked.confidence,
        "at": shared.receipt.at,
        "cost": shared.receipt.event,
        "request_id": shared.had_as or None,
        "left": None,
        "left_after": None,
        "problem": None,
    }
    if shared.had_as:
        return told
    try:
        offer = offer_shared(visit, shared)
    except Refusal as refusal:
        return told | {"problem": str(refusal)}
    return told | {"left": offer.before.left(), "left_after": offer.after.left()}
