from __future__ import annotations

import json

import pytest

from adomnia.privacy.events import Approximate, Pure
from adomnia.privacy.filters import Budget, Filter
from adomnia.wire.budgets import AccountReply, BudgetReply, account_of, account_record, budget_record, budgets_of


@pytest.mark.parametrize("analyst", ["alice", "bob", "carol", "dave"])
def test_budgets_arrive_as_they_left(curator, analyst):
    curator.session("bob").sql("SELECT COUNT(*) AS n FROM people", rho=1 / 3)
    budgets = curator.session(analyst).budget()
    record = json.loads(json.dumps(budget_record(budgets)))
    BudgetReply.model_validate(record, strict=True)
    assert budgets_of(record) == budgets


@pytest.mark.parametrize(
    "account",
    [
        Filter(Budget(1)),
        Filter(Budget(3, 1e-6, approximate=True, event_delta=1e-8)).after(Approximate(1e-9, 1e-29)),
        Filter(Budget(3)).after(Pure(1e-20)),
    ],
)
def test_an_account_is_told_in_amounts_and_kept_in_units(account):
    record = json.loads(json.dumps(account_record(account)))
    AccountReply.model_validate(record, strict=True)
    assert account_of(record) == account


def test_a_spend_is_told_as_it_is_counted_rounded_up():
    record = account_record(Filter(Budget(1)).after(Pure(1e-20)))
    assert record["spent"] == {"epsilon": "0.000000000001", "rho": "0.000000000001", "delta": "0", "pure": True}
    assert record["left"]["epsilon"] == "0.999999999999"
