"""What owners look at: the promises of a catalog, who spent what, and what a person may lose in several datasets."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from adomnia.accounting.calculators import SLACK, compose_datasets
from adomnia.catalog.model import Policy
from adomnia.cli import pages
from adomnia.explaining.balances import say_account, say_left, say_spent
from adomnia.pricing.policies import terms
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, show_down, show_up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from adomnia.explaining.promises import Promise
    from adomnia.privacy.filters import Filter
    from adomnia.session.contract import Session


@dataclass(frozen=True)
class AccountSummary:
    """A budget and what was spent of it: an analyst's, or without a name the dataset's, which has no policy.

    `restored` is when a backup was put in the ledger's place, if that happened.
    """

    name: str | None
    filter: Filter
    answers: int | None  # None: not told
    policy: Policy | None = None
    restored: str | None = None


def print_promises(promises: Sequence[Promise]) -> None:
    """One promise a line, what each is about only once; what the owner should look at again is marked."""
    table = pages.table(("About", "Promise"))
    for above, promise in zip([None, *promises], promises, strict=False):
        says = Text("Warning: ", "bold yellow").append(promise.says, "yellow") if promise.warning else promise.says
        table.add_row("" if above and above.about == promise.about else promise.about, says)
    pages.show(table)


def print_promises_json(promises: Sequence[Promise]) -> None:
    pages.show_json([asdict(promise) for promise in promises])


def list_own(session: Session) -> list[AccountSummary]:
    """What an analyst may know: their own account, and that of all together."""
    budgets, declared = session.budget(), session.catalog().analyst(session.analyst)
    policy = None if declared is None else declared.policy
    return [
        AccountSummary(session.analyst, budgets.personal, None, policy),
        AccountSummary(None, budgets.dataset, None),
    ]


def print_budgets(accounts: Sequence[AccountSummary]) -> None:
    """One account a line, the dataset's last."""
    table = pages.table(("Who", "Budget", "Spent", "Left", "Answers"), {4})
    for account in accounts:
        row = (
            format_budget(account.filter),
            say_spent(account.filter),
            say_left(account.filter),
            "" if account.answers is None else f"{account.answers:,}",
        )
        table.add_row(account.name or Text("all together", "bold"), *row)
    pages.show(table, "", "What somebody spends counts in their own line and in the last one.")
    if accounts[-1].restored is not None:
        pages.show(f"The ledger was restored on {accounts[-1].restored}: what may have been lost then counts as spent.")
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
        "restored": account.restored,
    }


def as_budget_record(account: Filter) -> dict[str, object]:
    """A budget, what was spent of it and what is left, as plain data."""
    total, used, epsilon = account.budget, account.spent, account.spent_epsilon()
    return {
        "budget": {name: str(getattr(total, name)) for name in ("epsilon", "delta", "event_delta", "rho")},
        "spent": {
            "epsilon": None if epsilon is None else str(epsilon),
            "rho": str(used.rho_units * EPSILON_UNIT),
            "delta": str(used.delta_units * DELTA_UNIT),
        },
        "left": {name: str(amount) for name, amount in account.left()._asdict().items()},
        "says": say_account(account),
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


@dataclass(frozen=True)
class LifetimeSummary:
    """The name of the account, and the filters of its datasets by name, with (None) that of all together."""

    name: str
    filters: Mapping[str | None, Filter]


def print_lifetime(lifetime: LifetimeSummary) -> None:
    """One dataset a line, all together last; then what somebody loses who is in all of them."""
    table = pages.table(("Dataset", "Budget", "Spent", "Left"))
    for name, account in lifetime.filters.items():
        who = Text("all together", "bold") if name is None else name
        table.add_row(who, format_budget(account), say_spent(account), say_left(account))
    pages.show("", f"{lifetime.name}: these datasets share one account, and each spend passes it too.", "", table)
    losses = pages.table(("What a person in all of them may lose", "Epsilon", "Delta"))
    most = lifetime.filters[None].budget
    losses.add_row(Text("at most, by the shared account", "bold"), show_up(most.epsilon), show_up(most.delta))
    for theorem, epsilon, delta in _list_losses(lifetime):
        losses.add_row(f"without it: {theorem}", epsilon or "no bound", delta or "")
    said = "The first line is what holds. The others are by composition theorems: what it would be without the account"
    slack = f"if each dataset spent all of its own budget. The last two take {show_up(SLACK)} of delta for themselves"
    pages.show("", losses, "", f"{said}, {slack}.")


def lifetime_record(lifetime: LifetimeSummary) -> dict[str, object]:
    """The account as plain data."""
    datasets = [{"dataset": name, **as_budget_record(each)} for name, each in lifetime.filters.items()]
    named = ("theorem", "epsilon", "delta")
    losses = [dict(zip(named, loss, strict=True)) for loss in _list_losses(lifetime)]
    most = lifetime.filters[None].budget
    at_most = {"epsilon": show_up(most.epsilon), "delta": show_up(most.delta)}
    return {"lifetime": lifetime.name, "accounts": datasets, "at_most": at_most, "person": losses}


def _list_losses(lifetime: LifetimeSummary) -> list[tuple[str, str | None, str | None]]:
    """Theorem, epsilon and delta; neither of a theorem that bounds nothing."""
    budgets = [each.budget for name, each in lifetime.filters.items() if name is not None]
    losses = compose_datasets(budgets)
    return [
        (each.theorem, None, None)
        if each.total is None
        else (each.theorem, show_up(each.total.epsilon), show_up(each.total.delta))
        for each in losses
    ]
