"""The page of a question: its text, what it would cost, and the answer below it once there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adomnia.api.problems import status_of
from adomnia.console.ask.pricing import build_price, view_problem
from adomnia.console.data.examples import list_examples
from adomnia.console.rendering import Page
from adomnia.errors import Failure, Refusal, Unavailable, render
from adomnia.messages.surfaces import Surface

if TYPE_CHECKING:
    from adomnia.api.problems import Problem
    from adomnia.api.requests import Visit
    from adomnia.console.ask.form import AskForm


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
