from __future__ import annotations

from adomnia.asking.batch import Batch
from adomnia.console.budget.debits import Debit, add_totals, from_receipt
from adomnia.console.budget.gauges import EPSILON, RHO
from adomnia.ledger.requests import Receipt
from adomnia.pricing.questions import Question
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Spent
from adomnia.privacy.losses import loss
from adomnia.wire.amounts import count_cost


def debit(name: str, at: str, epsilon: float) -> Debit:
    return Debit(at, name, (name,), count_cost(Pure(epsilon)), answered=True)


def total(*epsilons: float) -> Spent:
    spent = Spent()
    for epsilon in epsilons:
        spent = spent.plus(loss(Pure(epsilon)))
    return spent


def test_totals_are_those_after_each_debit():
    debits = [debit("b", "2026-01-02", 0.2), debit("c", "2026-01-03", 0.3), debit("a", "2026-01-01", 0.1)]
    found = add_totals(debits, total(0.1, 0.2, 0.3), EPSILON)
    assert [each.debit.request_id for each in found] == ["c", "b", "a"]
    assert [each.spent for each in found] == ["0.6", "0.3", "0.1"]
    assert [each.before for each in found] == [found[1].total, found[2].total, 0]


def test_totals_are_of_the_sum_that_the_budget_is_held_to():
    (found,) = add_totals([debit("a", "2026-01-01", 0.1)], total(0.1), RHO)
    assert found.spent == "0.005"


def test_of_one_second_those_that_come_first_are_newer():
    found = add_totals([debit("new", "2026-01-01", 0.2), debit("old", "2026-01-01", 0.1)], total(0.1, 0.2), EPSILON)
    assert [each.debit.request_id for each in found] == ["new", "old"]


def test_what_else_was_spent_was_spent_before():
    (found,) = add_totals([debit("a", "2026-01-01", 0.1)], total(1, 0.1), EPSILON)
    assert (found.spent, found.before) == ("1.1", 10**12)


def test_what_has_no_answer_keeps_its_question():
    asked = Batch((Question("SELECT 1", epsilon=1),), 0.95, 1).to_text()
    kept = from_receipt(Receipt("alice", "id", b"p", Pure(1), "", asked, at="2026-01-01"))
    assert (kept.texts, kept.answered, str(kept.paid)) == (("SELECT 1",), False, "epsilon 1")
    assert from_receipt(Receipt("alice", "id", b"p", Pure(1), "")).texts == ("",)
