"""What `adomnia budget` says of an account that several datasets share: who spent what, and what a person may lose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from adomnia.accounting.lifetimes import SLACK, compose_datasets
from adomnia.cli import pages
from adomnia.cli.accounts import as_budget_record, format_budget
from adomnia.explaining.balances import say_left, say_spent
from adomnia.privacy.amounts import show_up

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.privacy.filters import Filter

__all__ = ["LifetimeSummary", "as_record", "print_lifetime"]


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


def as_record(lifetime: LifetimeSummary) -> dict[str, object]:
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
