"""Routes of users, for owners, and of one's own tokens, for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response

from adomnia.api.access import Role
from adomnia.api.models import ChangeRole, NewToken, NewUser, TokenReply, UserReply, link_record
from adomnia.api.replies import json_response
from adomnia.api.requests import run_in_pool, services_of, visitor_of
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.api.access import Access
    from adomnia.api.requests import Services


async def tokens(request: Request) -> Response:
    """One's own tokens, without their secrets."""
    access, name = services_of(request).access, visitor_of(request).name
    listed = await run_in_pool(request, lambda: access.tokens(name))
    return json_response({"tokens": [TokenReply.record(token) for token in listed]})


async def create_token(asked: NewToken, request: Request) -> Response:
    """A token for a program. Only a visit makes one: a stolen token must not be able to prolong itself."""
    access, visitor = services_of(request).access, visitor_of(request)
    if visitor.token_id is not None:
        fix = "sign in with a password, or have the owner run adomnia token create"
        raise Refusal("A token", "cannot make tokens", fix, code="visit_needed")
    secret, token = await run_in_pool(request, lambda: access.create_token(visitor.name, asked.label, asked.days))
    return json_response({**TokenReply.record(token), "token": secret}, 201)


async def revoke_token(token_id: str, request: Request) -> Response:
    """End one of one's own tokens, at once and for good."""
    access, name = services_of(request).access, visitor_of(request).name
    await run_in_pool(request, lambda: access.revoke(token_id, name))
    return Response(status_code=204)


async def users(request: Request) -> Response:
    """Everybody who may sign in."""
    listed = await run_in_pool(request, services_of(request).access.users)
    return json_response({"users": [UserReply.record(user) for user in listed]})


async def add_user(asked: NewUser, request: Request) -> Response:
    """Somebody new, and the link by which they sign in for the first time."""
    services = services_of(request)

    def work() -> dict[str, object]:
        check_not_owner(asked.role)
        check_in_catalog(services, asked.name, asked.role)
        services.access.add_user(asked.name, asked.role)
        return {
            **UserReply.record(services.access.user(asked.name)),
            "link": link_record(services.access.create_link(asked.name)),
        }

    return json_response(await run_in_pool(request, work), 201)


async def set_role(name: str, asked: ChangeRole, request: Request) -> Response:
    """What somebody may do, from this moment on."""
    services = services_of(request)

    def work() -> dict[str, object]:
        services.access.user(name)
        check_not_owner(asked.role)
        check_in_catalog(services, name, asked.role)
        services.access.set_role(name, asked.role)
        return UserReply.record(services.access.user(name))

    return json_response(await run_in_pool(request, work))


async def remove_user(name: str, request: Request) -> Response:
    """Nobody any more: their tokens, visits and links end."""
    access = services_of(request).access
    await run_in_pool(request, lambda: access.remove_user(name))
    return Response(status_code=204)


async def link(name: str, request: Request) -> Response:
    """A fresh one-time link: somebody new, or a password that was forgotten."""
    access = services_of(request).access
    return json_response(link_record(await run_in_pool(request, lambda: create_link(access, name))), 201)


def create_link(access: Access, name: str) -> str:
    """The code of a fresh one-time link for somebody who is no owner."""
    check_not_owner(access.user(name).role)
    return access.create_link(name)


def check_not_owner(role: Role) -> None:
    """Refuse to make an owner, or a way to choose an owner's password, over HTTP.

    What asks an owner for the password once more would be worth nothing: whoever finds a visit open could choose one.
    """
    if role is Role.OWNER:
        why = "is not made here, where a visit that somebody left open would be enough"
        raise Refusal("An owner", why, "use adomnia user on the server's own machine", code="owner_by_hand")


def check_in_catalog(services: Services, name: str, role: Role) -> None:
    """Refuse an analyst who has no budget in the catalog: they could sign in but do nothing."""
    if role is not Role.ANALYST:
        return
    with services.dataset.curator() as curator:
        if curator.catalog.analyst(name) is None:
            fix = "give them a budget there under [analysts] first"
            raise Refusal("The analyst", "is not in the catalog", fix, code="no_budget")
