"""What the handlers of pages have in common: who visits which dataset, and how a page is read and shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from adomnia.api.access import Role
from adomnia.api.free_work import ask_free
from adomnia.api.replies import EncodedReply, PiecewiseResponse, encode_within
from adomnia.api.routes.requests import services_of, visitor_of
from adomnia.console.frame import build_frame
from adomnia.console.rendering import HTML, PART, Page, render
from adomnia.work import MOST_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from adomnia.api.access import Visitor
    from adomnia.api.services import Services
    from adomnia.session.contract import Session
    from adomnia.session.curator import Curator

__all__ = ["Visit", "render_visit", "show"]


@dataclass(frozen=True)
class Visit:
    """Somebody who is signed in, at the dataset that is served."""

    services: Services
    visitor: Visitor
    curator: Curator

    @property
    def session(self) -> Session:
        """What an analyst may do; only for analysts."""
        return self.curator.session(self.visitor.name)

    @property
    def is_analyst(self) -> bool:
        """Whether they ask questions, and so have a budget."""
        return self.visitor.role is Role.ANALYST


async def show(request: Request, read: Callable[[Visit], Page], most_steps: int | None = MOST_STEPS) -> Response:
    """Show the page that `read` makes of public facts and of what the visitor has paid for; nothing is spent.

    Steps are counted as of everything that is free. Without a number of them, it is as large as what was paid for.
    """
    services, visitor = services_of(request), visitor_of(request)

    def work(curator: Curator) -> tuple[EncodedReply, int]:
        visit, status = Visit(services, visitor, curator), 200

        def encode() -> list[bytes]:
            nonlocal status
            page = read(visit)
            status = page.status
            return [render_visit(request, visit, page)]

        reply = encode_within(services.answer_memory, encode, HTML)
        return reply, status

    found = await ask_free(request, None, work, most_steps)
    return found if isinstance(found, Response) else PiecewiseResponse(found[0], status=found[1])


def render_visit(request: Request, visit: Visit, page: Page) -> bytes:
    """A page inside the frame that its visitor sees, or the part of it that was asked for."""
    part = request.headers.get(PART)
    return render(page, part, frame=build_frame(request.url.path, visit))
