"""All accounts of the dataset as they are now, what their analysts can spend together, and adding to a budget.

It is added to once and for good: by its owner's password, and only to the budget that they looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from adomnia.api.authorization import check_password
from adomnia.api.requests import read_dataset
from adomnia.errors import Refusal
from adomnia.explaining.promises import coalitions, describe_coalition
from adomnia.ledger.accounts import DATASET, account_name
from adomnia.ledger.owner import TopUp
from adomnia.privacy.amounts import exact
from adomnia.privacy.filters import Budget, Filter
from adomnia.releases.checks import list_charges
from adomnia.session.previewing import add_previews
from adomnia.wire.amounts import read_number

if TYPE_CHECKING:
    from starlette.requests import Request

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Analyst, Catalog
    from adomnia.explaining.promises import Coalition, Promise
    from adomnia.privacy.amounts import Number

__all__ = [
    "DATASET",
    "AnalystAccount",
    "WrittenTopUp",
    "account_name",
    "find_restored",
    "foresee_top_up",
    "identify_amounts",
    "identify_budget",
    "list_accounts",
    "list_coalitions",
    "read_dataset_account",
    "read_top_up",
    "top_up",
]

WrittenTopUp: TypeAlias = "tuple[str | None, Number | str, Number | str, str]"
"""An analyst or the dataset (None), epsilon and delta as they were written, and why."""


@dataclass(frozen=True)
class AnalystAccount:
    """An analyst of the catalog, their account, and how many answers they have."""

    analyst: Analyst
    account: Filter
    answers: int


def list_accounts(visit: Visit) -> list[AnalystAccount]:
    """The accounts of all analysts, in the order of the catalog."""
    ledger = visit.curator.ledger
    return [
        AnalystAccount(each, ledger.account(each.name), ledger.count_answers(each.name))
        for each in visit.catalog.analysts
    ]


def read_dataset_account(visit: Visit) -> Filter:
    """The account that everybody pays from."""
    return visit.curator.ledger.account()


def find_restored(visit: Visit) -> str | None:
    """When a backup was last put in the place of the ledger; None if that never happened."""
    return visit.curator.ledger.restored()


def list_coalitions(visit: Visit) -> tuple[list[Coalition], Promise, Catalog]:
    """What so many analysts can spend together, whether that fits, and the catalog with the budgets of now."""
    catalog = _with_top_ups(visit)
    releases = tuple(add_previews(list_charges(visit.curator.ledger), catalog).values())
    return list(coalitions(catalog, releases)), describe_coalition(catalog, releases), catalog


def _with_top_ups(visit: Visit) -> Catalog:
    """The catalog with the budgets of the ledger, to which owners may have added."""
    ledger, catalog = visit.curator.ledger, visit.catalog
    analysts = tuple(replace(each, budget=ledger.account(each.name).budget) for each in catalog.analysts)
    return replace(catalog, budget=ledger.account().budget, analysts=analysts)


async def top_up(request: Request, dataset: str | None, written: WrittenTopUp, seen: str, password: str) -> Filter:
    """Add to the budget that was seen; the account afterwards. A request that is sent twice adds once."""
    await check_password(request, password)
    return await read_dataset(request, dataset, lambda visit: _apply(visit, read_top_up(visit, written), seen))


def read_top_up(visit: Visit, written: WrittenTopUp) -> TopUp:
    """What is to be added, or a Refusal where it cannot be."""
    analyst, epsilon, delta, reason = written
    if analyst is not None and visit.catalog.analyst(analyst) is None:
        raise Refusal("The account", "is none of this dataset's", "choose one of the list", code="unknown_analyst")
    try:
        more = TopUp(analyst, _read_amount(epsilon), _read_amount(delta), reason)
        _add(visit.curator.ledger.account(analyst), more)
    except ValueError:
        why = "needs an amount that is not negative, and a reason"
        fix = "add epsilon or a delta below 1 in all, for a reason of 1 to 1,000 printable characters"
        raise Refusal("The top-up", why, fix, code="bad_price") from None
    return more


def foresee_top_up(visit: Visit, written: WrittenTopUp) -> tuple[Filter, Filter]:
    """The account as it is and as it would be; nothing changes."""
    more = read_top_up(visit, written)
    account = visit.curator.ledger.account(more.analyst)
    return account, _add(account, more)


def _read_amount(written: Number | str) -> Fraction:
    return exact(read_number(written) if isinstance(written, str) else written, "TopUp", "amount")


def identify_budget(budget: Budget) -> str:
    """A budget as a text that tells any two apart."""
    return identify_amounts(budget.epsilon, budget.delta)


def identify_amounts(epsilon: Number, delta: Number) -> str:
    """The same of its amounts; of amounts that no budget has, a text that no budget has."""
    try:
        return f"{exact(epsilon, 'Budget', 'epsilon')} {exact(delta, 'Budget', 'delta')}"
    except ValueError:  # of no sensible size
        return ""


def _apply(visit: Visit, more: TopUp, seen: str) -> Filter:
    ledger = visit.curator.ledger
    with ledger.lock("top-up", account_name(more.analyst)):
        if identify_budget(ledger.account(more.analyst).budget) != seen:
            why = "was changed since you looked: perhaps by this very form"
            raise Refusal("The budget", why, "look at what it is now, and begin again", code="catalog_changed")
        ledger.top_up(more.analyst, more.reason, more.epsilon, more.delta)
    return ledger.account(more.analyst)


def _add(account: Filter, more: TopUp) -> Filter:
    """The account with what is added; events get the same share of the delta as before."""
    old = account.budget
    share = old.event_delta / old.delta if old.delta else Fraction(1, 2)
    epsilon, delta = old.epsilon + more.epsilon, old.delta + more.delta
    return Filter(Budget(epsilon, delta, old.approximate, old.event_delta + share * more.delta), account.spent)
