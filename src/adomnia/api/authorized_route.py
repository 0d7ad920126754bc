"""A route that checks roles before it reads the body, and turns every exception into a reply of one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.routing import APIRoute

from adomnia.api.authorization import authorize_aside
from adomnia.api.bodies import LARGEST, SMALL, BoundedRequest, check_media_type
from adomnia.api.problems import render_problem, to_problem
from adomnia.api.roles import LONG_TEXTS, roles_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.requests import Request
    from starlette.responses import Response

    from adomnia.api.problems import Problem


class AuthorizedRoute(APIRoute):
    """A route of the table of roles. The caller is authorized first; the body is read last."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        (method,) = self.methods or {""}
        roles, takes_body = roles_of(method, self.path_format), self.body_field is not None
        largest = LARGEST if self.path.startswith(LONG_TEXTS) else SMALL

        async def handle_authorized(request: Request) -> Response:
            services = request.app.state.services
            try:
                request.state.visitor = await authorize_aside(request, services, roles)
                bounded = BoundedRequest(request.scope, request.receive)
                bounded.largest = largest
                if takes_body:
                    check_media_type(bounded)
                    await bounded.json()
                return await handle(bounded)
            except Exception as fault:  # noqa: BLE001 - replies say only what `to_problem` allows, and none is a 500
                return self.render_problem(to_problem(request, fault), request)

        return handle_authorized

    def render_problem(self, problem: Problem, request: Request) -> Response:
        """What is replied where there is no answer; pages show it as a page."""
        return render_problem(problem, request.state.request_id)
