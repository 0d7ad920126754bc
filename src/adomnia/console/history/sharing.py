"""Links to answers: made and ended by who paid for them, opened by other analysts, who pay from their own budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse

from adomnia.api.problems import status_of
from adomnia.api.routes.questions import QuestionJob, choose_id
from adomnia.api.routes.requests import read_dataset, run_in_pool, services_of, visitor_of
from adomnia.asking.batch import Batch
from adomnia.console.budget.gauges import EPSILON, count_units, find_currency
from adomnia.console.forms import read_form
from adomnia.console.history.again import link_again
from adomnia.console.history.page import Notice, show_history, show_seconds
from adomnia.console.history.prices import count_cost, show_paid
from adomnia.console.paying import address_of_answer
from adomnia.console.rendering import HTML, Page
from adomnia.console.visits import show
from adomnia.errors import Refusal
from adomnia.noise import SystemBits
from adomnia.pricing.bills import error_in_words
from adomnia.privacy.amounts import EPSILON_UNIT, show_down, show_up
from adomnia.session.sharing import find_offer, price_same
from adomnia.work import limit

if TYPE_CHECKING:
    from starlette.responses import Response

    from adomnia.api.access import Access, Share
    from adomnia.api.running.served_dataset import Edition
    from adomnia.console.visits import Visit
    from adomnia.ledger.requests import Receipt
    from adomnia.pricing.quotes import Expected
    from adomnia.privacy.filters import Filter
    from adomnia.session.contract import Session
    from adomnia.session.curator import Curator

__all__ = ["end_share", "open_shared", "share", "take_shared"]


@dataclass(frozen=True)
class Balance:
    """What is left of a budget before a price is paid and afterwards, in words; what was spent and what would be.

    `counted` says what the price is counted as, where the budget is held to another sum.
    """

    before: str
    after: str
    spent_share: float
    now_share: float
    counted: str


async def share(request: Request) -> Response:
    """Make a link to one of one's own answers, which is shown this once."""
    form, services, name = await read_form(request), services_of(request), visitor_of(request).name
    request_id = form.get("request_id", "")

    def make(curator: Curator) -> str:
        receipt = curator.ledger.receipt(name, request_id)
        if receipt is None or not receipt.asked:
            raise Refusal("The request", "has no answer of yours", "choose one of the list", code="unknown_answer")
        if not Batch.from_text(receipt.asked).replay:
            why = "was measured afresh on purpose, so that nobody else can have it"
            raise Refusal("The answer", why, "ask it again with replay, and share that", code="not_shared")
        return services.access.create_share(name, request_id)[0]

    try:
        code = await read_dataset(request, None, make)
    except Refusal as refusal:
        return await show_history(request, Notice(problem=refusal))
    here = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return await show_history(request, Notice(link=f"{here}/shared/{code}"))


async def end_share(request: Request) -> Response:
    """End one of one's own links."""
    form, access, name = await read_form(request), services_of(request).access, visitor_of(request).name
    try:
        await run_in_pool(request, lambda: access.end_share(form.get("link", ""), name))
    except Refusal as refusal:
        return await show_history(request, Notice(problem=refusal))
    return await show_history(request, Notice(done="The link has ended. Whoever has paid by it keeps the answer."))


async def open_shared(request: Request) -> Response:
    """What a link leads to: the question and its price, and nothing of the answer."""
    return await _show_shared(request)


async def take_shared(request: Request) -> Response:
    """Pay for the answer that a link leads to, from one's own budget alone, and lead to it."""
    await read_form(request)
    code, services, visitor = request.path_params["code"], services_of(request), visitor_of(request)
    request_id, paid_as = choose_id(None), list[str]()

    def ask(_session: Session, edition: Edition) -> list[bytes]:
        _, receipt = _find(services.access, edition.curator, code)
        if receipt.analyst != visitor.name:
            with limit():
                find_offer(edition.curator, visitor.name, receipt)  # it says best why not
            answer = edition.curator.session(visitor.name).take(receipt, request_id)
            services.metrics.count_question("replayed" if answer.replayed else "answered")
            receipt = answer.receipt or receipt
        paid_as.append(receipt.request_id)
        return []

    try:
        await QuestionJob(services, visitor, None, request_id, HTML).answer(request, ask)
    except Refusal as refusal:
        return await _show_shared(request, refusal)
    return RedirectResponse(address_of_answer(paid_as[0]), 303)


async def _show_shared(request: Request, refusal: Refusal | None = None) -> Response:
    code = request.path_params["code"]

    def read(visit: Visit) -> Page:
        link, receipt = _find(visit.services.access, visit.curator, code)
        problem, balance = refusal, None
        own = link.user == visit.visitor.name
        owned = None if own else _find_owned(visit, receipt)
        if not own and owned is None and problem is None:
            try:
                offer = find_offer(visit.curator, visit.visitor.name, receipt)
                balance = _weigh(receipt, offer.before, offer.after)
            except Refusal as why_not:
                problem = why_not
        batch = Batch.from_text(receipt.asked)
        filling = {
            "code": code,
            "link": link,
            "created": show_seconds(link.created),
            "own": own,
            "address": address_of_answer(receipt.request_id) if own else owned,
            "texts": [question.text for question in batch.questions],
            "version": batch.version,
            "confidence": batch.confidence,
            "paid": show_paid(count_cost(receipt.event)),
            "at": receipt.at,
            "balance": balance,
            "errors": _expect(visit, batch) if balance else [],
            "problem": problem,
            "anew": link_again(batch.questions[0]) if len(batch.questions) == 1 else "",
        }
        return Page("shared.html", filling, 200 if refusal is None else status_of(refusal))

    return await show(request, read)


def _find(access: Access, curator: Curator, code: str) -> tuple[Share, Receipt]:
    """A link and the receipt of its answer; unknown and ended codes are refused alike, as unknown addresses are."""
    link = access.find_share(code)
    known = link is not None and curator.catalog.analyst(link.user) is not None
    receipt = curator.ledger.receipt(link.user, link.request_id) if link is not None and known else None
    if link is None or receipt is None:
        fix = "ask whoever gave it to you for another"
        raise Refusal("The link", "leads nowhere: it was ended, or never made", fix, code="unknown_route")
    return link, receipt


def _find_owned(visit: Visit, receipt: Receipt) -> str | None:
    """The address of the same answer, where this analyst has it already."""
    unused = SystemBits().words(2).tobytes().hex()
    owned = visit.curator.ledger.find_answer(visit.visitor.name, unused, receipt.plan)
    return None if owned is None else address_of_answer(owned.receipt.request_id)


def _weigh(receipt: Receipt, before: Filter, after: Filter) -> Balance:
    held = find_currency(after)
    cost, whole = count_cost(receipt.event), after.budget.epsilon if held is EPSILON else after.budget.rho
    shares = [float(count_units(each, held) * EPSILON_UNIT / whole) for each in (before.spent, cost)]
    left = [f"{held.word} {show_down(getattr(account.left(), held.word))}" for account in (before, after)]
    counted = (
        "" if show_paid(cost).word == held.word else f"{held.word} {show_up(count_units(cost, held) * EPSILON_UNIT)}"
    )
    return Balance(left[0], left[1], shares[0], shares[1], counted)


def _expect(visit: Visit, batch: Batch) -> list[tuple[str, str]]:
    """How wrong each output may be, by its name; nothing where that cannot be told."""
    try:
        quote = price_same(visit.session, batch)
    except Refusal:
        return []
    return [(each.name, _say_error(each)) for each in quote.outputs]


def _say_error(output: Expected) -> str:
    within = error_in_words(output).replace("at most", "within")
    return within if output.rows is None else f"{within} in a group of {output.rows:,}"
