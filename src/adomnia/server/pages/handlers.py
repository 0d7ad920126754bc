"""Handlers of the pages: the forms to sign in and out, and the first page."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.errors import Refusal
from adomnia.server.access import Role
from adomnia.server.authorization import check_csrf
from adomnia.server.bodies import check_media_type, malformed_request
from adomnia.server.pages.rendering import read_stylesheet, render_page
from adomnia.server.problems import headers_of, status_of
from adomnia.server.routes.requests import address_of, run_in_pool, services_of, visitor_of
from adomnia.server.routes.sign_in import cookie_of, delete_cookie, set_cookie

if TYPE_CHECKING:
    from adomnia.server.access import Access, Visitor

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 10
_TOKEN_DAYS = 90
_PERMISSIONS = {
    Role.OWNER: "You manage users, and read all budgets and the ledger. To ask questions, sign in as an analyst.",
    Role.ANALYST: "You ask questions, see their price before you pay it, and read your own answers again at any time.",
    Role.AUDITOR: "You read all budgets and the ledger, and have the server verify it.",
}


async def sign_in_page(request: Request) -> Response:
    """The form; with a code, the one that sets a password. Only sending it uses the code up."""
    return _render_form(request.query_params.get("code", ""))


async def sign_in_form(request: Request) -> Response:
    """Begin a visit, or show the form again with what is wrong."""
    form = await _read_fields(request)
    services, address, code = services_of(request), address_of(request), form.get("code", "")
    try:
        secret, _ = await services.password_pool.run(address, lambda: _enter(services.access, form, address))
    except Refusal as refusal:
        return _render_form(code, form.get("name", ""), refusal)
    response = RedirectResponse("/", 303)
    set_cookie(request, response, secret)
    return response


async def home(request: Request) -> Response:
    """Who is signed in, and what they may do next."""
    visitor = visitor_of(request)
    with services_of(request).dataset.curator() as curator:
        dataset = f"{curator.catalog.name}, version {curator.catalog.version}"
    return render_page(
        "home",
        title="Welcome",
        name=visitor.name,
        role=visitor.role,
        dataset=dataset,
        may=_PERMISSIONS[visitor.role],
        csrf=visitor.csrf or "",
        example=_example(request, visitor),
    )


async def make_token(request: Request) -> Response:
    """A token of one's own, shown this once."""
    form = await _read_fields(request)
    access, visitor = services_of(request).access, _check_form(request, form)
    label = form.get("label", "")
    secret, _ = await run_in_pool(request, lambda: access.create_token(visitor.name, label, _TOKEN_DAYS))
    return render_page("token", title="Your new token", secret=secret)


async def sign_out_form(request: Request) -> Response:
    """End the visit."""
    _check_form(request, await _read_fields(request))
    access, secret = services_of(request).access, cookie_of(request) or ""
    await run_in_pool(request, lambda: access.sign_out(secret))
    response = RedirectResponse("/sign-in", 303)
    delete_cookie(request, response)
    return response


async def stylesheet() -> Response:
    """How the pages look."""
    return Response(read_stylesheet(), media_type="text/css; charset=utf-8")


def _render_form(code: str, name: str = "", refusal: Refusal | None = None) -> Response:
    status = 200 if refusal is None else status_of(refusal)
    headers = None if refusal is None else headers_of(refusal)
    problem = "" if refusal is None else str(refusal)
    if code:
        return render_page("first_sign_in", status, headers, title="Choose a password", code=code, problem=problem)
    return render_page("sign_in", status, headers, title="Sign in", name=name, problem=problem)


def _enter(access: Access, form: dict[str, str], address: str) -> tuple[str, Visitor]:
    password = form.get("password", "")
    if not form.get("code"):
        return access.sign_in(form.get("name", ""), password, address)
    if password != form.get("again"):
        raise Refusal("The passwords", "differ", "write the same one twice", code="weak_password")
    return access.redeem_link(form["code"], password, address)


def _check_form(request: Request, form: dict[str, str]) -> Visitor:
    """The visitor who sent a form; refuse a form that another site may have sent."""
    visitor = visitor_of(request)
    if visitor.csrf is None:
        raise Refusal("A token", "is not for the pages", "use the routes under /api/v1", code="visit_needed")
    check_csrf(request, visitor, form.get("csrf"))
    return visitor


def _example(request: Request, visitor: Visitor) -> str:
    address = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if visitor.role is Role.ANALYST:
        return f'import adomnia\n\nsession = adomnia.connect("{address}", token="ao_...")\nprint(session.budget())'
    return f"curl -H 'Authorization: Bearer ao_...' {address}/api/v1/datasets"


async def _read_fields(request: Request) -> dict[str, str]:
    check_media_type(request, _FORM)
    try:
        return dict(parse_qsl((await request.body()).decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise malformed_request("The form", "cannot be read") from None
