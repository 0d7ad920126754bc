"""The app: the table of roles joined to what serves each route, inside the shell that every request passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response
from starlette.routing import Route as Routed

from adomnia import __version__
from adomnia.server import models
from adomnia.server.document import Endpoint, described
from adomnia.server.guarded import Guarded
from adomnia.server.pages import handlers
from adomnia.server.problems import encoded, shown, told
from adomnia.server.replies import Replies
from adomnia.server.roles import API, DATASET, PAGES, ROUTES
from adomnia.server.routes import datasets, oversight, people, questions, signing
from adomnia.server.routes.requests import at_counter
from adomnia.server.shell import Shell
from adomnia.wire.answers import AnswerReply, BatchReply
from adomnia.wire.budgets import BudgetReply
from adomnia.wire.catalogs import CatalogReply
from adomnia.wire.explanations import ExplanationReply
from adomnia.wire.pasts import PastsReply
from adomnia.wire.quotes import QuoteReply

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.server.desk import Desk
    from adomnia.server.roles import Route

# Whatever the environment says: telemetry would carry texts of exceptions out of the house.
_SILENT = TelemetryConfig(tracing=False, metrics=False, logs=False, operation_spans=False, auto_configure=False)
_SLASHED = ("name", "request_id")  # what may hold any printable character, slashes too


async def openapi(request: Request) -> Response:
    """This document."""
    body = await at_counter(request, lambda: encoded(described(request.app)))  # half a second the first time
    return Response(body, media_type="application/json")


ENDPOINTS: dict[Route, Endpoint] = {
    ("GET", f"{API}/health"): Endpoint(datasets.health, models.HealthReply),
    ("POST", f"{API}/sign-in"): Endpoint(signing.sign_in, models.MeReply, refuses=(401, 429), sends=True),
    ("POST", f"{API}/sign-in/link"): Endpoint(
        signing.first_sign_in, models.MeReply, refuses=(400, 401, 429), sends=True
    ),
    ("POST", f"{API}/sign-out"): Endpoint(signing.sign_out, None, 204),
    ("GET", f"{API}/me"): Endpoint(signing.me, models.MeReply),
    ("POST", f"{API}/password"): Endpoint(signing.password, None, 204, refuses=(400,), sends=True),
    ("GET", f"{API}/tokens"): Endpoint(people.tokens, models.TokensReply),
    ("POST", f"{API}/tokens"): Endpoint(people.create_token, models.NewTokenReply, 201, refuses=(400,), sends=True),
    ("DELETE", f"{API}/tokens/{{token_id}}"): Endpoint(people.revoke_token, None, 204, refuses=(404,)),
    ("GET", f"{API}/users"): Endpoint(people.users, models.UsersReply),
    ("POST", f"{API}/users"): Endpoint(people.add_user, models.NewUserReply, 201, refuses=(400, 409), sends=True),
    ("PATCH", f"{API}/users/{{name}}"): Endpoint(
        people.set_role, models.UserReply, refuses=(400, 404, 409), sends=True
    ),
    ("DELETE", f"{API}/users/{{name}}"): Endpoint(people.remove_user, None, 204, refuses=(404, 409)),
    ("POST", f"{API}/users/{{name}}/link"): Endpoint(people.link, models.SignInLinkReply, 201, refuses=(404,)),
    ("GET", f"{API}/datasets"): Endpoint(datasets.datasets, models.DatasetsReply),
    ("GET", f"{DATASET}/catalog"): Endpoint(datasets.catalog, CatalogReply, refuses=(404,)),
    ("POST", f"{DATASET}/query"): Endpoint(questions.query, AnswerReply, refuses=(400, 402, 404, 409), sends=True),
    ("POST", f"{DATASET}/price"): Endpoint(questions.price, QuoteReply, refuses=(400, 402, 404), sends=True),
    ("POST", f"{DATASET}/explain"): Endpoint(questions.explain, ExplanationReply, refuses=(400, 402, 404), sends=True),
    ("POST", f"{DATASET}/batch"): Endpoint(questions.batch, BatchReply, refuses=(400, 402, 404, 409), sends=True),
    ("GET", f"{DATASET}/answers"): Endpoint(questions.answers, PastsReply, refuses=(404,)),
    ("GET", f"{DATASET}/answers/{{request_id}}"): Endpoint(questions.answer, AnswerReply, refuses=(400, 404, 409)),
    ("GET", f"{DATASET}/budget"): Endpoint(datasets.budget, BudgetReply, refuses=(404,)),
    ("GET", f"{DATASET}/accounts"): Endpoint(oversight.accounts, models.AccountsReply, refuses=(404,)),
    ("GET", f"{DATASET}/ledger"): Endpoint(oversight.ledger, models.LedgerReply, refuses=(404,)),
    ("GET", f"{DATASET}/ledger/verify"): Endpoint(oversight.verify, models.VerifiedReply, refuses=(404,)),
    ("GET", f"{API}/metrics"): Endpoint(oversight.metrics, "text/plain"),
    ("GET", f"{API}/openapi.json"): Endpoint(openapi, models.DocumentReply),
}
SHOWN: dict[Route, Callable[..., Any]] = {
    ("GET", "/"): handlers.home,
    ("GET", "/sign-in"): handlers.sign_in_page,
    ("POST", "/sign-in"): handlers.sign_in_form,
    ("POST", "/sign-out"): handlers.sign_out_form,
    ("POST", "/token"): handlers.make_token,
    ("GET", "/style.css"): handlers.stylesheet,
}


def create_app(desk: Desk) -> FastAPI:
    """The app of one worker. A route that is in only one of the tables does not let it start."""
    if (ENDPOINTS.keys() | SHOWN.keys()) != (ROUTES.keys() | PAGES.keys()):
        raise ValueError("Every route must be in the table of roles, and every line of it must be served.")
    app = FastAPI(
        title="Ad Omnia",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_SILENT,
        exception_handlers={HTTPException: _unrouted},
    )
    app.state.desk, app.state.replies = desk, Replies()
    app.router.route_class = Guarded
    for (method, path), roles in ROUTES.items():
        endpoint = ENDPOINTS[method, path]
        options = endpoint.options((method, path), roles)
        app.add_api_route(_template(path), endpoint.serve, methods=[method], **options)
    for method, path in PAGES:
        app.add_api_route(path, SHOWN[method, path], methods=[method], response_model=None, include_in_schema=False)
    app.add_middleware(Shell, desk=desk)
    return app


def _template(path: str) -> str:
    for name in _SLASHED:
        path = path.replace(f"{{{name}}}", f"{{{name}:path}}")
    return path


async def _unrouted(request: Request, fault: Exception) -> Response:
    """What no route serves: the address is unknown, or the method is not one of it."""
    response = shown(told(request, fault))
    if response.status_code == 405:
        routes = (route for route in request.app.routes if isinstance(route, Routed))
        here = [route.methods or () for route in routes if route.path_regex.match(request.url.path)]
        response.headers["Allow"] = ", ".join(sorted({method for methods in here for method in methods}))
    return response
