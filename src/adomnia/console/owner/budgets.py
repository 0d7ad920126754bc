"""The page of budgets: what everybody has and has left, what questions cost, and adding to a budget for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.api.access.login_attempts import LOGIN_FAILED
from adomnia.api.problems import status_of
from adomnia.api.routes.requests import address_of, read_dataset, services_of, visitor_of
from adomnia.console.forms import read_form
from adomnia.console.owner.accounts import list_accounts
from adomnia.console.owner.top_ups import TopUpForm, TopUpPreview, apply_top_up, preview_top_up
from adomnia.console.rendering import Page
from adomnia.console.visits import show
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.console.visits import Visit

_DONE = {"raised": "The budget is raised, in every worker at once. The ledger has an entry for it, with your reason."}


async def budgets(request: Request) -> Response:
    """All budgets; for owners, a form to add to one."""
    done = _DONE.get(request.query_params.get("done", ""), "")
    form = TopUpForm(request.query_params.get("account", ""))
    return await show(request, lambda visit: _read(visit, form, done=done))


async def top_up(request: Request) -> Response:
    """Show what a top-up would change; with the password, do it."""
    fields = await read_form(request)
    form = TopUpForm.from_fields(fields)
    if "password" not in fields:
        return await show(request, lambda visit: _preview(visit, form))
    try:
        await check_password(request, fields["password"])
        await read_dataset(request, None, lambda curator: apply_top_up(curator, form, fields.get("seen", "")))
    except Refusal as refusal:
        problem = refusal
        return await show(request, lambda visit: _preview(visit, form, problem))
    return RedirectResponse("/owner/budgets?done=raised", 303)


async def check_password(request: Request, password: str) -> None:
    """Refuse unless whoever is signed in knows their password; a wrong one counts as a sign-in that failed."""
    services, name, address = services_of(request), visitor_of(request).name, address_of(request)
    try:
        await services.password_pool.run(address, lambda: services.access.check_password(name, password, address))
    except Refusal as refusal:
        if refusal.code != LOGIN_FAILED:
            raise
        fix = "type the one that you sign in with; nothing was changed"
        raise Refusal("The password", "is not right", fix, code=LOGIN_FAILED) from None


def _preview(visit: Visit, form: TopUpForm, problem: Refusal | None = None) -> Page:
    try:
        return _read(visit, form, preview_top_up(visit.curator, form), problem)
    except Refusal as refusal:
        return _read(visit, form, problem=problem or refusal)


def _read(
    visit: Visit, form: TopUpForm, preview: TopUpPreview | None = None, problem: Refusal | None = None, done: str = ""
) -> Page:
    filling = {
        "accounts": list_accounts(visit.curator),
        "restored": visit.curator.ledger.restored(),
        "form": form,
        "preview": preview,
        "problem": problem,
        "done": done,
    }
    return Page("owner_budgets.html", filling, 200 if problem is None else status_of(problem))
