"""The pages before all others: signing in, by a password or by a link that works once, and out; and the first page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.api.problems import headers_of, status_of
from adomnia.api.requests import address_of, run_in_pool, services_of, visitor_of
from adomnia.api.routes.sign_in import cookie_of, delete_cookie, set_cookie
from adomnia.console.forms import read_fields, read_form
from adomnia.console.frame import find_start
from adomnia.console.problems import SHARED, tell
from adomnia.console.rendering import HTML, Page, render
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.api.access import Access, Visitor


async def home(request: Request) -> Response:
    """The first page of whoever is signed in."""
    return RedirectResponse(find_start(visitor_of(request).role), 303)


async def sign_in_page(request: Request) -> Response:
    """The form; with a code, the one that sets a password. Only sending it uses the code up."""
    return _show_form(request.query_params.get("code", ""), to=request.query_params.get("to", ""))


async def sign_in_form(request: Request) -> Response:
    """Begin a visit, or show the form again with what is wrong."""
    form = await read_fields(request)
    services, address, code = services_of(request), address_of(request), form.get("code", "")
    try:
        secret, _ = await services.password_pool.run(address, lambda: _enter(services.access, form, address))
    except Refusal as refusal:
        return _show_form(code, form.get("name", ""), refusal, form.get("to", ""))
    to = form.get("to", "")
    response = RedirectResponse(to if SHARED.fullmatch(to) else "/", 303)
    set_cookie(request, response, secret)
    return response


async def sign_out_form(request: Request) -> Response:
    """End the visit."""
    await read_form(request)
    access, secret = services_of(request).access, cookie_of(request) or ""
    await run_in_pool(request, lambda: access.sign_out(secret))
    response = RedirectResponse("/sign-in", 303)
    delete_cookie(request, response)
    return response


def _show_form(code: str, name: str = "", refusal: Refusal | None = None, to: str = "") -> Response:
    status = 200 if refusal is None else status_of(refusal)
    headers = None if refusal is None else headers_of(refusal)
    told = "" if refusal is None else tell(refusal)
    page = Page("sign_in.html", {"code": code, "name": name, "to": to, "problem": told})
    return Response(render(page), status, headers, HTML)


def _enter(access: Access, form: dict[str, str], address: str) -> tuple[str, Visitor]:
    password = form.get("password", "")
    if not form.get("code"):
        return access.sign_in(form.get("name", ""), password, address)
    if password != form.get("again"):
        raise Refusal("The passwords", "differ", "write the same one twice", code="weak_password")
    return access.redeem_link(form["code"], password, address)
