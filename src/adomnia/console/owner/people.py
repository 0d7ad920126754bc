"""The page of people: who may sign in and as what, their sign-in links, and the tokens of their programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.api.access import Role, TokenState
from adomnia.api.models import TokenReply, UserReply, link_record
from adomnia.api.problems import status_of
from adomnia.api.requests import run_in_pool, services_of
from adomnia.api.routes.people import check_in_catalog, check_not_owner, create_link
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.rendering import Page
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.api.requests import Visit

_DONE = {
    "role": "The role is changed, also for visits and tokens that are in use.",
    "removed": "They are removed: their visits, tokens and links have ended. What they paid for stays in the ledger.",
    "revoked": "The token is revoked: whatever used it is refused from now on.",
}


@dataclass(frozen=True)
class SignInLink:
    """A way in, shown once, and whose it is."""

    name: str
    address: str


async def people(request: Request) -> Response:
    """Everybody who may sign in."""
    return await _show(request, done=_DONE.get(request.query_params.get("done", ""), ""))


async def add_person(request: Request) -> Response:
    """Somebody new, with the link by which they choose a password; it is shown this once."""
    fields, services = await read_form(request), services_of(request)
    name = fields.get("name", "").strip()

    def work() -> str:
        role = _read_role(fields.get("role", ""))
        check_not_owner(role)
        check_in_catalog(services, name, role)
        services.access.add_user(name, role)
        return services.access.create_link(name)

    try:
        code = await run_in_pool(request, work)
    except Refusal as refusal:
        return await _show(request, problem=refusal)
    return await _show(request, link=_make_link(request, name, code))


async def make_link(request: Request) -> Response:
    """A fresh link for somebody; an older one ends."""
    fields, access = await read_form(request), services_of(request).access
    name = fields.get("name", "")
    try:
        code = await run_in_pool(request, lambda: create_link(access, name))
    except Refusal as refusal:
        return await _show(request, problem=refusal)
    return await _show(request, link=_make_link(request, name, code))


async def change_role(request: Request) -> Response:
    """What somebody may do from now on."""
    fields, services = await read_form(request), services_of(request)
    name = fields.get("name", "")

    def work() -> None:
        role = _read_role(fields.get("role", ""))
        services.access.user(name)
        check_not_owner(role)
        check_in_catalog(services, name, role)
        services.access.set_role(name, role)

    try:
        await run_in_pool(request, work)
    except Refusal as refusal:
        return await _show(request, problem=refusal)
    return RedirectResponse("/owner/people?done=role", 303)


async def remove_person(request: Request) -> Response:
    """Ask whether somebody is to be removed; once that is sure, do it."""
    fields, access = await read_form(request), services_of(request).access
    name = fields.get("name", "")
    try:
        if fields.get("sure") != "yes":
            await run_in_pool(request, lambda: access.user(name))
            return await _show(request, doomed=name)
        await run_in_pool(request, lambda: access.remove_user(name))
    except Refusal as refusal:
        return await _show(request, problem=refusal)
    return RedirectResponse("/owner/people?done=removed", 303)


async def revoke_token(request: Request) -> Response:
    """End a token, whosever it is."""
    fields, access = await read_form(request), services_of(request).access
    try:
        await run_in_pool(request, lambda: access.revoke(fields.get("token", "")))
    except Refusal as refusal:
        return await _show(request, problem=refusal)
    return RedirectResponse("/owner/people?done=revoked", 303)


async def _show(
    request: Request,
    *,
    link: SignInLink | None = None,
    doomed: str = "",
    done: str = "",
    problem: Refusal | None = None,
) -> Response:
    def read(visit: Visit) -> Page:
        access, catalog = visit.services.access, visit.catalog
        users = access.users()
        names = {user.name for user in users}
        tokens = [(token.user, TokenReply.record(token)) for token in access.tokens()]
        filling = {
            "users": [UserReply.record(user) for user in users],
            "budgets": {analyst.name for analyst in catalog.analysts},
            "newcomers": [analyst.name for analyst in catalog.analysts if analyst.name not in names],
            "roles": [role for role in Role if role is not Role.OWNER],
            "tokens": [each for each in tokens if each[1]["state"] == TokenState.VALID],
            "ended": [each for each in tokens if each[1]["state"] != TokenState.VALID],
            "link": link,
            "doomed": doomed,
            "done": done,
            "problem": problem,
        }
        return Page("owner_people.html", filling, 200 if problem is None else status_of(problem))

    return await show(request, read)


def _make_link(request: Request, name: str, code: str) -> SignInLink:
    scheme = "https" if services_of(request).settings.secure else request.url.scheme
    return SignInLink(name, f"{scheme}://{request.headers.get('host', '')}{link_record(code)['path']}")


def _read_role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise Refusal("The role", "is none", f"choose one of {', '.join(Role)}", code="malformed") from None
