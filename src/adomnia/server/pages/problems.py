"""Error pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse

from adomnia.errors import Failure, Refusal
from adomnia.server.pages.rendering import render_page
from adomnia.server.problems import headers_of, status_of

if TYPE_CHECKING:
    from starlette.responses import Response

    from adomnia.server.problems import Problem


def render_problem_page(error: Problem) -> Response:
    """A page that says what is wrong; whoever is not signed in is redirected to the sign-in page."""
    if isinstance(error, Refusal) and error.code == "signed_out":
        return RedirectResponse("/sign-in", 303)
    title = "Failed" if isinstance(error, Failure) else "Not possible"
    return render_page("problem", status_of(error), headers_of(error), title=title, says=str(error))
