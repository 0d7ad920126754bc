from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce

import pytest

from adomnia.privacy.events import Approximate, Pure
from adomnia.privacy.filters import Budget, Filter
from adomnia.wire.budgets import AccountReply, BudgetReply, PastsReply, budgets_of, pasts_record


@pytest.mark.parametrize("analyst", ["alice", "bob", "carol", "dave"])
def test_budgets_arrive_as_they_left(curator, analyst):
    curator.session("bob").sql("SELECT COUNT(*) AS n FROM people", rho=1 / 3)
    budgets = curator.session(analyst).budget()
    record = json.loads(json.dumps(BudgetReply.record(budgets)))
    arrived = budgets_of(BudgetReply.model_validate(record, strict=True))
    assert arrived.terms == budgets.terms
    for there, here in ((arrived.personal, budgets.personal), (arrived.dataset, budgets.dataset)):
        assert AccountReply.model_validate(AccountReply.record(there), strict=True).account() == there
        assert (there.budget, there.branches(), there.left()) == (here.budget, here.branches(), here.left())
        assert (there.spent_epsilon(), there.spent.rho_units) == (here.spent_epsilon(), here.spent.rho_units)
    assert str(arrived) == str(budgets)


@pytest.mark.parametrize(
    "account",
    [
        Filter(Budget(1)),
        Filter(Budget(3, 1e-6, approximate=True, event_delta=1e-8)).after(Approximate(1e-9, 1e-29)),
        Filter(Budget(3)).after(Pure(1e-20)),
    ],
)
def test_an_account_is_told_in_amounts_and_kept_in_units(account):
    record = json.loads(json.dumps(AccountReply.record(account)))
    assert AccountReply.model_validate(record, strict=True).account() == account


def test_a_spend_is_told_as_it_is_counted_rounded_up():
    record = AccountReply.record(Filter(Budget(1)).after(Pure(1e-20)))
    assert record["spent"] == {"epsilon": "0.000000000001", "rho": "0.000000000001", "delta": "0", "pure": True}
    assert record["left"]["epsilon"] == "0.999999999999"
    assert record["says"] == "Spent: epsilon 1e-12 of 1. Left: epsilon 0.999999."


def test_an_account_that_is_held_to_its_rho_tells_no_epsilon():
    small = reduce(Filter.after, [Pure(0.01)] * 216, Filter(Budget(1, 1e-6)))
    record = AccountReply.record(small)
    assert (record["spent"]["epsilon"], record["spent"]["rho"], record["spent"]["pure"]) == (None, "0.0108", True)
    assert record["says"].startswith("Spent: rho 0.0108 of 0.0229374. Left: one question at epsilon 0.155804,")
    there = AccountReply.model_validate(record, strict=True).account()
    assert there.left() == small.left()
    assert there.admits(Pure(0.155)) is small.admits(Pure(0.155)) is True
    assert there.admits(Pure(0.156)) is small.admits(Pure(0.156)) is False


def test_what_was_paid_for_arrives_as_it_left(bob):
    bob.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1, request_id="one")
    bob.batch(["SELECT COUNT(*) AS n FROM people", "SELECT AVG(age) AS a FROM people"], rho=0.1, request_id="two")
    pasts = bob.answers()
    record = json.loads(json.dumps(pasts_record(pasts)))
    found = [each.past() for each in PastsReply.model_validate(record, strict=True).answers]
    assert found == [replace(past, receipt=replace(past.receipt, asked="")) for past in pasts]
    assert record["answers"][-1]["questions"][1] == "SELECT AVG(age) AS a FROM people"
    assert (record["next"], pasts_record([])["next"]) == ("two", None)
