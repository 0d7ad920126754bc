"""Budgets: what there was, what was spent, what is left, and what the next question costs."""

from dataclasses import asdict
from fractions import Fraction
from typing import Any

from pydantic import Field

from adomnia.explaining.balances import say_account
from adomnia.pricing.policies import Terms
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget, Filter, Spent
from adomnia.session.accounts import Budgets
from adomnia.wire.amounts import ExactText, amount_of, text_of
from adomnia.wire.answers import left_record
from adomnia.wire.models import LeftReply, Reply


class GivenReply(Reply):
    """What may be spent in all: epsilon or rho, and beside either of them event_delta."""

    epsilon: ExactText
    delta: ExactText
    approximate: bool = Field(description="Whether events that are not pure are let in.")
    event_delta: ExactText
    rho: ExactText


class SpentReply(Reply):
    """What was spent so far, rounded up."""

    epsilon: ExactText | None = Field(description="Null once the budget is held to the sum of rho alone.")
    rho: ExactText
    delta: ExactText
    pure: bool = Field(description="Whether every event so far was pure.")


class AccountReply(Reply):
    """A budget and what was spent of it."""

    given: GivenReply
    spent: SpentReply
    left: LeftReply
    says: str = Field(description="What was spent and what is left, in words.")


class TermsReply(Reply):
    """What the next question costs, where a policy sets its price."""

    price: ExactText | None = Field(description="The epsilon of the next question; null where the analyst names it.")
    questions: int | None = Field(description="How many more questions there are.")
    ceiling: ExactText | None = Field(description="The most that one question may cost, in epsilon.")
    says: str


class BudgetReply(Reply):
    """An analyst's own budget, the dataset's, which everybody spends, and the terms of the next question."""

    personal: AccountReply
    dataset: AccountReply
    terms: TermsReply


def account_record(account: Filter) -> dict[str, Any]:
    """A budget and its spends as plain data."""
    given, spent, epsilon = account.budget, account.spent, account.spent_epsilon()
    amounts = {name: text_of(getattr(given, name)) for name in ("epsilon", "delta", "event_delta", "rho")}
    return {
        "given": {**amounts, "approximate": given.approximate},
        "spent": {
            "epsilon": None if epsilon is None else text_of(epsilon),
            "rho": text_of(spent.rho_units * EPSILON_UNIT),
            "delta": text_of(spent.delta_units * DELTA_UNIT),
            "pure": spent.pure,
        },
        "left": left_record(account.left()),
        "says": say_account(account),
    }


def account_of(record: dict[str, Any]) -> Filter:
    """The budget and the spends that `account_record` wrote; epsilons that no longer matter are not among them."""
    given, spent = record["given"], record["spent"]
    epsilon, delta, event_delta = (amount_of(given[name]) for name in ("epsilon", "delta", "event_delta"))
    units = {"epsilon": EPSILON_UNIT, "rho": EPSILON_UNIT, "delta": DELTA_UNIT}
    counted = {f"{name}_units": int(amount_of(spent[name] or "0") / unit) for name, unit in units.items()}
    total = Spent(**counted, in_epsilon=spent["epsilon"] is not None)
    return Filter(Budget(epsilon, delta, given["approximate"], event_delta), total)


def budget_record(budgets: Budgets) -> dict[str, Any]:
    """The budgets as plain data."""
    terms = budgets.terms
    return {
        "personal": account_record(budgets.personal),
        "dataset": account_record(budgets.dataset),
        "terms": asdict(terms)
        | {
            "price": None if terms.price is None else text_of(terms.price.epsilon),
            "ceiling": None if terms.ceiling is None else text_of(terms.ceiling),
        },
    }


def budgets_of(record: dict[str, Any]) -> Budgets:
    """The budgets that `budget_record` wrote."""
    terms = record["terms"]
    price, ceiling = (_optional(terms[name]) for name in ("price", "ceiling"))
    told = Terms(None if price is None else Pure(price), terms["questions"], ceiling, terms["says"])
    return Budgets(account_of(record["personal"]), account_of(record["dataset"]), told)


def _optional(text: str | None) -> Fraction | None:
    return None if text is None else amount_of(text)
