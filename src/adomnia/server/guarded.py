"""A route that nobody passes whom the table of roles does not name, and whose every error has the one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.routing import APIRoute

from adomnia.server.bodies import LARGEST, SMALL, BoundedRequest, check_media_type
from adomnia.server.gate import admitted
from adomnia.server.pages.problems import shown_page
from adomnia.server.problems import shown, told
from adomnia.server.roles import API, DATASET, roles_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.requests import Request
    from starlette.responses import Response


class Guarded(APIRoute):
    """A route of the table. Whoever asks is looked at before what they ask: the body is read last."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        (method,) = self.methods or {""}
        roles, takes_body = roles_of(method, self.path_format), self.body_field is not None
        show = shown if self.path.startswith(API) else shown_page
        largest = LARGEST if self.path.startswith(DATASET) else SMALL

        async def guarded(request: Request) -> Response:
            desk = request.app.state.desk
            try:
                request.state.visitor = admitted(request, desk, roles)
                bounded = BoundedRequest(request.scope, request.receive)
                bounded.largest = largest
                if takes_body:
                    check_media_type(bounded)
                    await bounded.json()
                return await handle(bounded)
            except Exception as fault:  # noqa: BLE001 - no reply may say more than `told` lets it, and none is a 500
                return show(told(request, fault))

        return guarded
