"""Adds to a budget once and for good: by its owner's password, and only to the budget that they looked at."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from adomnia.api.actions.passwords import check_password
from adomnia.api.requests import read_dataset
from adomnia.errors import Refusal
from adomnia.ledger.accounts import account_name
from adomnia.ledger.owner import TopUp
from adomnia.privacy.amounts import exact
from adomnia.privacy.filters import Budget, Filter
from adomnia.wire.amounts import read_number

if TYPE_CHECKING:
    from starlette.requests import Request

    from adomnia.api.requests import Visit
    from adomnia.privacy.amounts import Number

WrittenTopUp: TypeAlias = "tuple[str | None, Number | str, Number | str, str]"
"""An analyst or the dataset (None), epsilon and delta as they were written, and why."""


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
