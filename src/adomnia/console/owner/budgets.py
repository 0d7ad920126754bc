"""The page of budgets: what everybody has and has left, what questions cost, and adding to a budget for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.api.actions.accounts import find_restored
from adomnia.api.actions.passwords import LOGIN_FAILED
from adomnia.api.actions.top_ups import top_up
from adomnia.api.problems import status_of
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.owner.accounts import list_rows
from adomnia.console.owner.top_ups import TopUpForm, TopUpPreview, preview_top_up
from adomnia.console.rendering import Page
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.api.requests import Visit

_DONE = {"raised": "The budget is raised, in every worker at once. The ledger has an entry for it, with your reason."}
_WRONG_PASSWORD = Refusal(
    "The password", "is not right", "type the one that you sign in with; nothing was changed", code=LOGIN_FAILED
)


async def budgets(request: Request) -> Response:
    """All budgets; for owners, a form to add to one."""
    done = _DONE.get(request.query_params.get("done", ""), "")
    form = TopUpForm(request.query_params.get("account", ""))
    return await show(request, lambda visit: _read(visit, form, done=done))


async def raise_budget(request: Request) -> Response:
    """Show what a top-up would change; with the password, do it."""
    fields = await read_form(request)
    form = TopUpForm.from_fields(fields)
    if "password" not in fields:
        return await show(request, lambda visit: _preview(visit, form))
    try:
        await top_up(request, None, form.read(), fields.get("seen", ""), fields["password"])
    except Refusal as refusal:
        problem = _WRONG_PASSWORD if refusal.code == LOGIN_FAILED else refusal
        return await show(request, lambda visit: _preview(visit, form, problem))
    return RedirectResponse("/owner/budgets?done=raised", 303)


def _preview(visit: Visit, form: TopUpForm, problem: Refusal | None = None) -> Page:
    try:
        return _read(visit, form, preview_top_up(visit, form), problem)
    except Refusal as refusal:
        return _read(visit, form, problem=problem or refusal)


def _read(
    visit: Visit, form: TopUpForm, preview: TopUpPreview | None = None, problem: Refusal | None = None, done: str = ""
) -> Page:
    filling = {
        "accounts": list_rows(visit),
        "restored": find_restored(visit),
        "form": form,
        "preview": preview,
        "problem": problem,
        "done": done,
    }
    return Page("owner_budgets.html", filling, 200 if problem is None else status_of(problem))
