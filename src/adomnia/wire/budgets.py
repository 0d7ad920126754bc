"""Budgets: what there was, what was spent and for which questions, what is left, and what the next one costs."""

from typing import Any

from pydantic import Field, model_validator

from adomnia.explaining.balances import say_account
from adomnia.pricing.policies import Terms
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget, Filter, Spent
from adomnia.session.accounts import Budgets, Past
from adomnia.wire.amounts import ExactText
from adomnia.wire.answers import ReceiptReply
from adomnia.wire.models import CostReply, LeftReply, Reply


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

    def spent(self) -> Spent:
        """In units; epsilons that no longer matter are not among them."""
        units = {"epsilon": EPSILON_UNIT, "rho": EPSILON_UNIT, "delta": DELTA_UNIT}
        counted = {f"{name}_units": int((getattr(self, name) or 0) / unit) for name, unit in units.items()}
        return Spent(**counted, in_epsilon=self.epsilon is not None)


class AccountReply(Reply):
    """A budget and what was spent of it."""

    given: GivenReply
    spent: SpentReply
    left: LeftReply
    says: str = Field(description="What was spent and what is left, in words.")

    @model_validator(mode="before")
    @classmethod
    def _add_up(cls, told: Filter | dict[str, Any]) -> dict[str, Any]:
        if isinstance(told, dict):
            return told
        rho, delta = told.spent.rho_units * EPSILON_UNIT, told.spent.delta_units * DELTA_UNIT
        spent = {"epsilon": told.spent_epsilon(), "rho": rho, "delta": delta, "pure": told.spent.pure}
        return {"given": told.budget, "spent": spent, "left": told.left(), "says": say_account(told)}

    def account(self) -> Filter:
        """What was told of."""
        given = self.given
        return Filter(Budget(given.epsilon, given.delta, given.approximate, given.event_delta), self.spent.spent())


class TermsReply(Reply):
    """What the next question costs, where a policy sets its price."""

    price: ExactText | None = Field(description="The epsilon of the next question; null where the analyst names it.")
    questions: int | None = Field(description="How many more questions there are.")
    ceiling: ExactText | None = Field(description="The most that one question may cost, in epsilon.")
    says: str

    @model_validator(mode="before")
    @classmethod
    def _name_price(cls, told: Terms | dict[str, Any]) -> dict[str, Any]:
        return {**vars(told), "price": told.price and told.price.epsilon} if isinstance(told, Terms) else told


class BudgetReply(Reply):
    """An analyst's own budget, the dataset's, which everybody spends, and the terms of the next question."""

    personal: AccountReply
    dataset: AccountReply
    terms: TermsReply


def budgets_of(told: BudgetReply) -> Budgets:
    """The budgets that were told of."""
    terms = told.terms
    price = None if terms.price is None else Pure(terms.price)
    shown = Terms(price, terms.questions, terms.ceiling, terms.says)
    return Budgets(told.personal.account(), told.dataset.account(), shown)


class PastReply(Reply):
    """Something that was paid for and answered."""

    request_id: str
    questions: list[str] = Field(description="The texts; of a batch, all of them.")
    version: int = Field(description="Of the data.")
    cost: CostReply
    receipt: ReceiptReply

    @model_validator(mode="before")
    @classmethod
    def _price(cls, told: Past | dict[str, Any]) -> dict[str, Any]:
        return {**vars(told), "cost": told.receipt.event} if isinstance(told, Past) else told

    def past(self) -> Past:
        """What was told of."""
        return Past(self.request_id, tuple(self.questions), self.version, self.receipt.receipt(self.cost))


class PastsReply(Reply):
    """A page of what an analyst has paid for and got, oldest first."""

    answers: list[PastReply]
    next: str | None = Field(description="The `after` of the page that follows; null where there is none.")


def pasts_record(pasts: list[Past]) -> dict[str, Any]:
    """A page of earlier requests as plain data."""
    return {"answers": list(map(PastReply.record, pasts)), "next": pasts[-1].request_id if pasts else None}


class NamedAccountReply(AccountReply):
    """An analyst's account."""

    analyst: str


class AccountsReply(Reply):
    """All budgets, and what was spent of them: the dataset's, and each analyst's."""

    dataset: AccountReply
    analysts: list[NamedAccountReply]
