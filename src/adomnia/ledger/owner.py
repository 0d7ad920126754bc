"""Changes of budgets by the owner: declaring them in the catalog, or adding to one. What was spent stays spent."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from adomnia.errors import Refusal
from adomnia.ledger.accounts import DATASET, Account, account_name, encode_budget
from adomnia.ledger.journal import Transaction
from adomnia.ledger.lifetimes import declare_lifetime, follow_budget
from adomnia.ledger.requests import find_filter, now
from adomnia.messages.references import Setting
from adomnia.messages.texts import Message
from adomnia.privacy.filters import Budget, Filter

_UNIT = ""  # stands for no table


@dataclass(frozen=True)
class DeclaredPeople:
    """Whose rows a version of the data holds: whose presence is hidden, and how the rows of each table find them.

    Stored answers were measured so. With another unit or another link, equal questions would count other rows.
    """

    version: int
    unit: str
    links: Mapping[str, str]

    def find_new(self, known: Mapping[str, str]) -> dict[str, str]:
        """What was not recorded before; a Refusal where something else was."""
        said = {_UNIT: self.unit, **self.links}
        for table, rule in said.items():
            if known.get(table, rule) != rule:
                what = "The unit" if table == _UNIT else f"The link of table {table}"
                was, now = (each or "missing" for each in (known[table], rule))
                why = f"is {now}, and it was {was} when version {self.version} of the data was first asked"
                raise Refusal(what, why, Message(Setting("people")), code="people_changed")
        return {table: rule for table, rule in said.items() if table not in known}


def declare(
    transaction: Transaction,
    dataset: Budget,
    analysts: Mapping[str, Budget],
    lifetime: Budget | None = None,
    people: DeclaredPeople | None = None,
) -> None:
    """Record the budgets of the catalog, which account it shares, and whose rows it holds, if they have changed.

    `lifetime` is the budget of the account that the dataset shares with others, if it does.
    """
    account = None if transaction.lifetime is None else transaction.lifetime.name
    known = transaction.accounts.get(DATASET, Account())
    more: dict[str, Any] = {} if account == known.lifetime else {"lifetime": account}
    if people is not None:
        new = people.find_new(known.people.get(str(people.version), {}))
        more |= {"people": {str(people.version): new}} if new else {}
    declare_budgets(transaction, dataset, analysts, **more)
    if lifetime is not None:
        declare_lifetime(transaction, lifetime)


def declare_budgets(
    transaction: Transaction,
    dataset: Budget,
    analysts: Mapping[str, Budget],
    **more: Any,  # noqa: ANN401 - whatever JSON can hold
) -> None:
    """Record the budgets of the catalog if they have changed; an analyst who is no longer in it may spend nothing."""
    transaction.records.prepare_storage()
    for name in analysts:
        if not name.isprintable():
            raise ValueError(f"Ledger analysts must have printable names, got {name!r}.")
    before = {name: account.declared for name, account in transaction.accounts.items()}
    personal = {account_name(name): budget for name, budget in analysts.items()}
    after = dict.fromkeys(before) | {DATASET: dataset} | personal
    changed = {name: budget for name, budget in after.items() if name not in before or budget != before[name]}
    for name, budget in changed.items():
        _check(replace(transaction.accounts.get(name, Account()), declared=budget))
    if changed or more:
        budgets = {name: encode_budget(budget) for name, budget in changed.items()}
        transaction.append("open", at=now(), budgets=budgets, **more)


@dataclass(frozen=True)
class TopUp:
    """An addition to the budget of an analyst, or of the dataset (None), and the reason for it."""

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


def top_up(transaction: Transaction, more: TopUp) -> Filter:
    """Add to a budget, on top of what the catalog declares now or later."""
    find_filter(transaction, more.analyst)
    name = account_name(more.analyst)
    account = transaction.accounts[name]
    epsilon, delta = account.added_epsilon + more.epsilon, account.added_delta + more.delta
    _check(replace(account, added_epsilon=epsilon, added_delta=delta))
    amounts = {"epsilon": str(more.epsilon), "delta": str(more.delta)}
    transaction.append("top-up", at=now(), account=name, reason=more.reason, **amounts)
    if more.analyst is None:
        follow_budget(transaction)
    return find_filter(transaction, more.analyst)


def _check(account: Account) -> None:
    """Refuse an account whose budget and top-ups are together no valid budget."""
    try:
        _ = account.filter
    except ValueError as error:
        raise Refusal("The budget together with its top-ups", f"is none: {error}", "declare or add less") from error
