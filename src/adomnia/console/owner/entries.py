"""Entries of the ledger as rows of a page: who, what in words, what was paid in its own currency, and the totals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.api.actions.accounts import DATASET
from adomnia.console.owner.accounts import name_account
from adomnia.console.prices import Paid
from adomnia.privacy.amounts import show_up

if TYPE_CHECKING:
    from adomnia.api.ledger_view import Amounts, LedgerEntry

_MOST_BUDGETS = 3


@dataclass(frozen=True)
class EntryKind:
    """A kind of entry: its words, those of the choice of all of its kind, and the look of its tag."""

    says: str
    plural: str
    look: str


KINDS = {
    "reserve": EntryKind("paid for a question", "Paid", "price"),
    "commit": EntryKind("answer kept", "Answers kept", "data"),
    "top-up": EntryKind("budget raised", "Top-ups", "stop"),
    "open": EntryKind("budgets declared", "Declared", ""),
    "restored": EntryKind("backup put back", "Restored", "stop"),
    "checkpoint": EntryKind("checkpoint", "Checkpoints", ""),
}


@dataclass(frozen=True)
class EntryRow:
    """What a page shows of an entry."""

    sequence: int
    at: str | None
    who: str
    kind: EntryKind
    says: str
    request_id: str
    paid: Paid | None
    own_total: Paid | None
    whole_total: Paid | None
    hash: str


def describe_entry(entry: LedgerEntry, kept: int | None) -> EntryRow:
    """The row of an entry; `kept` is the number of the one that keeps the answer of a debit, if there is one."""
    own = next((total for account, total in entry.totals.items() if account != DATASET), None)
    return EntryRow(
        entry.sequence,
        entry.at,
        _name_payer(entry),
        KINDS[entry.kind],
        _say(entry, kept),
        entry.request_id or "",
        _count(entry.cost),
        _count(own) if entry.kind == "reserve" else None,
        _count(entry.totals.get(DATASET)),
        entry.hash,
    )


def _name_payer(entry: LedgerEntry) -> str:
    if entry.kind in {"reserve", "commit"}:
        return entry.analyst or name_account(DATASET)
    return name_account(next(iter(entry.budgets))) if entry.kind == "top-up" else "owner"


def _say(entry: LedgerEntry, kept: int | None) -> str:
    match entry.kind:
        case "reserve":
            says = "no answer is kept" if kept is None else f"answer kept as {kept}"
            return says if DATASET in entry.totals else f"seen of another, {says}"
        case "top-up" | "open":
            return _say_budgets(entry)
        case "restored":
            return "what may have been spent since the backup counts as spent"
        case "checkpoint":
            return "all totals once more, so that opening is quick"
    return ""


def _say_budgets(entry: LedgerEntry) -> str:
    said = [f"{name_account(account)} {_say_budget(amounts)}" for account, amounts in entry.budgets.items()]
    if entry.kind == "top-up":
        return f"plus {_say_budget(next(iter(entry.budgets.values())))}: {entry.reason}"
    more = f" and {len(said) - _MOST_BUDGETS:,} more" if len(said) > _MOST_BUDGETS else ""
    return f"{', '.join(said[:_MOST_BUDGETS])}{more}"


def _say_budget(amounts: Amounts | None) -> str:
    if amounts is None:
        return "nothing more"
    parts = (("ε", amounts.epsilon), ("δ", amounts.delta))
    return " and ".join(f"{sign} {show_up(Fraction(amount))}" for sign, amount in parts if amount and Fraction(amount))


def _count(amounts: Amounts | None) -> Paid | None:
    """Amounts in epsilon, if all was paid in that, or in rho."""
    if amounts is None:
        return None
    delta = show_up(Fraction(amounts.delta)) if Fraction(amounts.delta) else ""
    if amounts.epsilon is not None:
        return Paid("ε", "epsilon", show_up(Fraction(amounts.epsilon)), delta)
    return Paid("ρ", "rho", show_up(Fraction(amounts.rho or 0)), delta)
