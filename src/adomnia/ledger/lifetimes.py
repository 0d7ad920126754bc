"""The account that several datasets about the same people share: whatever one of them spends is spent of it as well.

It has a chain of its own, in which the datasets stand as analysts do in theirs; docs/decisions/0026.
"""

from adomnia.errors import Refusal
from adomnia.ledger.accounts import DATASET, Account, account_name, encode_budget, encode_spent
from adomnia.ledger.journal import Lifetime, Transaction
from adomnia.ledger.requests import find_filter, now
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.events import Approximate, Concentrated, Event, Pure, to_record
from adomnia.privacy.filters import Budget, Filter, Spent
from adomnia.privacy.losses import loss

_ANALYST = account_name("")


def declare_lifetime(transaction: Transaction, budget: Budget) -> None:
    """Record the dataset in the account that it shares, with what it has spent; refuse another budget than the others'.

    What a dataset spent before it named the account, or while it did not, is spent of it now.
    """
    lifetime = _find_lifetime(transaction)
    before = lifetime.chain.accounts.get(DATASET, Account()).declared
    if before is None:
        lifetime.chain.append("open", at=now(), budgets={DATASET: encode_budget(budget)})
    elif before != budget:
        what = f"The lifetime budget that {lifetime.dataset} shares with other datasets"
        why = f"is {_say(before)} in the ledger, and {_say(budget)} in this catalog"
        fix = "declare the same under [lifetime] in each catalog; `adomnia ledger top-up --lifetime` adds to it"
        raise Refusal(what, why, fix)
    follow_budget(transaction)
    _catch_up(transaction.accounts[DATASET].spent, lifetime)


def follow_budget(transaction: Transaction) -> None:
    """Record what the dataset may spend in all, where it shares an account: others see what may come."""
    lifetime, own = transaction.lifetime, find_filter(transaction, None).budget
    if lifetime is None:
        return
    name = account_name(lifetime.dataset)
    if lifetime.chain.accounts.get(name, Account()).declared != own:
        lifetime.chain.append("open", at=now(), budgets={name: encode_budget(own)})


def find_shared(transaction: Transaction) -> Transaction:
    """The chain of the account that the dataset shares, or a refusal."""
    return _find_lifetime(transaction).chain


def list_filters(transaction: Transaction) -> dict[str | None, Filter]:
    """The budget and the spends of each dataset in the shared account, by name, and (None) of all of them together."""
    if transaction.lifetime is None:
        return {}
    accounts = transaction.lifetime.chain.accounts
    found = {name: account.filter for name, account in accounts.items() if account.filter is not None}
    together = found.pop(DATASET)
    return {**{name.removeprefix(_ANALYST): each for name, each in found.items()}, None: together}


def _find_lifetime(transaction: Transaction) -> Lifetime:
    if transaction.lifetime is None:
        fix = "name one under [ledger], and its budget under [lifetime]"
        raise Refusal("The dataset", "shares no account with others", fix)
    return transaction.lifetime


def _catch_up(spent: Spent, lifetime: Lifetime) -> None:
    """Count what the dataset has spent and the account does not know, whatever is left: it was spent."""
    accounts, name = lifetime.chain.accounts, account_name(lifetime.dataset)
    event = _find_missing(spent, accounts[name].spent)
    if event is not None:
        totals = {each: encode_spent(accounts[each].spent.plus(loss(event))) for each in (name, DATASET)}
        lifetime.chain.append("counted", at=now(), account=name, event=to_record(event), spent=totals)


def _find_missing(spent: Spent, known: Spent) -> Event | None:
    """An event that costs at least what is missing; docs/proofs/ledger.md, section 12.

    While epsilons add up they alone are compared: counted as one, spends have more rho than they had one by one, and a
    restored ledger states more than there can have been. The first spend that has none ends their sum here as well.
    """
    epsilon, rho, delta = (
        max(0, getattr(spent, unit) - getattr(known, unit)) for unit in ("epsilon_units", "rho_units", "delta_units")
    )
    share, ends = delta * DELTA_UNIT, known.in_epsilon and not spent.in_epsilon
    if spent.in_epsilon and (epsilon or delta):
        amount = max(epsilon, 1) * EPSILON_UNIT
        return Approximate(amount, share) if delta else Pure(amount)
    if not spent.in_epsilon and (rho or delta or ends):
        return Concentrated(max(rho, 1) * EPSILON_UNIT, share)
    return None


def _say(budget: Budget) -> str:
    return f"epsilon {float(budget.epsilon):g}" + (f" and delta {float(budget.delta):g}" if budget.delta else "")
