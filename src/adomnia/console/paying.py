"""Pays for a question that a page asks: as the API does, and then leads to the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from starlette.responses import RedirectResponse, Response

from adomnia.api.replies import PiecewiseResponse
from adomnia.api.requests import Visit, services_of, visitor_of
from adomnia.api.routes.questions import QuestionJob
from adomnia.api.running.request_facts import choose_id
from adomnia.console.ask.pricing import check_seen, refuse_creation
from adomnia.console.frame import render_visit
from adomnia.console.releases.release_lines import address_of_release
from adomnia.console.rendering import HTML, Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from adomnia.api.requests import Visit
    from adomnia.session.answer import Answer
    from adomnia.wire.asking import Ask
    from adomnia.wire.releases import AskRelease


async def pay(request: Request, asked: Ask, show_free: Callable[[Visit, Answer], Page], seen: str = "") -> Response:
    """Pay for a question and lead to the page of its answer; what is free has no such page and is shown at once.

    `seen` is the price that the visitor saw: what costs more is refused.
    """
    refuse_creation(asked.sql)
    services, visitor, request_id = services_of(request), visitor_of(request), choose_id(asked.request_id)
    identified = asked.model_copy(update={"request_id": request_id})
    paid_as: list[str] = []

    def ask(visit: Visit) -> list[bytes]:
        check_seen(visit, identified, seen)
        answer = identified.put_to(visit.session)
        services.metrics.count_question("replayed" if answer.replayed else "answered")
        if answer.receipt is not None:
            paid_as.append(address_of_answer(answer.receipt.request_id, again=answer.replayed))
            return []
        return [render_visit(request, visit, show_free(visit, answer))]

    reply = await QuestionJob(services, visitor, None, request_id, HTML).answer(request, ask)
    return RedirectResponse(paid_as[0], 303) if paid_as else PiecewiseResponse(reply)


async def pay_release(request: Request, asked: AskRelease, seen: str = "") -> Response:
    """Pay for a release and lead to its page; the same under the same name is free."""
    services, visitor = services_of(request), visitor_of(request)
    made: list[str] = []

    def ask(visit: Visit) -> list[bytes]:
        check_seen(visit, asked, seen)
        made.append(asked.put_to(visit.session).name)
        services.metrics.count_question("answered")
        return []

    await QuestionJob(services, visitor, None, f"release:{asked.name}", HTML).answer(request, ask)
    return RedirectResponse(address_of_release(made[0]), 303)


def address_of_answer(request_id: str, *, again: bool = False) -> str:
    """The page of an answer that was paid for; `again`: before, so that it cost nothing now."""
    return f"/answers/{quote(request_id, safe='')}{'?again=1' if again else ''}"


def address_of_question(sql: str, amount: str = "") -> str:
    """Where a question can be asked, at a price in epsilon if one is named."""
    price = {"pay": "epsilon", "amount": amount} if amount else {}
    return f"/ask?{urlencode({'sql': sql, **price})}"
