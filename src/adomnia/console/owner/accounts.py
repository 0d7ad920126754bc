"""The budgets of everybody as pages show them: how much is left, of what, and what the next question costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.console.frame import Purse, fill_purse
from adomnia.explaining.balances import say_left, say_spent
from adomnia.ledger.accounts import DATASET, account_name
from adomnia.pricing.policies import terms
from adomnia.privacy.amounts import show_down, show_up

if TYPE_CHECKING:
    from adomnia.catalog.model import Policy
    from adomnia.privacy.filters import Budget, Filter
    from adomnia.session.curator import Curator

__all__ = ["EVERYBODY", "AccountRow", "list_accounts", "name_account", "say_budget"]

EVERYBODY = "all together"


@dataclass(frozen=True)
class AccountRow:
    """An account: an analyst's, or that of all together; `key` is what the ledger calls it."""

    key: str
    name: str
    purse: Purse
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


def list_accounts(curator: Curator) -> tuple[AccountRow, ...]:
    """All accounts: analysts in the order of the catalog, and at the end all together."""
    ledger, rows = curator.ledger, []
    for analyst in curator.catalog.analysts:
        account = ledger.account(analyst.name)
        answers, costs = ledger.count_answers(analyst.name), terms(analyst.policy, account).says
        rows.append(_describe(account_name(analyst.name), account, answers, say_policy(analyst.policy), costs))
    answers = sum(row.answers for row in rows)
    nobody = "What anybody pays is paid from here as well."
    return (*rows, _describe(DATASET, ledger.account(), answers, "the dataset's own", nobody))


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
        fill_purse(account),
        answers,
        say_budget(account.budget),
        say_spent(account),
        say_left(account),
        policy,
        next_question,
    )
