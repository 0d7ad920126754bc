"""Accounts: the budget of the dataset and of each analyst and what was spent of it, computed from the entries."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from adomnia.ledger.chain import damage_refusal
from adomnia.privacy.filters import Budget, Filter, Left, Spent

DATASET = "dataset"
_NOTHING = Spent()


def account_name(analyst: str | None) -> str:
    """The name of an analyst's account, or of the dataset's (None); the prefix keeps the two apart."""
    return DATASET if analyst is None else f"analyst:{analyst}"


@dataclass(frozen=True)
class Account:
    """A budget as the catalog declares it (None: no longer declared), the owner's top-ups, and what was spent.

    `restored` is when a backup was last put in the ledger's place, with what may have been spent since it was made.
    Of the dataset's alone: `lifetime` is the account that it shares with others; who does not know it pays nothing.
    `people` says by versions of the data whose rows they were measured as, table by table.
    """

    declared: Budget | None = None
    added_epsilon: Fraction = Fraction(0)
    added_delta: Fraction = Fraction(0)
    spent: Spent = _NOTHING
    restored: str | None = None
    lifetime: str | None = None
    people: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def filter(self) -> Filter | None:
        """The filter that admits or refuses the next spend; None if no budget is declared."""
        if self.declared is None:
            return None
        if self.added_epsilon or self.added_delta:
            return Filter(_add_to_budget(self.declared, self.added_epsilon, self.added_delta), self.spent)
        return Filter(self.declared, self.spent)

    def left(self) -> Left:
        """What remains, for display."""
        allowed = self.filter
        return Left(Fraction(0), Fraction(0), Fraction(0)) if allowed is None else allowed.left()


Accounts = dict[str, Account]


@lru_cache(maxsize=4096)  # one Budget object an account, because a Budget remembers the rho it has worked out
def _add_to_budget(declared: Budget, epsilon: Fraction, delta: Fraction) -> Budget:
    share = declared.event_delta / declared.delta if declared.delta else Fraction(1, 2)
    return Budget(
        declared.epsilon + epsilon, declared.delta + delta, declared.approximate, declared.event_delta + share * delta
    )


def apply_entry(accounts: Accounts, entry: Mapping[str, Any]) -> None:
    """Bring the accounts up to date with one more entry.

    Entries state the new totals, so nothing is added up here; `audit` does the additions again.
    """
    try:
        _apply(accounts, entry)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damage_refusal(f"has an entry {entry['sequence']} that cannot be read") from error


def _apply(accounts: Accounts, entry: Mapping[str, Any]) -> None:
    match entry["kind"]:
        case "open":
            for name, record in entry["budgets"].items():
                accounts[name] = replace(accounts.get(name, Account()), declared=_decode_budget(record))
            if "lifetime" in entry:
                accounts[DATASET] = replace(accounts[DATASET], lifetime=entry["lifetime"])
            for version, rules in entry.get("people", {}).items():
                known = accounts[DATASET].people
                people = {**known, version: {**known.get(version, {}), **rules}}
                accounts[DATASET] = replace(accounts[DATASET], people=people)
        case "top-up":
            account = accounts[entry["account"]]
            epsilon = account.added_epsilon + Fraction(entry["epsilon"])
            delta = account.added_delta + Fraction(entry["delta"])
            accounts[entry["account"]] = replace(account, added_epsilon=epsilon, added_delta=delta)
        case "reserve" | "counted" | "restored" as kind:
            marks = {"restored": entry["at"]} if kind == "restored" else {}
            for name, record in entry["spent"].items():
                accounts[name] = replace(accounts[name], spent=decode_spent(record), **marks)
        case "checkpoint":
            _apply_checkpoint(accounts, entry)
        case "commit":
            pass
        case kind:
            raise damage_refusal(f"has an entry {entry['sequence']} of the unknown kind {kind}")


def _apply_checkpoint(accounts: Accounts, entry: Mapping[str, Any]) -> None:
    """Take over what a checkpoint states where reading begins with it; elsewhere it must agree with the entries."""
    stated = decode_accounts(entry["accounts"])
    if accounts not in ({}, stated):
        raise damage_refusal(f"has a checkpoint, entry {entry['sequence']}, that is not what entries add up to")
    accounts.update(stated)


def encode_budget(budget: Budget | None) -> dict[str, Any] | None:
    """Write a budget as an exact JSON object, for an entry."""
    if budget is None:
        return None
    amounts = {"epsilon": budget.epsilon, "delta": budget.delta, "event_delta": budget.event_delta}
    return {name: str(amount) for name, amount in amounts.items()} | {"approximate": budget.approximate}


def _decode_budget(record: Mapping[str, Any] | None) -> Budget | None:
    if record is None:
        return None
    epsilon, delta, event_delta = (Fraction(record[name]) for name in ("epsilon", "delta", "event_delta"))
    return Budget(epsilon, delta, record["approximate"], event_delta)


def encode_spent(spent: Spent) -> dict[str, Any]:
    """Write a total as a JSON object, for an entry.

    Units are text, because they outgrow the integers that many readers of JSON can hold.
    """
    units = {"epsilon": spent.epsilon_units, "rho": spent.rho_units, "delta": spent.delta_units}
    return {name: str(amount) for name, amount in units.items()} | {"in_epsilon": spent.in_epsilon, "pure": spent.pure}


def decode_spent(record: Mapping[str, Any]) -> Spent:
    """Read a total that was written for an entry.

    Without `in_epsilon` it is of a version that left out the epsilons of all events but the pure ones: if there was
    any other, its sum of epsilons is of no use.
    """
    in_epsilon = record.get("in_epsilon", record["pure"])
    return Spent(int(record["epsilon"]), int(record["rho"]), int(record["delta"]), in_epsilon)


def encode_accounts(accounts: Accounts) -> dict[str, Any]:
    """Write all accounts as they are, for a checkpoint."""
    return {name: _encode_account(account) for name, account in accounts.items()}


def _encode_account(account: Account) -> dict[str, Any]:
    shared: dict[str, Any] = {} if account.lifetime is None else {"lifetime": account.lifetime}
    if account.people:
        shared["people"] = account.people
    return {
        "budget": encode_budget(account.declared),
        "added_epsilon": str(account.added_epsilon),
        "added_delta": str(account.added_delta),
        "spent": encode_spent(account.spent),
        "restored": account.restored,
        **shared,
    }


def decode_accounts(record: Mapping[str, Any]) -> Accounts:
    """Read the accounts that a checkpoint states."""
    return {name: _decode_account(account) for name, account in record.items()}


def _decode_account(record: Mapping[str, Any]) -> Account:
    added = Fraction(record["added_epsilon"]), Fraction(record["added_delta"])
    spent, restored, lifetime = decode_spent(record["spent"]), record["restored"], record.get("lifetime")
    return Account(_decode_budget(record["budget"]), *added, spent, restored, lifetime, record.get("people", {}))
