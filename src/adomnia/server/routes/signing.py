"""Signing in and out, and one's own password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.server.models import ChangePassword, FirstSignIn, SignIn  # noqa: TC001 - likewise
from adomnia.server.problems import written
from adomnia.server.routes.requests import address_of, at_counter, desk_of, visitor_of

if TYPE_CHECKING:
    from adomnia.server.access import Visitor


async def sign_in(asked: SignIn, request: Request) -> Response:
    """Begin a visit: sets the cookie, and gives the CSRF token that goes with it."""
    access, address = desk_of(request).access, address_of(request)
    entered = await desk_of(request).doors.run(address, lambda: access.sign_in(asked.name, asked.password, address))
    return _welcomed(request, *entered)


async def first_sign_in(asked: FirstSignIn, request: Request) -> Response:
    """Use up a one-time code: choose a password, and begin a visit."""
    access, address = desk_of(request).access, address_of(request)
    entered = await desk_of(request).doors.run(address, lambda: access.redeem_link(asked.code, asked.password, address))
    return _welcomed(request, *entered)


async def sign_out(request: Request) -> Response:
    """End the visit of this cookie."""
    secret = cookie_of(request)
    if secret is not None:
        access = desk_of(request).access
        await at_counter(request, lambda: access.sign_out(secret))
    response = Response(status_code=204)
    take_cookie(request, response)
    return response


async def me(request: Request) -> Response:
    """Who is signed in."""
    return written(me_record(visitor_of(request)))


async def password(asked: ChangePassword, request: Request) -> Response:
    """Choose another password; all other visits of the same user end."""
    access, address, name = desk_of(request).access, address_of(request), visitor_of(request).name
    keep = cookie_of(request)
    await desk_of(request).doors.run(
        address, lambda: access.change_password(name, asked.old, asked.new, address, keep=keep)
    )
    return Response(status_code=204)


def me_record(visitor: Visitor) -> dict[str, object]:
    """Who somebody is, as plain data."""
    return {"name": visitor.name, "role": visitor.role, "csrf": visitor.csrf}


def cookie_of(request: Request) -> str | None:
    """The secret of a visit, if the browser sent one."""
    return request.cookies.get(desk_of(request).settings.cookie)


def give_cookie(request: Request, response: Response, secret: str) -> None:
    """Scripts never see it, other sites never make a browser send it, and it ends with the browser."""
    settings = desk_of(request).settings
    response.set_cookie(settings.cookie, secret, path="/", secure=settings.secure, httponly=True, samesite="strict")


def take_cookie(request: Request, response: Response) -> None:
    """Have the browser forget it."""
    settings = desk_of(request).settings
    response.delete_cookie(settings.cookie, path="/", secure=settings.secure, httponly=True, samesite="strict")


def _welcomed(request: Request, secret: str, visitor: Visitor) -> Response:
    response = written(me_record(visitor))
    give_cookie(request, response, secret)
    return response
