"""What is done for good is done with the password: an open visit or a stolen token is not enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.api.access.login_attempts import LOGIN_FAILED
from adomnia.api.requests import address_of, services_of, visitor_of

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["LOGIN_FAILED", "check_password"]


async def check_password(request: Request, password: str) -> None:
    """Refuse unless whoever is signed in knows their password; a wrong one counts as a sign-in that failed."""
    services, name, address = services_of(request), visitor_of(request).name, address_of(request)
    await services.password_pool.run(address, lambda: services.access.check_password(name, password, address))
