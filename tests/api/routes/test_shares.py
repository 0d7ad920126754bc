"""Links to answers over the API: who paid makes them, and others pay from their own budget alone."""

from __future__ import annotations

from kit import house

SHARES, SHARED = f"{house.DATASET}/shares", f"{house.DATASET}/shared"


def share(opened, name="alice", **body):
    paid = opened.query(name, **body).json()["receipt"]["request_id"]
    return paid, opened.ask(name, "POST", SHARES, json={"request_id": paid})


def spent(opened, name):
    with opened.services.dataset.curator() as curator:
        return curator.ledger.account(name).spent, curator.ledger.account().spent


def test_a_link_is_made_listed_and_ended(own_house):
    paid, made = share(own_house)
    assert made.status_code == 201
    link = made.json()
    assert link["path"] == f"/shared/{link['code']}"
    listed = own_house.ask("alice", "GET", SHARES).json()["shares"]
    assert [(each["id"], each["request_id"]) for each in listed] == [(link["id"], paid)]
    assert "code" not in listed[0]
    assert own_house.ask("bob", "GET", SHARES).json() == {"shares": []}
    assert own_house.ask("bob", "DELETE", f"{SHARES}/{link['id']}").status_code == 404
    assert own_house.ask("alice", "DELETE", f"{SHARES}/{link['id']}").status_code == 204
    assert own_house.ask("bob", "GET", f"{SHARED}/{link['code']}").status_code == 404


def test_a_link_says_what_it_costs_and_nothing_of_the_answer(own_house):
    _, made = share(own_house)
    code, before = made.json()["code"], spent(own_house, "bob")
    told = own_house.ask("bob", "GET", f"{SHARED}/{code}").json()
    assert (told["by"], told["questions"], told["request_id"], told["problem"]) == ("alice", [house.COUNT], None, None)
    assert float(told["left"]["epsilon"]) - float(told["left_after"]["epsilon"]) == float(told["cost"]["epsilon"])
    assert not {"columns", "rows", "values"} & set(told)
    assert spent(own_house, "bob") == before


def test_the_very_answer_is_bought_from_the_buyer_s_budget_alone(own_house):
    _, made = share(own_house)
    path = f"{SHARED}/{made.json()['code']}"
    before, dataset = spent(own_house, "bob")
    (bought,) = own_house.ask("bob", "POST", path).json()["answers"]
    own = own_house.query("alice").json()
    assert bought["columns"] == own["columns"]
    assert spent(own_house, "bob")[0].epsilon_units - before.epsilon_units == 125 * 10**9
    assert spent(own_house, "bob")[1] == dataset
    assert own_house.ask("bob", "POST", path).json()["answers"][0]["columns"] == own["columns"]
    assert spent(own_house, "bob")[0].epsilon_units - before.epsilon_units == 125 * 10**9
    assert own_house.ask("bob", "GET", path).json()["request_id"] == bought["receipt"]["request_id"]


def test_what_was_bought_is_given_again_where_nothing_is_left_to_pay_with(own_house):
    _, made = share(own_house, epsilon=0.75)
    path = f"{SHARED}/{made.json()['code']}"
    (bought,) = own_house.ask("carol", "POST", path).json()["answers"]  # who has epsilon 1 in all
    before = spent(own_house, "carol")
    reply = own_house.ask("carol", "POST", path)
    (again,) = reply.json()["answers"]
    assert (reply.status_code, again["receipt"], again["columns"]) == (200, bought["receipt"], bought["columns"])
    assert again["replayed"]
    assert spent(own_house, "carol") == before


def test_one_s_own_answer_is_read_again(own_house):
    paid, made = share(own_house)
    path, before = f"{SHARED}/{made.json()['code']}", spent(own_house, "alice")
    assert own_house.ask("alice", "GET", path).json()["request_id"] == paid
    assert own_house.ask("alice", "POST", path).json()["answers"][0]["receipt"]["request_id"] == paid
    assert spent(own_house, "alice") == before


def test_what_was_measured_afresh_or_is_somebody_else_s_is_not_shared(own_house):
    _, refused = share(own_house, replay=False)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "not_shared")
    paid = own_house.query("alice").json()["receipt"]["request_id"]
    foreign = own_house.ask("bob", "POST", SHARES, json={"request_id": paid})
    assert (foreign.status_code, foreign.json()["error"]["code"]) == (404, "unknown_answer")


def test_a_link_that_was_never_made_leads_nowhere(shared_house):
    for method in ("GET", "POST"):
        for code in ("none", "0" * 40):
            assert shared_house.ask("bob", method, f"{SHARED}/{code}").status_code == 404
