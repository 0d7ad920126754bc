"""The page of a question: its text, what it would cost, and the answer below it once there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.actions.tables import ask_made_up
from adomnia.api.problems import status_of, to_problem
from adomnia.console.answers.view import build_answer_view
from adomnia.console.ask.form import AskForm
from adomnia.console.ask.pricing import build_price, refuse_creation, view_problem
from adomnia.console.data.examples import list_examples
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.paying import pay
from adomnia.console.rendering import Page
from adomnia.errors import Failure, Refusal, Unavailable, render
from adomnia.messages.surfaces import Surface

if TYPE_CHECKING:
    from starlette.responses import Response

    from adomnia.api.problems import Problem
    from adomnia.api.requests import Visit
    from adomnia.session.answer import Answer


@dataclass(frozen=True)
class AnswerTrouble:
    """Why no answer came although nothing is wrong with the question, and the request under which it may still come."""

    failed: bool  # after it was paid, perhaps; else nothing can have been paid twice
    says: str
    request_id: str


def build_ask_page(visit: Visit, form: AskForm, *, view: Any = None, refusal: Problem | None = None) -> Page:  # noqa: ANN401 - the view is of another template
    """The page of a form, with an answer to show, or with why there is none.

    What the price panel refuses as well is told there alone.
    """
    price = build_price(visit, form)
    told_twice = isinstance(refusal, Refusal) and price.refusal is not None and price.refusal.code == refusal.code
    filling = {
        "form": price.form,
        "price": price,
        "view": view,
        "refusal": view_problem(visit, price.form, refusal)
        if isinstance(refusal, Refusal) and not told_twice
        else None,
        "told_below": True,
        "trouble": None if refusal is None or isinstance(refusal, Refusal) else _tell(refusal, form),
        "examples": list_examples(visit.catalog) if form.is_empty else (),
    }
    return Page("ask.html", filling, 200 if refusal is None else status_of(refusal))


def _tell(problem: Unavailable | Failure, form: AskForm) -> AnswerTrouble:
    if isinstance(problem, Failure):
        return AnswerTrouble(True, "", problem.request_id or form.request_id)
    told = render(problem, Surface.PAGE)
    return AnswerTrouble(False, f"{told.what} {told.why}. {told.fix[:1].upper()}{told.fix[1:]}.", form.request_id)


async def ask_page(request: Request) -> Response:
    """The page, with a question that the address names."""
    form = AskForm.from_fields(request.query_params).changed({"request_id": "", "allow_uninformative": ""})
    return await show(request, lambda visit: build_ask_page(visit, form))


async def price_question(request: Request) -> Response:
    """What the form would cost; nothing is read or spent. The next request is another, so it has another id."""
    form = replace(AskForm.from_fields(await read_form(request)), request_id="")
    return await show(request, lambda visit: build_ask_page(visit, form))


async def ask_question(request: Request) -> Response:
    """Pay for the question and lead to its answer; or show the page with why there is none."""
    form = AskForm.from_fields(await read_form(request))

    def show_free(visit: Visit, answer: Answer) -> Page:
        return build_ask_page(visit, replace(form, request_id=""), view=build_answer_view(answer, form.sql))

    try:
        return await pay(request, form.asked(), show_free, form.seen)
    except (Refusal, Unavailable, Failure) as fault:
        problem = to_problem(request, fault)
    # Whatever may have been paid keeps its id, so that it is not paid again.
    again = replace(form, request_id="") if isinstance(problem, Refusal) else form
    return await show(request, lambda visit: build_ask_page(visit, again, refusal=problem))


async def try_question(request: Request) -> Response:
    """Answer the question on made-up rows; nothing is read or spent."""
    form = replace(AskForm.from_fields(await read_form(request)), request_id="")

    def read(visit: Visit) -> Page:
        try:
            asked = form.changed({"effort": "", "allow_uninformative": "true"}).asked()
            refuse_creation(asked.sql)
            answer = ask_made_up(visit, asked)
        except Refusal as refusal:
            return build_ask_page(visit, form, refusal=refusal)
        return build_ask_page(visit, form, view=build_answer_view(answer, form.sql, made_up=True))

    return await show(request, read)
