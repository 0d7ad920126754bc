"""The app: every route of the table of roles with its handler, inside the middleware."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute

from adomnia.api import models
from adomnia.api.authorization import AuthorizedRoute
from adomnia.api.ledger_index import LedgerIndex
from adomnia.api.middleware import RequestMiddleware
from adomnia.api.openapi import Endpoint, describe_api
from adomnia.api.problems import render_problem, to_problem
from adomnia.api.replies import ReplyCache, encode_json
from adomnia.api.requests import run_in_pool
from adomnia.api.roles import API, DATASET, PAGES, ROUTES
from adomnia.api.routes import catalog_text, datasets, oversight, people, questions, releases, shares, sign_in
from adomnia.console.answers.drawing import KEPT_BYTES
from adomnia.console.history.index import Histories
from adomnia.console.problems import PageRoute, render_problem_page
from adomnia.console.routes import PAGE_HANDLERS
from adomnia.version import __version__
from adomnia.wire.answers import AnswerReply, BatchReply
from adomnia.wire.budgets import AccountReply, AccountsReply, BudgetReply, PastsReply
from adomnia.wire.catalog_texts import CatalogIdentityReply, CatalogPreviewReply, CatalogTextReply, OlderTextReply
from adomnia.wire.catalogs import CatalogReply
from adomnia.wire.explanations import ExplanationReply
from adomnia.wire.methods import MethodsReply
from adomnia.wire.quotes import QuoteReply
from adomnia.wire.releases import ZIP, ReleaseReply, ReleasesReply
from adomnia.wire.shares import NewShareReply, SharedReply, SharesReply

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from adomnia.api.requests import Services
    from adomnia.api.roles import Route

# Whatever the environment says: telemetry would send messages of exceptions elsewhere.
_NO_TELEMETRY = TelemetryConfig(tracing=False, metrics=False, logs=False, operation_spans=False, auto_configure=False)
_SLASHED = ("name", "request_id")  # parameters of paths that may contain slashes


async def openapi(request: Request) -> Response:
    """This document."""
    body = await run_in_pool(request, lambda: encode_json(describe_api(request.app)))  # half a second the first time
    return Response(body, media_type="application/json")


ENDPOINTS: dict[Route, Endpoint] = {
    ("GET", f"{API}/health"): Endpoint(datasets.health, models.HealthReply),
    ("GET", f"{API}/ready"): Endpoint(datasets.ready, models.ReadyReply),
    ("POST", f"{API}/sign-in"): Endpoint(sign_in.sign_in, models.MeReply, refuses=(401, 429), sends=True),
    ("POST", f"{API}/sign-in/link"): Endpoint(
        sign_in.first_sign_in, models.MeReply, refuses=(400, 401, 429), sends=True
    ),
    ("POST", f"{API}/sign-out"): Endpoint(sign_in.sign_out, None, 204),
    ("GET", f"{API}/me"): Endpoint(sign_in.me, models.MeReply),
    ("POST", f"{API}/password"): Endpoint(sign_in.password, None, 204, refuses=(400,), sends=True),
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
    ("GET", f"{API}/methods"): Endpoint(datasets.methods, MethodsReply),
    ("GET", f"{DATASET}/catalog"): Endpoint(datasets.catalog, CatalogReply, refuses=(404,)),
    ("POST", f"{DATASET}/query"): Endpoint(
        questions.query, AnswerReply, refuses=(400, 402, 404, 409), sends=True, tables=True
    ),
    ("POST", f"{DATASET}/price"): Endpoint(questions.price, QuoteReply, refuses=(400, 402, 404), sends=True),
    ("POST", f"{DATASET}/explain"): Endpoint(questions.explain, ExplanationReply, refuses=(400, 402, 404), sends=True),
    ("POST", f"{DATASET}/batch"): Endpoint(questions.batch, BatchReply, refuses=(400, 402, 404, 409), sends=True),
    ("GET", f"{DATASET}/answers"): Endpoint(questions.answers, PastsReply, refuses=(404,)),
    ("GET", f"{DATASET}/answers/{{request_id}}"): Endpoint(
        questions.answer, AnswerReply, refuses=(400, 404, 409), tables=True
    ),
    ("GET", f"{DATASET}/explanations/{{request_id}}"): Endpoint(
        questions.explanation, ExplanationReply, refuses=(400, 404, 409)
    ),
    ("GET", f"{DATASET}/budget"): Endpoint(datasets.budget, BudgetReply, refuses=(404,)),
    ("POST", f"{DATASET}/releases"): Endpoint(releases.make, ReleaseReply, refuses=(400, 402, 404, 409), sends=True),
    ("GET", f"{DATASET}/releases"): Endpoint(releases.list_all, ReleasesReply, refuses=(404,)),
    ("GET", f"{DATASET}/releases/{{release}}"): Endpoint(releases.describe, ReleaseReply, refuses=(404,)),
    ("GET", f"{DATASET}/releases/{{release}}/archive"): Endpoint(releases.download, ZIP, refuses=(404, 409)),
    ("GET", f"{DATASET}/shares"): Endpoint(shares.shares, SharesReply, refuses=(404,)),
    ("POST", f"{DATASET}/shares"): Endpoint(shares.create_share, NewShareReply, 201, refuses=(400, 404), sends=True),
    ("DELETE", f"{DATASET}/shares/{{share_id}}"): Endpoint(shares.end_share, None, 204, refuses=(404,)),
    ("GET", f"{DATASET}/shared/{{code}}"): Endpoint(shares.open_shared, SharedReply, refuses=(400, 404)),
    ("POST", f"{DATASET}/shared/{{code}}"): Endpoint(shares.buy, BatchReply, refuses=(400, 402, 404, 409)),
    ("POST", f"{DATASET}/accounts/top-up"): Endpoint(
        oversight.top_up_budget, AccountReply, refuses=(400, 404, 409), sends=True
    ),
    ("GET", f"{DATASET}/catalog/text"): Endpoint(catalog_text.text, CatalogTextReply, refuses=(404,)),
    ("GET", f"{DATASET}/catalog/text/{{older}}"): Endpoint(catalog_text.older_text, OlderTextReply, refuses=(404,)),
    ("PUT", f"{DATASET}/catalog/text"): Endpoint(
        catalog_text.save, CatalogIdentityReply, refuses=(400, 404, 409), sends=True
    ),
    ("POST", f"{DATASET}/catalog/check"): Endpoint(
        catalog_text.check, CatalogPreviewReply, refuses=(400, 404), sends=True
    ),
    ("GET", f"{DATASET}/accounts"): Endpoint(oversight.accounts, AccountsReply, refuses=(404,)),
    ("GET", f"{DATASET}/ledger"): Endpoint(oversight.ledger, models.LedgerReply, refuses=(404,)),
    ("GET", f"{DATASET}/ledger/verify"): Endpoint(oversight.verify, models.VerifiedReply, refuses=(404,)),
    ("GET", f"{API}/metrics"): Endpoint(oversight.metrics, "text/plain"),
    ("GET", f"{API}/openapi.json"): Endpoint(openapi, models.DocumentReply),
}


def create_app(services: Services) -> FastAPI:
    """Create the app of one worker; refuse to if a route has no roles, or roles have no route."""
    if (ENDPOINTS.keys() | PAGE_HANDLERS.keys()) != (ROUTES.keys() | PAGES.keys()):
        raise ValueError("Every route must be in the table of roles, and every line of it must have a handler.")
    app = FastAPI(
        title="Ad Omnia",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
        exception_handlers={HTTPException: _render_unrouted},
    )
    app.state.services, app.state.reply_cache = services, ReplyCache()
    app.state.histories = Histories()
    app.state.ledger_index = LedgerIndex()
    app.state.figures = ReplyCache(KEPT_BYTES)
    app.router.routes += _build_routes()
    app.add_middleware(RequestMiddleware, services=services)
    return app


@cache
def _build_routes() -> tuple[BaseRoute, ...]:
    """All routes, which find the services of their app in the request; made once, because making them takes long."""
    router = APIRouter(route_class=AuthorizedRoute)
    for (method, path), roles in ROUTES.items():
        endpoint = ENDPOINTS[method, path]
        options = endpoint.options((method, path), roles)
        router.add_api_route(_template(path), endpoint.serve, methods=[method], **options)
    for method, path in PAGES:
        router.add_api_route(
            _template(path),
            PAGE_HANDLERS[method, path],
            methods=[method],
            response_model=None,
            include_in_schema=False,
            route_class_override=PageRoute,
        )
    return tuple(router.routes)


def _template(path: str) -> str:
    for name in _SLASHED:
        path = path.replace(f"{{{name}}}", f"{{{name}:path}}")
    return path


async def _render_unrouted(request: Request, fault: Exception) -> Response:
    """The reply where no route matches: the address is unknown, or does not have this method."""
    problem = to_problem(request, fault)
    is_api = request.url.path.startswith(API)
    response = render_problem(problem, request.state.request_id) if is_api else render_problem_page(problem)
    if response.status_code == 405:
        routes = (route for route in request.app.routes if isinstance(route, StarletteRoute))
        matching = [route.methods or () for route in routes if route.path_regex.match(request.url.path)]
        response.headers["Allow"] = ", ".join(sorted({method for methods in matching for method in methods}))
    return response
