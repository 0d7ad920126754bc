"""What the entries add up to: for the dataset and for each analyst a budget and what was spent of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from adomnia.ledger.chain import broken
from adomnia.privacy.filters import Budget, Filter, Left, Spent

__all__ = ["DATASET", "Account", "Accounts", "budget_record", "fold", "personal", "spent_record"]

DATASET = "dataset"
_NOTHING = Spent()


def personal(analyst: str | None) -> str:
    """The name of an analyst's own account, which no name makes the dataset's; None: the dataset's."""
    return DATASET if analyst is None else f"analyst:{analyst}"


@dataclass(frozen=True)
class Account:
    """The budget that the catalog declares (None once it is gone from there), what was added to it, what was spent."""

    declared: Budget | None = None
    added_epsilon: Fraction = Fraction(0)
    added_delta: Fraction = Fraction(0)
    spent: Spent = _NOTHING

    @property
    def filter(self) -> Filter | None:
        """What decides about the next spend; None where nothing may be spent."""
        if self.declared is None:
            return None
        return Filter(_topped_up(self.declared, self.added_epsilon, self.added_delta), self.spent)

    def left(self) -> Left:
        """What remains, for display."""
        return Left(Fraction(0), Fraction(0), Fraction(0)) if self.filter is None else self.filter.left()


Accounts = dict[str, Account]


@lru_cache(maxsize=4096)  # one Budget object an account, because a Budget remembers the rho it has worked out
def _topped_up(declared: Budget, epsilon: Fraction, delta: Fraction) -> Budget:
    share = declared.event_delta / declared.delta if declared.delta else Fraction(1, 2)
    return Budget(
        declared.epsilon + epsilon, declared.delta + delta, declared.approximate, declared.event_delta + share * delta
    )


def fold(accounts: Accounts, entry: Mapping[str, Any]) -> None:
    """Let one more entry change the accounts. Entries state totals, so this does no arithmetic; `audit` redoes it."""
    try:
        _fold(accounts, entry)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise broken(f"has an entry {entry['sequence']} that cannot be read") from error


def _fold(accounts: Accounts, entry: Mapping[str, Any]) -> None:
    match entry["kind"]:
        case "open":
            for name, record in entry["budgets"].items():
                accounts[name] = replace(accounts.get(name, Account()), declared=_budget(record))
        case "top-up":
            account = accounts[entry["account"]]
            epsilon = account.added_epsilon + Fraction(entry["epsilon"])
            delta = account.added_delta + Fraction(entry["delta"])
            accounts[entry["account"]] = replace(account, added_epsilon=epsilon, added_delta=delta)
        case "reserve":
            for name, record in entry["spent"].items():
                accounts[name] = replace(accounts[name], spent=_spent(record))
        case "commit":
            pass
        case kind:
            raise broken(f"has an entry {entry['sequence']} of the unknown kind {kind}")


def budget_record(budget: Budget | None) -> dict[str, Any] | None:
    """A budget for an entry: JSON-safe and exact."""
    if budget is None:
        return None
    amounts = {"epsilon": budget.epsilon, "delta": budget.delta, "event_delta": budget.event_delta}
    return {name: str(amount) for name, amount in amounts.items()} | {"approximate": budget.approximate}


def _budget(record: Mapping[str, Any] | None) -> Budget | None:
    if record is None:
        return None
    epsilon, delta, event_delta = (Fraction(record[name]) for name in ("epsilon", "delta", "event_delta"))
    return Budget(epsilon, delta, record["approximate"], event_delta)


def spent_record(spent: Spent) -> dict[str, Any]:
    """A total for an entry; whole units as text, because they outgrow the integers that other readers of JSON keep."""
    units = {"epsilon": spent.epsilon_units, "rho": spent.rho_units, "delta": spent.delta_units}
    return {name: str(amount) for name, amount in units.items()} | {"pure": spent.pure}


def _spent(record: Mapping[str, Any]) -> Spent:
    return Spent(int(record["epsilon"]), int(record["rho"]), int(record["delta"]), record["pure"])
