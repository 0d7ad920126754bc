"""The handlers of the pages of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.requests import run_in_pool
from adomnia.console.answers.view import build_answer_view
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.methods.finding import require_method
from adomnia.console.methods.keeping import locate_keeping, read_keeping
from adomnia.console.methods.page import build_list_page, build_method_page, pay_for
from adomnia.console.methods.prefilling import prefill, refit
from adomnia.console.methods.writing import write_question
from adomnia.console.paying import pay, pay_release
from adomnia.errors import Refusal
from adomnia.work import Work, limit

if TYPE_CHECKING:
    from starlette.responses import Response

    from adomnia.api.requests import Visit
    from adomnia.console.methods.naming import Fields
    from adomnia.console.methods.writing import Written
    from adomnia.console.rendering import Page
    from adomnia.methods.contract import Method
    from adomnia.session.answer import Answer

_USE = "use"  # sent where other rows are chosen, and the columns are to be theirs


async def methods(request: Request) -> Response:
    """All methods, or those that were searched for."""
    query = request.query_params.get("q", "")
    return await show(request, lambda _: build_list_page(query))


async def method_form(name: str, request: Request) -> Response:
    """The form of a method: as the address says, else with an example in it."""
    sent = dict(request.query_params)

    def read(visit: Visit) -> Page:
        method, catalog = require_method(name), visit.catalog
        fields = refit(method, sent, catalog) if sent else prefill(method, catalog)
        return build_method_page(visit, method, fields)

    return await show(request, read)


async def price_method(name: str, request: Request) -> Response:
    """The form with the price of what it means; nothing is read or spent. What is asked next has a name of its own."""
    sent = await _read_fields(request)
    sent.pop("request_id", None)

    def read(visit: Visit) -> Page:
        method = require_method(name)
        fields = refit(method, sent, visit.catalog) if _USE in sent else sent
        return build_method_page(visit, method, fields)

    return await show(request, read)


async def ask_method(name: str, request: Request) -> Response:
    """Pay for what a form means and lead to the answer, or show the form again with what is wrong."""
    fields, method = await _read_fields(request), require_method(name)
    keeping = read_keeping(method, fields)
    try:
        written = await run_in_pool(request, lambda: _write(method, fields))
        form = pay_for(written, fields)

        def show_free(visit: Visit, answer: Answer) -> Page:
            return build_method_page(visit, method, fields, view=build_answer_view(answer, form.sql))

        if keeping is not None and keeping.how:
            return await pay_release(request, form.release(keeping.name, private=keeping.is_private), form.seen)
        return await pay(request, form.asked(), show_free, form.seen)
    except Refusal as refusal:
        why = locate_keeping(refusal) if keeping is not None and keeping.how else refusal
    fields.pop("request_id", None)  # nothing was paid under it, or something else
    return await show(request, lambda visit: build_method_page(visit, method, fields, refusal=why))


def _write(method: Method, fields: Fields) -> Written:
    with limit(Work()):
        return write_question(method, fields)


async def _read_fields(request: Request) -> dict[str, str]:
    """What was sent; browsers end lines with two characters."""
    return {name: value.replace("\r\n", "\n") for name, value in (await read_form(request)).items()}
