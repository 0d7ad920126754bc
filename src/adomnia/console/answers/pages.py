"""The handlers of an answer's page, of its figure and of its files. All of it was paid for, and is free."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.actions.answers import find_entry, recall
from adomnia.api.bodies import malformed_request
from adomnia.api.free_work import ask_free
from adomnia.api.replies import CachedReply, EncodedReply, PiecewiseResponse, ReplyCache, ReplyKey, encode_within
from adomnia.api.requests import services_of
from adomnia.console.answers.bill import Bill, build_bill, build_receipt
from adomnia.console.answers.copying import AnswerPlace, write_copies
from adomnia.console.answers.drawing import STYLES, SVG, draw
from adomnia.console.answers.exports import check_form, encode_file, name_file
from adomnia.console.answers.reading import AnswerReading, hold_together
from adomnia.console.answers.view import AnswerView, PaidDetails, build_answer_view
from adomnia.console.ask.form import AskForm
from adomnia.console.ask.page import build_ask_page
from adomnia.console.frame import show
from adomnia.privacy.amounts import exact
from adomnia.wire.amounts import name_price, text_of
from adomnia.wire.models import API

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.console.rendering import Page
    from adomnia.session.recalled import Recalled


async def answer(request_id: str, request: Request) -> Response:
    """The page of an answer that was paid for."""
    reading, server = AnswerReading.from_query(request.query_params), _server(request)

    def read(visit: Visit) -> Page:
        recalled = _recall(visit, request_id, reading)
        view = build_paid_view(visit, recalled, reading, server)
        return build_ask_page(visit, fill_form(recalled), view=view)

    return await show(request, read, None)


def build_paid_view(visit: Visit, recalled: Recalled, reading: AnswerReading, server: str) -> AnswerView:
    """The view of an answer with its receipt, its bill and its texts."""
    receipt, catalog = recalled.answer.receipt, visit.catalog
    assert receipt is not None  # noqa: S101 - whatever is recalled was paid for
    rows = f"{API}/datasets/{catalog.name}{reading.file_address(receipt.request_id, '')}"
    explained = recalled.explain()
    paid = PaidDetails(
        build_receipt(receipt, find_entry(visit, receipt)),
        Bill(()) if explained is None else build_bill(*explained),
        write_copies(recalled, AnswerPlace(server, catalog.name, receipt.request_id)),
        len(recalled.batch.questions),
        rows,
    )
    return build_answer_view(recalled.answer, recalled.question.text, reading=reading, paid=paid)


async def figure(request_id: str, request: Request) -> Response:
    """The figure of an answer, for light or dark paper."""
    reading = AnswerReading.from_query(request.query_params).of_figure()
    look = request.query_params.get("theme", "light"), request.query_params.get("size", "wide")
    if look not in STYLES:
        raise malformed_request("The fields theme and size", "name no figure: they are light or dark, wide or narrow")
    if not reading.has_figure:
        raise malformed_request("The field confidence", "is none of those that figures are drawn for")
    kept = figures_of(request)

    def work(visit: Visit) -> bytes:
        key = ReplyKey(visit.visitor.name, visit.edition.identity, repr((request_id, reading, look)))
        found = kept.get(key)
        if found is not None:
            return found.body[0]
        recalled = _recall(visit, request_id, reading)
        drawn = draw(hold_together(recalled.answer) if reading.simultaneous else recalled.answer, *look)
        kept.put(key, CachedReply(request_id, [drawn]))
        return drawn

    drawn = await ask_free(request, None, work, None)
    headers = _as_file("figure", request_id, "svg") if request.query_params.get("download") else None
    return drawn if isinstance(drawn, Response) else Response(drawn, headers=headers, media_type=SVG)


async def export(request_id: str, request: Request) -> Response:
    """All rows of an answer as a file."""
    reading, form = AnswerReading.from_query(request.query_params), request.query_params.get("form", "csv")
    media_type, memory = check_form(form), services_of(request).answer_memory

    def work(visit: Visit) -> tuple[EncodedReply, str]:
        def encode() -> list[bytes]:
            found = _recall(visit, request_id, reading).answer
            return encode_file(found, form, simultaneous=reading.simultaneous)

        return encode_within(memory, encode, media_type), visit.catalog.name

    found = await ask_free(request, None, work, None)
    if isinstance(found, Response):
        return found
    reply, dataset = found
    return PiecewiseResponse(reply, _as_file(dataset, request_id, form))


def figures_of(request: Request) -> ReplyCache:
    """The figures that this process keeps."""
    kept: ReplyCache = request.app.state.figures
    return kept


def _recall(visit: Visit, request_id: str, reading: AnswerReading) -> Recalled:
    return recall(visit, request_id, reading.place, confidence=reading.confidence)


def _server(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers.get('host', '')}"


def _as_file(dataset: str, request_id: str, ending: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name_file(dataset, request_id, ending)}"'}


def fill_form(recalled: Recalled) -> AskForm:
    """The form of what was asked: the text, what was named to pay, and else what it cost."""
    pay, paid = _read_payment(recalled)
    return replace(AskForm.from_paid(recalled.batch, recalled.place), pay=pay, amount=paid)


def _read_payment(recalled: Recalled) -> tuple[str, str]:
    """How it was paid for, and how much: of a question that the catalog reads otherwise now, what was named."""
    question, priced = recalled.question, recalled.priced
    if question.error is not None:
        return "error", text_of(exact(question.error, "Question", "error"))
    if priced is not None:
        word, paid = name_price(priced.price)
        return word, text_of(paid)
    named = "epsilon" if question.rho is None else "rho"
    given = getattr(question, named)
    return named, "" if given is None else text_of(exact(given, "Question", named))
