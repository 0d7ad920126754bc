"""What the owner does to budgets: declares them in the catalog, or adds to one. What was spent stays spent."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from adomnia.errors import Refusal
from adomnia.ledger.accounts import DATASET, Account, budget_record, personal
from adomnia.ledger.journal import Page
from adomnia.ledger.requests import filter_of, now
from adomnia.privacy.filters import Budget, Filter

__all__ = ["TopUp", "declare", "top_up"]


def declare(page: Page, dataset: Budget, analysts: Mapping[str, Budget]) -> None:
    """Record what the catalog says now, if it is not what it said before; who is gone from it may spend nothing."""
    for name in analysts:
        if not name.isprintable():
            raise ValueError(f"Ledger analysts must have printable names, got {name!r}.")
    said = {name: account.declared for name, account in page.accounts.items()}
    says = dict.fromkeys(said) | {DATASET: dataset} | {personal(name): its for name, its in analysts.items()}
    changed = {name: budget for name, budget in says.items() if name not in said or budget != said[name]}
    for name, budget in changed.items():
        _checked(replace(page.accounts.get(name, Account()), declared=budget))
    if changed:
        page.append("open", at=now(), budgets={name: budget_record(budget) for name, budget in changed.items()})


@dataclass(frozen=True)
class TopUp:
    """More budget for an analyst, or for the dataset (None), and why."""

    analyst: str | None
    epsilon: Fraction
    delta: Fraction
    reason: str

    def __post_init__(self) -> None:
        if min(self.epsilon, self.delta) < 0 or not self.epsilon + self.delta:
            amounts = f"{self.epsilon} and {self.delta}"
            raise ValueError(f"TopUp epsilon and delta must be >= 0 and not both 0, got {amounts}.")
        if not isinstance(self.reason, str) or not self.reason.isprintable() or not 0 < len(self.reason) <= 1000:
            raise ValueError(f"TopUp reason must be 1 to 1000 printable characters, got {self.reason!r}.")


def top_up(page: Page, more: TopUp) -> Filter:
    """Add to a budget, beside whatever the catalog declares now or later."""
    filter_of(page, more.analyst)
    name = personal(more.analyst)
    account = page.accounts[name]
    epsilon, delta = account.added_epsilon + more.epsilon, account.added_delta + more.delta
    _checked(replace(account, added_epsilon=epsilon, added_delta=delta))
    amounts = {"epsilon": str(more.epsilon), "delta": str(more.delta)}
    page.append("top-up", at=now(), account=name, reason=more.reason, **amounts)
    return filter_of(page, more.analyst)


def _checked(account: Account) -> None:
    try:
        _ = account.filter
    except ValueError as error:
        raise Refusal("The budget together with its top-ups", f"is none: {error}", "declare or add less") from error
