"""Error pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from adomnia import errors
from adomnia.api.authorization import ROLE, AuthorizedRoute
from adomnia.api.problems import headers_of, status_of
from adomnia.console.rendering import HTML, Page, render
from adomnia.errors import Failure, Refusal
from adomnia.messages.surfaces import Surface

if TYPE_CHECKING:
    from starlette.requests import Request

    from adomnia.api.problems import Problem


_NOT_THERE = frozenset({"unknown_route", "unknown_link", "unknown_text"})
SHARED = re.compile(r"/shared/[\w-]{1,200}", re.ASCII)


def tell(error: Problem) -> str:
    """What is wrong and what to do, as sentences of a page."""
    if isinstance(error, Failure):
        return str(error)
    told = errors.render(error, Surface.PAGE)
    fix = f"{told.fix[:1].upper()}{told.fix[1:]}" + ("" if told.fix.endswith("?") else ".")
    what = "This page" if told.code == ROLE else told.what
    return f"{what} {told.why}. {fix}"


def render_problem_page(error: Problem, path: str = "") -> Response:
    """A page that says what is wrong; whoever is not signed in is redirected to the sign-in page.

    Those whom somebody gave a link to an answer are led there once they have signed in.
    """
    if isinstance(error, Refusal) and error.code == "signed_out":
        return RedirectResponse(f"/sign-in?to={path}" if SHARED.fullmatch(path) else "/sign-in", 303)
    title = "This failed" if isinstance(error, Failure) else "Not possible"
    if isinstance(error, Refusal) and error.code in _NOT_THERE:
        title = "There is no such page"
    if isinstance(error, Refusal) and error.code == "role":
        title = "This page is not yours"
    page = Page("problem.html", {"title": title, "error": error, "says": tell(error)})
    return Response(render(page), status_of(error), headers_of(error), HTML)


class PageRoute(AuthorizedRoute):
    """A page of the table of roles: what is wrong is shown as a page too."""

    def render_problem(self, problem: Problem, request: Request) -> Response:
        return render_problem_page(problem, request.url.path)
