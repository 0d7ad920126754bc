"""Routes to sign in and out, and to change one's own password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.models import ChangePassword, FirstSignIn, MeReply, SignIn
from adomnia.api.replies import json_response
from adomnia.api.requests import address_of, run_in_pool, services_of, visitor_of

if TYPE_CHECKING:
    from adomnia.api.access import Visitor


async def sign_in(asked: SignIn, request: Request) -> Response:
    """Begin a visit: sets the cookie, and gives the CSRF token that goes with it."""
    access, address = services_of(request).access, address_of(request)
    entered = await services_of(request).password_pool.run(
        address, lambda: access.sign_in(asked.name, asked.password, address)
    )
    return _respond_with_cookie(request, *entered)


async def first_sign_in(asked: FirstSignIn, request: Request) -> Response:
    """Use up a one-time code: choose a password, and begin a visit."""
    access, address = services_of(request).access, address_of(request)
    entered = await services_of(request).password_pool.run(
        address, lambda: access.redeem_link(asked.code, asked.password, address)
    )
    return _respond_with_cookie(request, *entered)


async def sign_out(request: Request) -> Response:
    """End the visit of this cookie."""
    secret = cookie_of(request)
    if secret is not None:
        access = services_of(request).access
        await run_in_pool(request, lambda: access.sign_out(secret))
    response = Response(status_code=204)
    delete_cookie(request, response)
    return response


async def me(request: Request) -> Response:
    """Who is signed in."""
    return json_response(MeReply.record(visitor_of(request)))


async def password(asked: ChangePassword, request: Request) -> Response:
    """Choose another password; all other visits of the same user end."""
    access, address, name = services_of(request).access, address_of(request), visitor_of(request).name
    keep = cookie_of(request)
    await services_of(request).password_pool.run(
        address, lambda: access.change_password(name, asked.old, asked.new, address, keep=keep)
    )
    return Response(status_code=204)


def cookie_of(request: Request) -> str | None:
    """The secret of a visit, if the browser sent one."""
    return request.cookies.get(services_of(request).settings.cookie)


def set_cookie(request: Request, response: Response, secret: str) -> None:
    """Set the cookie of a visit: hidden from scripts, not sent for other sites, gone when the browser closes."""
    settings = services_of(request).settings
    response.set_cookie(settings.cookie, secret, path="/", secure=settings.secure, httponly=True, samesite="strict")


def delete_cookie(request: Request, response: Response) -> None:
    """Delete the cookie of a visit."""
    settings = services_of(request).settings
    response.delete_cookie(settings.cookie, path="/", secure=settings.secure, httponly=True, samesite="strict")


def _respond_with_cookie(request: Request, secret: str, visitor: Visitor) -> Response:
    response = json_response(MeReply.record(visitor))
    set_cookie(request, response, secret)
    return response
