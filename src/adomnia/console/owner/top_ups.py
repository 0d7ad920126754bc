"""Top-ups of budgets: what somebody asks to add, what it would change, and doing it once and for good."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.console.owner.accounts import name_account, say_budget
from adomnia.console.owner.meaning import ChanceMeaning, explain_amounts
from adomnia.errors import Refusal
from adomnia.explaining.balances import say_left
from adomnia.ledger.accounts import DATASET, account_name
from adomnia.ledger.owner import TopUp
from adomnia.pricing.policies import terms
from adomnia.privacy.amounts import exact
from adomnia.privacy.filters import Budget, Filter
from adomnia.wire.amounts import read_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.session.curator import Curator

__all__ = ["TopUpForm", "TopUpPreview", "apply_top_up", "preview_top_up"]


@dataclass(frozen=True)
class TopUpForm:
    """What was typed: whose budget, how much, and why."""

    account: str = ""
    epsilon: str = ""
    delta: str = ""
    reason: str = ""

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> TopUpForm:
        """Read the fields of a form."""
        return cls(*(fields.get(name, "").strip() for name in ("account", "epsilon", "delta", "reason")))


@dataclass(frozen=True)
class BudgetSide:
    """An account before or after: what may be spent in all, what is left, and what that means to a person."""

    budget: str
    left: str
    next_question: str
    meaning: ChanceMeaning


@dataclass(frozen=True)
class TopUpPreview:
    """What a top-up would change; `seen` is the budget that it was computed from."""

    name: str
    added: str
    before: BudgetSide
    after: BudgetSide
    caution: str
    seen: str


def preview_top_up(curator: Curator, form: TopUpForm) -> TopUpPreview:
    """Say what a top-up would change, or refuse it; nothing changes."""
    more = _read(curator, form)
    account = curator.ledger.account(more.analyst)
    raised = _add(account, more)
    return TopUpPreview(
        name_account(form.account),
        " and ".join(f"{name} {text}" for name, text in (("epsilon", form.epsilon), ("delta", form.delta)) if text),
        _describe(curator, more, account),
        _describe(curator, more, raised),
        _warn(curator, more, raised),
        say_exactly(account.budget),
    )


def apply_top_up(curator: Curator, form: TopUpForm, seen: str) -> None:
    """Add to the budget, unless it is not any more the one that was seen: a form that is sent twice adds once."""
    more = _read(curator, form)
    with curator.ledger.lock("top-up", form.account):
        if say_exactly(curator.ledger.account(more.analyst).budget) != seen:
            why = "was changed since you looked: perhaps by this very form"
            raise Refusal("The budget", why, "look at what it is now, and begin again", code="catalog_changed")
        curator.ledger.top_up(more.analyst, more.reason, more.epsilon, more.delta)


def say_exactly(budget: Budget) -> str:
    """A budget as a text that tells any two apart."""
    return f"{budget.epsilon} {budget.delta}"


def _read(curator: Curator, form: TopUpForm) -> TopUp:
    known = {account_name(analyst.name): analyst.name for analyst in curator.catalog.analysts}
    if form.account != DATASET and form.account not in known:
        raise Refusal("The account", "is none of this dataset's", "choose one of the list", code="unknown_analyst")
    try:
        more = TopUp(known.get(form.account), _amount(form.epsilon), _amount(form.delta), form.reason)
        _add(curator.ledger.account(more.analyst), more)
    except ValueError:
        why = "needs an amount that is not negative, and a reason"
        fix = "add epsilon or a delta below 1 in all, for a reason of 1 to 1,000 printable characters"
        raise Refusal("The top-up", why, fix, code="bad_price") from None
    return more


def _amount(text: str) -> Fraction:
    return exact(read_number(text), "TopUp", "amount") if text else Fraction(0)


def _add(account: Filter, more: TopUp) -> Filter:
    """The account with what is added; events get the same share of the delta as before."""
    old = account.budget
    share = old.event_delta / old.delta if old.delta else Fraction(1, 2)
    epsilon, delta = old.epsilon + more.epsilon, old.delta + more.delta
    return Filter(Budget(epsilon, delta, old.approximate, old.event_delta + share * more.delta), account.spent)


def _describe(curator: Curator, more: TopUp, account: Filter) -> BudgetSide:
    analyst = None if more.analyst is None else curator.catalog.analyst(more.analyst)
    costs = "" if analyst is None else terms(analyst.policy, account).says
    meaning = explain_amounts(account.budget.epsilon, account.budget.delta)
    return BudgetSide(say_budget(account.budget), say_left(account), costs, meaning)


def _warn(curator: Curator, more: TopUp, raised: Filter) -> str:
    """What stands in the way of spending it: all that is paid is also paid from the dataset's budget."""
    whole = curator.ledger.account()
    if more.analyst is None or raised.left().epsilon <= whole.left().epsilon:
        return ""
    return f"The dataset has less left than that ({say_left(whole)}), so not all of it can be spent."
