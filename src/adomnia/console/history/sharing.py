"""Links to answers: made and ended by who paid for them, opened by other analysts, who pay from their own budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse

from adomnia.api.actions.answers import buy_shared, expect_shared, find_shared, make_share, offer_shared
from adomnia.api.problems import status_of
from adomnia.api.requests import read_dataset, run_in_pool, services_of, visitor_of
from adomnia.api.routes.questions import QuestionJob
from adomnia.api.running.request_facts import choose_id
from adomnia.console.budget.gauges import EPSILON, count_units, find_currency
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.history.page import Notice, link_again, show_history, show_seconds
from adomnia.console.paying import address_of_answer
from adomnia.console.prices import show_cost, show_paid
from adomnia.console.rendering import HTML, Page
from adomnia.errors import Refusal
from adomnia.pricing.bills import error_in_words
from adomnia.privacy.amounts import EPSILON_UNIT, show_down, show_up
from adomnia.wire.amounts import count_cost

if TYPE_CHECKING:
    from starlette.responses import Response

    from adomnia.api.requests import Visit
    from adomnia.ledger.requests import Receipt
    from adomnia.pricing.bills import Expected
    from adomnia.privacy.filters import Filter


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
    request_id = (await read_form(request)).get("request_id", "")
    try:
        code, _ = await read_dataset(request, None, lambda visit: make_share(visit, request_id))
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
    code, request_id, paid_as = request.path_params["code"], choose_id(None), list[str]()

    def ask(visit: Visit) -> list[bytes]:
        paid_as.append(buy_shared(visit, code, request_id)[0])
        return []

    try:
        await QuestionJob(services_of(request), visitor_of(request), None, request_id, HTML).answer(request, ask)
    except Refusal as refusal:
        return await _show_shared(request, refusal)
    return RedirectResponse(address_of_answer(paid_as[0]), 303)


async def _show_shared(request: Request, refusal: Refusal | None = None) -> Response:
    code = request.path_params["code"]

    def read(visit: Visit) -> Page:
        shared = find_shared(visit, code)
        problem, balance = refusal, None
        if not shared.had_as and problem is None:
            try:
                offer = offer_shared(visit, shared)
                balance = _weigh(shared.receipt, offer.before, offer.after)
            except Refusal as why_not:
                problem = why_not
        receipt, asked, quote = shared.receipt, shared.asked, expect_shared(visit, shared) if balance else None
        filling = {
            "code": code,
            "link": shared.share,
            "created": show_seconds(shared.share.created),
            "own": shared.own,
            "address": address_of_answer(shared.had_as) if shared.had_as else None,
            "texts": [question.text for question in asked.questions],
            "version": asked.version,
            "confidence": asked.confidence,
            "paid": show_cost(receipt.event),
            "at": receipt.at,
            "balance": balance,
            "errors": [] if quote is None else [(each.name, _say_error(each)) for each in quote.outputs],
            "problem": problem,
            "anew": link_again(asked) if len(asked.questions) == 1 else "",
        }
        return Page("shared.html", filling, 200 if refusal is None else status_of(refusal))

    return await show(request, read)


def _weigh(receipt: Receipt, before: Filter, after: Filter) -> Balance:
    held = find_currency(after)
    cost, whole = count_cost(receipt.event), after.budget.epsilon if held is EPSILON else after.budget.rho
    shares = [float(count_units(each, held) * EPSILON_UNIT / whole) for each in (before.spent, cost)]
    left = [f"{held.word} {show_down(getattr(account.left(), held.word))}" for account in (before, after)]
    counted = (
        "" if show_paid(cost).word == held.word else f"{held.word} {show_up(count_units(cost, held) * EPSILON_UNIT)}"
    )
    return Balance(left[0], left[1], shares[0], shares[1], counted)


def _say_error(output: Expected) -> str:
    within = error_in_words(output, "within")
    return within if output.rows is None else f"{within} in a group of {output.rows:,}"
