"""The app and the page of one survey. They have nothing to do with datasets and budgets: no ledger, no users."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from adomnia.accounting.meaning import odds_factor, posterior
from adomnia.api.authorization import check_origin, is_known_host
from adomnia.api.bodies import BoundedRequest, check_media_type
from adomnia.api.middleware import ALWAYS_HEADERS, DATA_HEADERS, TLS_HEADERS
from adomnia.api.problems import classify_fault, headers_of, status_of
from adomnia.api.replies import json_response
from adomnia.api.running.rate_limiter import RateLimiter
from adomnia.api.running.request_facts import find_caller
from adomnia.errors import Failure, Refusal
from adomnia.explaining.promises import format_factor
from adomnia.privacy.amounts import show_up
from adomnia.survey.survey import TOKEN
from adomnia.wire.problems import problem_record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from adomnia.api.problems import Problem
    from adomnia.api.settings import Settings
    from adomnia.survey.store import ReportStore
    from adomnia.survey.survey import Survey

# No form may be sent at all: an answer that a browser sent by itself would be the true one.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
_PAGE_HEADERS = ALWAYS_HEADERS | {"Content-Security-Policy": _POLICY, "Referrer-Policy": "same-origin"}
_STATUSES = {"reported": 409, "not_invited": 403, "bad_report": 422, "survey_changed": 503}
_MOST_PARTS = 1000  # of a report
_log = logging.getLogger("adomnia.survey")
_HERE = Path(__file__).parent
_CONSOLE = _HERE.parent / "console" / "static"
_ASSETS = {
    "console.css": (_CONSOLE, "text/css; charset=utf-8"),
    "mark.svg": (_CONSOLE, "image/svg+xml"),
    "randomize.js": (_HERE / "static", "text/javascript; charset=utf-8"),
    "survey.css": (_HERE / "static", "text/css; charset=utf-8"),
    "survey.js": (_HERE / "static", "text/javascript; charset=utf-8"),
}


def create_survey_app(survey: Survey, store: ReportStore, settings: Settings) -> Starlette:
    """Create the app: the page, what it loads, and where it sends reports."""
    endpoints = _Endpoints(survey, store, settings)
    return Starlette(
        routes=[
            Route("/", endpoints.guard(endpoints.page)),
            Route("/survey.json", endpoints.guard(endpoints.describe)),
            Route("/reports", endpoints.guard(endpoints.receive), methods=["POST"]),
            Route("/static/{name}", endpoints.guard(endpoints.asset)),
        ],
        exception_handlers={HTTPException: endpoints.refuse_unrouted},
    )


class _Endpoints:
    """What each route does."""

    def __init__(self, survey: Survey, store: ReportStore, settings: Settings) -> None:
        self._survey, self._store, self._settings = survey, store, settings
        self._limiter = RateLimiter(settings.rate, settings.burst)
        self._page = render_page(survey)

    def guard(self, handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """The handler with what holds for every request: who is addressed, how errors look, which headers leave."""

        async def serve(request: Request) -> Response:
            try:
                self._check(request)
                response = await handle(request)
            except Exception as fault:  # noqa: BLE001 - nothing of it may reach the caller
                response = _render_fault(fault)
            return self._with_headers(response)

        return serve

    async def page(self, _request: Request) -> Response:
        return Response(self._page, media_type="text/html; charset=utf-8")

    async def describe(self, _request: Request) -> Response:
        return json_response({**self._survey.record(), "invited": self._survey.invited})

    async def asset(self, request: Request) -> Response:
        found = find_asset(request.path_params["name"])
        return Response(found.content, media_type=found.media_type, headers={"Cache-Control": "no-cache"})

    async def receive(self, request: Request) -> Response:
        """Take one randomised report: 201 for the first of a token, 200 for the same again, 409 for another."""
        bounded = BoundedRequest(request.scope, request.receive)
        check_media_type(bounded)
        token, report = self._read(await bounded.json())
        first = await asyncio.to_thread(self._store.add, token, report)
        return json_response({"first": first}, 201 if first else 200)

    async def refuse_unrouted(self, _request: Request, fault: Exception) -> Response:
        return self._with_headers(_render_fault(fault))

    def _check(self, request: Request) -> None:
        hosts = request.headers.getlist("host")
        if not (len(hosts) == 1 and is_known_host(hosts[0], self._settings.hosts)):
            fix = "use the address that the survey printed at its start"
            raise Refusal("The Host header", "names another server", fix, code="host")
        check_origin(request, self._settings.secure)
        if request.method == "POST":
            self._limiter.take(find_caller(request.scope, self._settings))

    def _read(self, body: Any) -> tuple[str, tuple[int, ...]]:  # noqa: ANN401 - whatever was sent
        match body:
            case {"survey": str(survey), "token": str(token), "report": list(report)} if len(body) == 3:
                whole = all(type(part) is int for part in report) and len(report) <= _MOST_PARTS
                if survey == self._survey.id and TOKEN.fullmatch(token) and whole:
                    return token, tuple(report)
        fix = "load the page again, and send survey, token and report alone"
        raise Refusal("The body of the request", "is no report to this survey", fix, code="malformed")

    def _with_headers(self, response: Response) -> Response:
        page = response.media_type is not None and not response.media_type.startswith("application/json")
        extra = TLS_HEADERS if self._settings.secure else {}
        kept = {name: response.headers[name] for name in ("Cache-Control",) if name in response.headers}
        response.headers.update({**(_PAGE_HEADERS if page else DATA_HEADERS), **extra, **kept})
        return response


def _render_fault(fault: Exception) -> Response:
    problem: Problem | None = classify_fault(fault)
    if problem is None or problem is not fault:
        _log.warning("A request failed: %s.", type(fault).__name__)
    if problem is None:
        problem = Failure()
    status = _STATUSES.get(getattr(problem, "code", ""), status_of(problem))
    return json_response(problem_record(problem), status, headers_of(problem))


@dataclass(frozen=True)
class _SurveyAsset:
    """A file that the page loads."""

    content: bytes
    media_type: str


@cache
def find_asset(name: str) -> _SurveyAsset:
    """One of the files; they are the same for every survey."""
    if name not in _ASSETS:
        raise Refusal("The address", "names nothing here", "go back to the survey", code="unknown_route")
    folder, media_type = _ASSETS[name]
    return _SurveyAsset((folder / name).read_bytes(), media_type)


def render_page(survey: Survey) -> bytes:
    """The page: whatever its owner wrote is escaped."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    epsilon = survey.design.epsilon
    return (
        environment.get_template("survey.html")
        .render(
            survey=survey,
            how=survey.design.explain(survey.answers),
            epsilon=show_up(epsilon),
            factor=format_factor(odds_factor(epsilon)),
            sure=f"{100 * posterior(0.5, epsilon):.3g}%",
        )
        .encode()
    )
