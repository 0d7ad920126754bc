"""What owners look at: the promises of a catalog, and who spent what."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from adomnia.catalog.model import Policy
from adomnia.cli import pages
from adomnia.pricing.policies import terms
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, show_down, show_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from adomnia.explaining.promises import Promise
    from adomnia.privacy.filters import Filter


@dataclass(frozen=True)
class AccountSummary:
    """A budget and what was spent of it: an analyst's, or without a name the dataset's, which has no policy."""

    name: str | None
    filter: Filter
    answers: int
    policy: Policy | None = None


def print_promises(promises: Sequence[Promise]) -> None:
    """One promise a line, what each is about only once; what the owner should look at again is marked."""
    table = pages.table(("About", "Promise"))
    for above, promise in zip([None, *promises], promises, strict=False):
        says = Text("Warning: ", "bold yellow").append(promise.says, "yellow") if promise.warning else promise.says
        table.add_row("" if above and above.about == promise.about else promise.about, says)
    pages.show(table)


def print_promises_json(promises: Sequence[Promise]) -> None:
    pages.show_json([asdict(promise) for promise in promises])


def print_budgets(accounts: Sequence[AccountSummary]) -> None:
    """One account a line, the dataset's last."""
    table = pages.table(("Who", "Budget", "Spent", "Left", "Answers"), {4})
    for account in accounts:
        row = (
            format_budget(account.filter),
            format_spent(account.filter),
            format_left(account.filter),
            f"{account.answers:,}",
        )
        table.add_row(account.name or Text("all together", "bold"), *row)
    pages.show(table, "", "What somebody spends counts in their own line and in the last one.")
    if any(account.policy not in {None, Policy()} for account in accounts):
        pages.show("", _next_questions(accounts))


def _next_questions(accounts: Sequence[AccountSummary]) -> Table:
    """What policies say: who sets the price, and how far that goes."""
    table = pages.table(("Who", "Policy", "The next question"))
    for account in accounts:
        if account.policy is not None:
            table.add_row(account.name, account.policy.name, terms(account.policy, account.filter).says)
    return table


def print_budgets_json(accounts: Sequence[AccountSummary]) -> None:
    pages.show_json([as_record(account) for account in accounts])


def as_record(account: AccountSummary) -> dict[str, object]:
    """An account as plain data; amounts are exact texts. The dataset's has no name."""
    return {
        "analyst": account.name,
        **as_budget_record(account.filter),
        "answers": account.answers,
        "policy": None if account.policy is None else _as_record(account.policy, account.filter),
    }


def as_budget_record(account: Filter) -> dict[str, object]:
    """A budget, what was spent of it and what is left, as plain data."""
    total, used = account.budget, account.spent
    return {
        "budget": {"epsilon": str(total.epsilon), "delta": str(total.delta), "rho": str(total.rho)},
        "spent": {
            "epsilon": str(used.epsilon_units * EPSILON_UNIT) if used.pure else None,
            "rho": str(used.rho_units * EPSILON_UNIT),
            "delta": str(used.delta_units * DELTA_UNIT),
        },
        "left": {name: str(amount) for name, amount in account.left()._asdict().items()},
    }


def _as_record(policy: Policy, account: Filter) -> dict[str, object]:
    found = terms(policy, account)
    return {
        "name": policy.name,
        "ceiling": None if found.ceiling is None else str(found.ceiling),
        "next_price": None if found.price is None else str(found.price.epsilon),
        "questions": found.questions,
        "says": found.says,
    }


def format_budget(account: Filter) -> str:
    total = account.budget
    delta = f", delta {show_down(total.delta)}" if total.delta else ""
    return f"epsilon {show_down(total.epsilon)}{delta}"


def format_spent(account: Filter) -> str:
    """In epsilon while every spend was pure, in rho afterwards."""
    used = account.spent
    if used.pure:
        return f"epsilon {show_up(used.epsilon_units * EPSILON_UNIT)}"
    return f"rho {show_up(used.rho_units * EPSILON_UNIT)}"


def format_left(account: Filter) -> str:
    """What may still be paid: in pure epsilon, or in rho, not both."""
    rest = account.left()
    ways = [f"epsilon {show_down(rest.epsilon)}"] if account.spent.pure else []
    if account.budget.approximate and account.budget.rho:
        ways.append(f"rho {show_down(rest.rho)}")
    return " or ".join(ways)
