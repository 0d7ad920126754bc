"""Shows a page in its frame: the dataset, the pages there are, what is left, who is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from starlette.responses import Response

from adomnia.api.access import Role
from adomnia.api.free_work import ask_free
from adomnia.api.replies import EncodedReply, PiecewiseResponse, encode_within
from adomnia.api.requests import services_of
from adomnia.console.rendering import HTML, PART, Page, render
from adomnia.privacy.amounts import EPSILON_UNIT, show_down
from adomnia.work import MOST_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from adomnia.api.requests import Visit
    from adomnia.privacy.filters import Filter


@dataclass(frozen=True)
class PageLink:
    """A page that a role has, with the name of its icon."""

    label: str
    path: str
    icon: str


_OVERSIGHT = (
    PageLink("Overview", "/owner", "overview"),
    PageLink("Ledger", "/owner/ledger", "ledger"),
    PageLink("Budgets", "/owner/budgets", "budget"),
)
_CATALOG = PageLink("Catalog", "/owner/catalog", "data")
_RELEASES = PageLink("Releases", "/releases", "releases")
LINKS = {
    Role.ANALYST: (
        PageLink("Ask", "/ask", "ask"),
        PageLink("Methods", "/methods", "methods"),
        PageLink("Data", "/data", "data"),
        _RELEASES,
        PageLink("Budget", "/budget", "budget"),
        PageLink("History", "/answers", "history"),
    ),
    Role.OWNER: (
        *_OVERSIGHT,
        PageLink("People", "/owner/people", "people"),
        _CATALOG,
        _RELEASES,
    ),
    Role.AUDITOR: (*_OVERSIGHT, _CATALOG, _RELEASES),
}


@dataclass(frozen=True)
class RemainingBudget:
    """What an analyst has left, in the currency that their budget is counted in."""

    sign: str
    word: str
    left: str
    whole: str
    spent_share: float


@dataclass(frozen=True)
class PageFrame:
    """What stands around a page."""

    dataset: str
    version: int
    name: str
    role: Role
    csrf: str
    path: str
    links: tuple[PageLink, ...]
    open_account: Callable[[], Filter] | None = None  # of an analyst
    hides: str = "person"  # or "row", where each is hidden by itself

    @cached_property
    def remaining(self) -> RemainingBudget | None:
        """What an analyst has left; the ledger is asked only where it is shown, and most parts of pages do not."""
        return None if self.open_account is None else describe_remaining(self.open_account())

    @property
    def start(self) -> str:
        """The first page of the role."""
        return self.links[0].path

    @property
    def current(self) -> str:
        """The path of the link that the page belongs to, if any: the longest that its own begins with."""
        path = self.path
        if path.startswith("/answers/") and not path.startswith("/answers/share"):
            path = "/ask"  # an answer stands below its question
        within = [link.path for link in self.links if f"{path}/".startswith(f"{link.path}/")]
        return max(within, key=len, default="")


def build_frame(path: str, visit: Visit) -> PageFrame:
    """The frame of a visitor's page."""
    visitor, catalog = visit.visitor, visit.catalog
    account = (lambda: visit.session.budget().personal) if visit.is_analyst else None
    links, csrf = LINKS[visitor.role], visitor.csrf or ""
    about, hides = (catalog.name, catalog.version), catalog.unit.noun
    return PageFrame(*about, visitor.name, visitor.role, csrf, path, links, account, hides)


def find_start(role: Role) -> str:
    """The page on which a role begins."""
    return LINKS[role][0].path


def describe_remaining(account: Filter) -> RemainingBudget:
    """What is left of the sum that the budget is held to: of epsilons while that may be, of rhos otherwise."""
    budget, spent, left = account.budget, account.spent, account.left()
    if account.branches().epsilon or not budget.rho:
        share = float(spent.epsilon_units * EPSILON_UNIT / budget.epsilon) if budget.epsilon else 1.0
        return RemainingBudget("ε", "epsilon", show_down(left.epsilon), show_down(budget.epsilon), min(share, 1.0))
    share = float(spent.rho_units * EPSILON_UNIT / budget.rho)
    return RemainingBudget("ρ", "rho", show_down(left.rho), show_down(budget.rho), min(share, 1.0))


async def show(request: Request, read: Callable[[Visit], Page], most_steps: int | None = MOST_STEPS) -> Response:
    """Show the page that `read` makes of public facts and of what the visitor has paid for; nothing is spent.

    Steps are counted as of everything that is free. Without a number of them, it is as large as what was paid for.
    """
    memory = services_of(request).answer_memory

    def work(visit: Visit) -> tuple[EncodedReply, int]:
        status = 200

        def encode() -> list[bytes]:
            nonlocal status
            page = read(visit)
            status = page.status
            return [render_visit(request, visit, page)]

        reply = encode_within(memory, encode, HTML)
        return reply, status

    found = await ask_free(request, None, work, most_steps)
    return found if isinstance(found, Response) else PiecewiseResponse(found[0], status=found[1])


def render_visit(request: Request, visit: Visit, page: Page) -> bytes:
    """A page inside the frame that its visitor sees, or the part of it that was asked for."""
    part = request.headers.get(PART)
    return render(page, part, frame=build_frame(request.url.path, visit))
