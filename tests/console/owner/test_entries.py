"""Entries in words."""

from __future__ import annotations

import pytest

from adomnia.api.ledger_view import find_answer, open_snapshot, read_entries
from adomnia.console.owner.entries import KINDS, describe_entry
from adomnia.privacy.filters import Budget
from kit.long_ledger import lengthen
from ledger.references import BUDGET, COST, answered, opened, plan


@pytest.fixture
def rows(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with opened(place) as ledger:
        answered(ledger)
        ledger.reserve("bob", "shared", plan("q"), COST)
        ledger.reserve("alice", "failed", plan("other"), COST)
        ledger.reserve(None, "dataset:profile", plan("profile"), COST)
        ledger.top_up(None, "board meeting", epsilon=2, delta=1e-7)
    opened(place, BUDGET, {"alice": Budget(epsilon=2)}).close()
    with open_snapshot(place) as connection:
        return [describe_entry(entry, find_answer(connection, entry.sequence)) for entry in read_entries(connection)]


def test_every_entry_says_who_and_what(rows):
    assert [(row.sequence, row.who, row.kind.says, row.says) for row in rows] == [
        (1, "owner", "budgets declared", "alice ε 1, bob ε 1, all together ε 1"),
        (2, "alice", "paid for a question", "answer kept as 3"),
        (3, "alice", "answer kept", ""),
        (4, "bob", "paid for a question", "seen of another, answer kept as 5"),
        (5, "bob", "answer kept", ""),
        (6, "alice", "paid for a question", "no answer is kept"),
        (7, "all together", "paid for a question", "no answer is kept"),
        (8, "all together", "budget raised", "plus ε 2 and δ 1e-7: board meeting"),
        (9, "owner", "budgets declared", "alice ε 2, bob nothing more"),
    ]


def test_paid_and_totals_are_in_the_currency_they_were_paid_in(rows):
    paid = rows[1]
    assert (paid.paid.sign, paid.paid.amount, paid.paid.delta) == ("ε", "0.01", "")
    assert (paid.own_total.amount, paid.whole_total.amount) == ("0.01", "0.01")
    assert rows[3].whole_total is None
    assert rows[6].own_total is None
    assert rows[2].paid is None


def test_all_kinds_that_ledgers_have_are_in_words(tmp_path):
    place = tmp_path / "ledger.sqlite"
    opened(place).close()
    lengthen(place, 2100)
    with opened(place) as ledger:
        ledger.top_up("bob", "more", epsilon=1)
    with open_snapshot(place) as connection:
        kinds = {describe_entry(entry, None).kind for entry in read_entries(connection, after=4190)}
    assert KINDS["checkpoint"] in kinds
