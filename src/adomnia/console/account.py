"""The page of one's own account: tokens for programs, the password, the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.access import Role
from adomnia.api.models import TokenReply
from adomnia.api.problems import status_of
from adomnia.api.requests import address_of, run_in_pool, services_of, visitor_of
from adomnia.api.routes.sign_in import cookie_of
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.rendering import Page
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from starlette.responses import Response

    from adomnia.api.requests import Visit

_TOKEN_DAYS = 90
_PERMISSIONS = {
    Role.OWNER: "You manage users, and read all budgets and the ledger. To ask questions, sign in as an analyst.",
    Role.ANALYST: "You ask questions, see their price before you pay it, and read your own answers again at any time.",
    Role.AUDITOR: "You read all budgets and the ledger, and have the server verify it.",
}


async def account(request: Request) -> Response:
    """Who is signed in, what they may do, and their tokens."""
    return await _show(request)


async def make_token(request: Request) -> Response:
    """A token of one's own, shown this once."""
    form, access, name = await read_form(request), services_of(request).access, visitor_of(request).name
    try:
        secret, _ = await run_in_pool(request, lambda: access.create_token(name, form.get("label", ""), _TOKEN_DAYS))
    except Refusal as refusal:
        return await _show(request, problem=refusal)
    return await _show(request, secret=secret)


async def revoke_token(request: Request) -> Response:
    """End a token of one's own."""
    form, access, name = await read_form(request), services_of(request).access, visitor_of(request).name

    def work() -> None:
        if form.get("token") not in {each.id for each in access.tokens(name)}:
            raise Refusal("The token", "is not one of yours", "choose one of the list", code="unknown_token")
        access.revoke(form["token"])

    await run_in_pool(request, work)
    return await _show(request, done="The token is revoked: whatever used it is refused from now on.")


async def change_password(request: Request) -> Response:
    """Choose another password; all other visits of the same user end."""
    form, services = await read_form(request), services_of(request)
    address, name, keep = address_of(request), visitor_of(request).name, cookie_of(request)
    if form.get("new") != form.get("again"):
        return await _show(request, problem=Refusal("The new passwords", "differ", "write the same one twice"))
    try:
        await services.password_pool.run(
            address,
            lambda: services.access.change_password(name, form.get("old", ""), form.get("new", ""), address, keep=keep),
        )
    except Refusal as refusal:
        return await _show(request, problem=refusal)
    return await _show(request, done="The password is changed, and all your other visits have ended.")


async def _show(request: Request, secret: str = "", done: str = "", problem: Refusal | None = None) -> Response:
    address = f"{request.url.scheme}://{request.headers.get('host', '')}"

    def read(visit: Visit) -> Page:
        tokens = [TokenReply.record(each) for each in visit.services.access.tokens(visit.visitor.name)]
        filling = {
            "may": _PERMISSIONS[visit.visitor.role],
            "tokens": tokens,
            "days": _TOKEN_DAYS,
            "address": address,
            "secret": secret,
            "done": done,
            "problem": "" if problem is None else str(problem),
        }
        return Page("account.html", filling, 200 if problem is None else status_of(problem))

    return await show(request, read)
