"""All accounts of the dataset as they are now, top-ups included, and what their analysts can spend together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.explaining.promises import coalitions, describe_coalition
from adomnia.ledger.accounts import DATASET, account_name
from adomnia.releases.checks import list_charges
from adomnia.session.previewing import add_previews

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Analyst, Catalog
    from adomnia.explaining.promises import Coalition, Promise
    from adomnia.privacy.filters import Filter

__all__ = [
    "DATASET",
    "AnalystAccount",
    "account_name",
    "find_restored",
    "list_accounts",
    "list_coalitions",
    "read_dataset_account",
]


@dataclass(frozen=True)
class AnalystAccount:
    """An analyst of the catalog, their account, and how many answers they have."""

    analyst: Analyst
    account: Filter
    answers: int


def list_accounts(visit: Visit) -> list[AnalystAccount]:
    """The accounts of all analysts, in the order of the catalog."""
    ledger = visit.curator.ledger
    return [
        AnalystAccount(each, ledger.account(each.name), ledger.count_answers(each.name))
        for each in visit.catalog.analysts
    ]


def read_dataset_account(visit: Visit) -> Filter:
    """The account that everybody pays from."""
    return visit.curator.ledger.account()


def find_restored(visit: Visit) -> str | None:
    """When a backup was last put in the place of the ledger; None if that never happened."""
    return visit.curator.ledger.restored()


def list_coalitions(visit: Visit) -> tuple[list[Coalition], Promise, Catalog]:
    """What so many analysts can spend together, whether that fits, and the catalog with the budgets of now."""
    catalog = _with_top_ups(visit)
    releases = tuple(add_previews(list_charges(visit.curator.ledger), catalog).values())
    return list(coalitions(catalog, releases)), describe_coalition(catalog, releases), catalog


def _with_top_ups(visit: Visit) -> Catalog:
    """The catalog with the budgets of the ledger, to which owners may have added."""
    ledger, catalog = visit.curator.ledger, visit.catalog
    analysts = tuple(replace(each, budget=ledger.account(each.name).budget) for each in catalog.analysts)
    return replace(catalog, budget=ledger.account().budget, analysts=analysts)
