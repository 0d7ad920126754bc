from __future__ import annotations

import pytest

from adomnia.console.answers.refill_form import list_fields
from kit.house import COUNT


@pytest.mark.parametrize(
    ("name", "named", "fields"),
    [
        ("alice", {"epsilon": 0.3, "rows": 500}, {"pay": "epsilon", "amount": "0.3", "rows": "500"}),
        ("alice", {"error": 30.5}, {"pay": "error", "amount": "30.5"}),
        ("bob", {"rho": 0.0625, "effort": "high"}, {"pay": "rho", "amount": "0.0625", "effort": "high"}),
    ],
)
def test_a_question_is_asked_again_as_it_was(shared_house, name, named, fields):
    reply = shared_house.query(name, COUNT, **{"epsilon": None, **named}).json()
    with shared_house.services.dataset.curator() as curator:
        recalled = curator.session(name).recall(reply["receipt"]["request_id"])
    usual = {"sql": COUNT, "effort": "normal", "inference": "data"}
    assert list_fields(recalled) == usual | fields


def test_a_question_that_found_values_is_asked_again_with_its_delta(shared_house):
    sql = "SELECT eye_color, COUNT(*) AS n FROM people GROUP BY eye_color"
    reply = shared_house.query("bob", sql, epsilon=5, delta="1e-9").json()
    with shared_house.services.dataset.curator() as curator:
        recalled = curator.session("bob").recall(reply["receipt"]["request_id"])
    assert list_fields(recalled)["delta"] == "0.000000001"


def test_one_of_a_batch_has_its_own_price(shared_house):
    asked = {
        "questions": [{"sql": COUNT, "epsilon": 1}, {"sql": "SELECT MEDIAN(age) AS a FROM people", "epsilon": 0.5}]
    }
    reply = shared_house.ask("alice", "POST", "/api/v1/datasets/hospital/batch", json=asked).json()
    with shared_house.services.dataset.curator() as curator:
        recalled = curator.session("alice").recall(reply["answers"][0]["receipt"]["request_id"], 1)
    assert list_fields(recalled)["amount"] == "0.5"
