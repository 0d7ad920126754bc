"""What every page shows around its own content: the dataset, the pages there are, what is left, who is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from adomnia.api.access import Role
from adomnia.privacy.amounts import EPSILON_UNIT, show_down

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.console.visits import Visit
    from adomnia.privacy.filters import Filter

__all__ = ["PageFrame", "PageLink", "Purse", "build_frame", "fill_purse", "find_start"]


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
class Purse:
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
    def purse(self) -> Purse | None:
        """What an analyst has left; the ledger is asked only where it is shown, and most parts of pages do not."""
        return None if self.open_account is None else fill_purse(self.open_account())

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
    visitor, catalog = visit.visitor, visit.curator.catalog
    account = partial(visit.curator.ledger.account, visitor.name) if visit.is_analyst else None
    links, csrf = LINKS[visitor.role], visitor.csrf or ""
    about, hides = (catalog.name, catalog.version), catalog.unit.noun
    return PageFrame(*about, visitor.name, visitor.role, csrf, path, links, account, hides)


def find_start(role: Role) -> str:
    """The page on which a role begins."""
    return LINKS[role][0].path


def fill_purse(account: Filter) -> Purse:
    """What is left of the sum that the budget is held to: of epsilons while that may be, of rhos otherwise."""
    budget, spent, left = account.budget, account.spent, account.left()
    if account.branches().epsilon or not budget.rho:
        share = float(spent.epsilon_units * EPSILON_UNIT / budget.epsilon) if budget.epsilon else 1.0
        return Purse("ε", "epsilon", show_down(left.epsilon), show_down(budget.epsilon), min(share, 1.0))
    share = float(spent.rho_units * EPSILON_UNIT / budget.rho)
    return Purse("ρ", "rho", show_down(left.rho), show_down(budget.rho), min(share, 1.0))
