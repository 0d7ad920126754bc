"""What owners and auditors look at."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from adomnia.session.curator import LEDGER, STATE
from kit import house

DATASET = house.DATASET


def test_all_budgets_are_there_and_what_was_spent_of_them(own_house):
    own_house.query("alice")
    told = own_house.ask("audrey", "GET", f"{DATASET}/accounts").json()
    spent = {account["analyst"]: account["spent"]["epsilon"] for account in told["analysts"]}
    assert spent == {"alice": "0.125", "bob": "0", "carol": "0"}
    assert told["dataset"]["spent"]["epsilon"] == "0.125"


def test_the_ledger_is_read_page_by_page(own_house):
    for number in range(3):
        own_house.query("alice", f"SELECT COUNT(*) AS n FROM people WHERE age > {number}", request_id=f"id-{number}")
    pages, after = [], 0
    while after is not None:
        page = own_house.ask("olga", "GET", f"{DATASET}/ledger?after={after}&limit=3").json()
        pages.append(page["entries"])
        after = page["next"]
    entries = [entry for page in pages for entry in page]
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry["request_id"] for entry in entries if entry["kind"] == "reserve"] == ["id-0", "id-1", "id-2"]
    assert all(len(page) <= 3 for page in pages)
    assert not {"payload", "salt", "asked"} & set(entries[-1])


def test_beyond_its_end_the_ledger_is_empty(shared_house):
    told = shared_house.ask("olga", "GET", f"{DATASET}/ledger?after=9007199254740992").json()
    assert told == {"entries": [], "next": None}


@pytest.mark.parametrize("query", ["after=-1", "after=x", "limit=0", "limit=1001", "after=1e3", "after=9" + "9" * 20])
def test_a_page_that_cannot_be_is_refused(shared_house, query):
    response = shared_house.ask("olga", "GET", f"{DATASET}/ledger?{query}")
    assert (response.status_code, response.json()["error"]["code"]) == (422, "malformed")


def test_a_sound_ledger_is_found_sound(shared_house):
    told = shared_house.ask("audrey", "GET", f"{DATASET}/ledger/verify").json()
    assert (told["ok"], told["problem"]) == (True, None)
    assert told["entries"] >= 1
    assert len(told["head"]) == 64


def test_a_ledger_that_somebody_changed_is_found_out(own_house):
    own_house.query("alice")
    with closing(sqlite3.connect(own_house.services.settings.folder / STATE / LEDGER)) as connection, connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE entries SET body = replace(body, '1/8', '1/9')")
    told = own_house.ask("audrey", "GET", f"{DATASET}/ledger/verify").json()
    assert (told["ok"], told["entries"], told["head"]) == (False, None, None)
    assert "ledger" in told["problem"].lower()


def test_metrics_are_text_for_prometheus(own_house):
    own_house.query("alice")
    own_house.query("alice")
    own_house.query("alice", "SELECT nothing")
    response = own_house.ask("audrey", "GET", f"{house.API}/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    for line in (
        'adomnia_questions_total{outcome="answered"} 1',
        'adomnia_questions_total{outcome="replayed"} 1',
        'adomnia_questions_total{outcome="refused"} 1',
    ):
        assert line in response.text


def top_up(opened, **body):
    usual = {"analyst": "carol", "epsilon": "1/2", "reason": "second year", "password": house.PASSWORD}
    return opened.ask("olga", "POST", f"{DATASET}/accounts/top-up", json=usual | body)


def test_a_budget_is_raised_once_with_the_password_and_the_budget_that_was_seen(own_house):
    own_house.services.access.set_password("olga", house.PASSWORD)
    seen = {"seen_epsilon": 1, "seen_delta": 0}
    assert top_up(own_house, **seen, password="wrong horse").status_code == 401
    assert top_up(own_house, seen_epsilon=2, seen_delta=0).status_code == 409
    assert top_up(own_house, **seen, analyst="nobody").status_code == 404
    assert top_up(own_house, **seen, epsilon=-1).status_code == 400
    raised = top_up(own_house, **seen)
    assert raised.json()["given"]["epsilon"] == "1.5"
    assert top_up(own_house, **seen).status_code == 409
    accounts = own_house.ask("olga", "GET", f"{DATASET}/accounts").json()
    given = {each["analyst"]: each["given"]["epsilon"] for each in accounts["analysts"]}
    assert given["carol"] == "1.5"
    whole = accounts["dataset"]["given"]
    more = top_up(own_house, analyst=None, seen_epsilon=whole["epsilon"], seen_delta=whole["delta"])
    assert more.status_code == 200
    newest = own_house.ask("audrey", "GET", f"{DATASET}/ledger").json()["entries"][-1]
    assert (newest["kind"], newest["reason"]) == ("top-up", "second year")


@pytest.mark.parametrize(
    "size", ["1e9999", "1e-9999", 10**400, 1e308, "1/" + "9" * 400], ids=lambda size: str(size)[:8]
)
def test_a_budget_of_no_sensible_size_is_never_the_one_that_was_seen(own_house, size):
    own_house.services.access.set_password("olga", house.PASSWORD)
    for seen in ({"seen_epsilon": size, "seen_delta": 0}, {"seen_epsilon": 1, "seen_delta": size}):
        assert top_up(own_house, **seen).status_code == 409
        assert top_up(own_house, **seen, epsilon=size).status_code == 400
