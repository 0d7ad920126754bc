"""The handlers of the page of a question: show it, price it, pay for it, try it on made-up rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.actions.public_rows import ask_made_up
from adomnia.api.problems import to_problem
from adomnia.console.answers.view import build_answer_view
from adomnia.console.ask.form import AskForm
from adomnia.console.ask.page import build_ask_page
from adomnia.console.ask.pricing import refuse_creation
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.paying import pay
from adomnia.errors import Failure, Refusal, Unavailable

if TYPE_CHECKING:
    from starlette.responses import Response

    from adomnia.api.requests import Visit
    from adomnia.console.rendering import Page
    from adomnia.session.answer import Answer


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
