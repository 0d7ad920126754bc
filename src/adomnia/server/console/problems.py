"""Error pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from adomnia.errors import Failure, Refusal
from adomnia.explaining.surfaces import Surface, reword
from adomnia.server.console.rendering import HTML, Page, render
from adomnia.server.problems import headers_of, status_of

if TYPE_CHECKING:
    from adomnia.server.problems import Problem


def render_problem_page(error: Problem) -> Response:
    """A page that says what is wrong; whoever is not signed in is redirected to the sign-in page."""
    if isinstance(error, Refusal) and error.code == "signed_out":
        return RedirectResponse("/sign-in", 303)
    title = "This failed" if isinstance(error, Failure) else "Not possible"
    if isinstance(error, Refusal) and error.code == "unknown_route":
        title = "There is no such page"
    told = error if isinstance(error, Failure) else reword(error, Surface.PAGE)
    page = Page("problem.html", {"title": title, "error": error, "says": str(told)})
    return Response(render(page), status_of(error), headers_of(error), HTML)
