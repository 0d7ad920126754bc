from __future__ import annotations

from dataclasses import replace

from adomnia.api.actions.answers import find_entry
from adomnia.console.answers.receipt import build_receipt
from console.ask.visiting import visiting
from kit.house import COUNT


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
