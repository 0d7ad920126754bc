"""What analysts may spend together: their budgets put together, against what the dataset may give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.accounting.meaning import posterior
from adomnia.api.actions.accounts import list_coalitions
from adomnia.console.owner.meaning import PRIOR, ChanceMeaning, explain_amounts
from adomnia.explaining.promises import format_probability, list_sizes
from adomnia.privacy.amounts import show_down, show_up

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Catalog
    from adomnia.explaining.promises import Coalition


@dataclass(frozen=True)
class CoalitionRow:
    """The most that so many analysts can spend together, and what a guess of 1 in 100 can become by it."""

    who: str
    epsilon: str
    delta: str
    share: float
    chance: str


@dataclass(frozen=True)
class Collusion:
    """The report: coalitions by size, whether budgets fit into the dataset's, and what the largest means."""

    rows: tuple[CoalitionRow, ...]
    whole: str
    verdict: str
    warning: bool
    meaning: ChanceMeaning


def report_collusion(visit: Visit) -> Collusion:
    """Report on the budgets as they are now, top-ups included."""
    found, verdict, catalog = list_coalitions(visit)
    listed = [one for one in found if one.size in list_sizes(len(found))]
    most = found[-1]
    return Collusion(
        tuple(_describe(one, len(found), catalog) for one in listed),
        show_down(catalog.budget.epsilon),
        verdict.says,
        verdict.warning,
        explain_amounts(most.epsilon, most.delta),
    )


def _describe(one: Coalition, number: int, catalog: Catalog) -> CoalitionRow:
    return CoalitionRow(
        _name(one.size, number),
        show_up(one.epsilon),
        show_up(one.delta) if one.delta else "",
        float(one.epsilon / catalog.budget.epsilon),
        format_probability(posterior(PRIOR, one.epsilon)),
    )


def _name(size: int, number: int) -> str:
    if number == 1:
        return "the only analyst"
    if size == number:
        return "both analysts" if number == 2 else f"all {number:,} analysts"
    return "any one analyst" if size == 1 else f"any {size:,} analysts"
