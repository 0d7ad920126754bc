"""The budgets of everybody as pages show them: how much is left, of what, and what the next question costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.api.actions.accounts import DATASET, account_name, list_accounts, read_dataset_account
from adomnia.console.frame import RemainingBudget, describe_remaining
from adomnia.explaining.balances import say_left, say_spent
from adomnia.pricing.policies import terms
from adomnia.privacy.amounts import show_down, show_up

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Policy
    from adomnia.privacy.filters import Budget, Filter

EVERYBODY = "all together"


@dataclass(frozen=True)
class AccountRow:
    """An account: an analyst's, or that of all together; `key` is what the ledger calls it."""

    key: str
    name: str
    remaining: RemainingBudget
    answers: int
    budget: str
    spent: str
    left: str
    policy: str
    next_question: str

    @property
    def is_dataset(self) -> bool:
        """Whether it is the account that everybody pays from."""
        return self.key == DATASET


def list_rows(visit: Visit) -> tuple[AccountRow, ...]:
    """All accounts: analysts in the order of the catalog, and at the end all together."""
    rows = [
        _describe(account_name(name), each.account, each.answers, say_policy(policy), terms(policy, each.account).says)
        for each in list_accounts(visit)
        for name, policy in [(each.analyst.name, each.analyst.policy)]
    ]
    answers = sum(row.answers for row in rows)
    nobody = "What anybody pays is paid from here as well."
    return (*rows, _describe(DATASET, read_dataset_account(visit), answers, "the dataset's own", nobody))


def name_account(key: str) -> str:
    """How people call an account."""
    return EVERYBODY if key == DATASET else key.removeprefix("analyst:")


def say_budget(budget: Budget) -> str:
    """The amounts of a budget in words."""
    delta = f", delta {show_down(budget.delta)}" if budget.delta else ""
    return f"epsilon {show_down(budget.epsilon)}{delta}"


def say_policy(policy: Policy) -> str:
    """Who sets the price, in a few words."""
    most = "" if policy.ceiling is None else f", at most ε {show_down(policy.ceiling)}"
    if policy.questions is not None:
        return f"{policy.questions:,} questions of equal price{most}"
    if policy.spend is not None:
        return f"{show_up(100 * policy.spend)}% of what is left each time{most}"
    return f"named by the analyst{most}"


def _describe(key: str, account: Filter, answers: int, policy: str, next_question: str) -> AccountRow:
    return AccountRow(
        key,
        name_account(key),
        describe_remaining(account),
        answers,
        say_budget(account.budget),
        say_spent(account),
        say_left(account),
        policy,
        next_question,
    )
