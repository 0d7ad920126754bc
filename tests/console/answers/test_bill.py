from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from adomnia.api.actions.answers import find_entry
from adomnia.console.answers.bill import build_bill, build_receipt, show_cost, show_tree
from adomnia.explaining.tree import Node
from adomnia.privacy.events import Composed, Pure
from console.ask.visiting import visiting
from kit.house import COUNT


def recall(house, **body):
    reply = house.query("alice", **{"sql": COUNT, "epsilon": 0.5, **body}).json()
    with house.services.dataset.curator() as curator:
        return curator.session("alice").recall(reply["receipt"]["request_id"])


def test_a_bill_has_a_price_at_each_measurement_and_their_sum(shared_house):
    recalled = recall(shared_house, sql="SELECT sex, COUNT(*) AS n, MEDIAN(age) AS m FROM people GROUP BY sex")
    bill = build_bill(*recalled.explain())
    assert [section.text for section in bill.sections] == ["Whose rows", "Groups", "Measured", "Answered"]
    measured = bill.sections[2].parts
    assert [line.place for line in measured] == [1, 2]
    assert sum(Fraction(line.price.amount) for line in measured) == Fraction(bill.total.amount) == Fraction(1, 2)
    assert any("one person moves it by at most" in each.text for each in measured[0].parts)
    assert not any(
        each.text.startswith(("error:", "interval:")) for line in bill.sections[3].parts for each in line.parts
    )


def test_a_cost_is_shown_in_its_own_currency():
    assert show_cost(Pure(Fraction(1, 4))) == show_cost(Composed((Pure(Fraction(1, 8)), Pure(Fraction(1, 8)))))
    assert show_cost(Pure(Fraction(1, 4))).word == "epsilon"


def test_an_explanation_is_shown_as_it_is():
    bill = show_tree(Node("one", (Node("two", (Node("three"),)),)))
    assert bill.sections[0].parts[0].parts[0].text == "three"
    assert bill.total is None


def test_rho_has_its_own_sign(shared_house):
    reply = shared_house.query("bob", COUNT, epsilon=None, rho=0.125).json()
    with shared_house.services.dataset.curator() as curator:
        recalled = curator.session("bob").recall(reply["receipt"]["request_id"])
    bill = build_bill(*recalled.explain())
    assert (bill.total.sign, bill.total.amount) == ("ρ", "0.125")
    assert bill.sections[2].parts[0].price.sign == "ρ"


def test_a_receipt_names_the_entry_of_the_ledger_and_its_time(shared_house):
    request_id = shared_house.query("alice", COUNT).json()["receipt"]["request_id"]
    with visiting(shared_house, "alice") as visit:
        receipt = visit.session.answer(request_id).receipt
        view = build_receipt(receipt, find_entry(visit, receipt))
        changed = replace(receipt, hash="0" * 64)
        other = build_receipt(changed, find_entry(visit, changed))
    assert (view.analyst, view.request_id, view.hash) == ("alice", request_id, receipt.hash)
    assert view.entry >= 1
    assert view.at.startswith("20")
    assert (other.entry, other.at) == (None, None)
    assert build_receipt(receipt).entry is None
