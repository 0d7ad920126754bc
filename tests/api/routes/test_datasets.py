"""What is public to those it is for."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.api.access import Role
from adomnia.errors import Unavailable
from adomnia.ledger.chain import damage_refusal
from adomnia.ledger.schema import explain_error
from adomnia.session.session import LocalSession
from kit import house
from kit.waiting import wait_until

API, DATASET = house.API, house.DATASET


def test_health_says_that_it_is_there_and_nothing_else(shared_house):
    response = shared_house.ask(None, "GET", f"{API}/health")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_ready_says_whether_questions_can_be_answered_and_if_not_why(own_house, tmp_path):
    readiness = own_house.services.readiness
    readiness.check()
    readiness.tell()
    response = own_house.ask(None, "GET", f"{API}/ready")
    assert (response.status_code, response.json()) == (200, {"status": "ready"})
    with own_house.services.dataset.curator() as curator:
        curator.engine.close()
        curator.ledger.close()
        curator.ledger._writer.trouble = Unavailable("The ledger", "is at /secret/path", "mend it")
    readiness.check()
    readiness.tell()
    response = own_house.ask(None, "GET", f"{API}/ready")
    error = response.json()["error"]
    assert (response.status_code, error["code"], response.headers["retry-after"]) == (503, "not_ready", "1")
    assert error["why"] == "is not ready: the ledger cannot be used; the index is not open"
    assert own_house.ask(None, "GET", f"{API}/health").status_code == 200


def test_trouble_of_the_ledger_is_a_503_on_every_route_that_needs_it(own_house):
    with own_house.services.dataset.curator() as curator:
        curator.ledger._writer.trouble = Unavailable("The ledger", "is full", "free space")
        curator.ledger._writer._blocked = True
    paid = own_house.query("alice")
    routes = [("alice", f"{DATASET}/budget"), ("olga", f"{DATASET}/accounts"), ("audrey", f"{DATASET}/ledger")]
    replies = (paid, *(own_house.ask(name, "GET", path) for name, path in routes))
    assert {(reply.status_code, reply.headers["retry-after"]) for reply in replies} == {(503, "1")}
    # What is wrong is for owners, auditors and the log; an analyst learns that something is.
    whys = [reply.json()["error"]["why"] for reply in replies]
    assert whys == ["is not available", "is not available", "is full", "is full"]
    assert own_house.log.getvalue().count("The ledger is full. Fix: free space.") == 2


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_a_ledger_that_nobody_asks_is_found_out_and_over_by_itself(own_house, suffix):
    readiness = own_house.services.readiness

    def status() -> int:
        readiness.check()
        readiness.tell()
        return own_house.ask(None, "GET", f"{API}/ready").status_code

    with own_house.services.dataset.curator() as curator:
        own_house.query("alice")
        names = []
        curator.ledger.report_errors(names.append)
        Path(f"{curator.ledger.place.path}{suffix}").unlink()
        assert status() == 503
        wait_until(lambda: curator.ledger.trouble is None)  # nobody asks
        assert status() == 200
        assert set(names) == {"ESTALE"}
        assert own_house.query("alice").status_code == 200
        curator.ledger.verify()


def test_metrics_are_told_while_the_ledger_is_in_trouble_without_its_budget(own_house):
    told = own_house.ask("audrey", "GET", f"{API}/metrics").text
    assert "adomnia_budget_left" in told
    with own_house.services.dataset.curator() as curator:
        curator.ledger._writer.trouble = Unavailable("The ledger", "is full", "free space")
        curator.ledger._writer._blocked = True
    reply = own_house.ask("audrey", "GET", f"{API}/metrics")
    assert reply.status_code == 200
    assert "adomnia_catalog_version" in reply.text
    assert "adomnia_budget" not in reply.text


def test_an_analyst_is_not_told_where_a_ledger_is_damaged(own_house, monkeypatch):
    faults = [
        damage_refusal("was changed: entry 17 does not follow from the one before it"),
        explain_error(damage_refusal("lost or changed entry 17")),
        explain_error(OSError(28, "x", "/secret/ledger.sqlite")),
    ]
    said = []

    def broken(*_arguments, **_named):
        raise fault

    monkeypatch.setattr(LocalSession, "sql", broken)
    monkeypatch.setattr(LocalSession, "budget", broken)
    for fault in faults:
        said += [own_house.query("alice"), own_house.ask("alice", "GET", f"{DATASET}/budget")]
        assert json.dumps(str(fault))[1:-1] in own_house.log.getvalue()
    fix = "tell the owner, and ask again later"
    wanted = {"code": "unavailable", "what": "The ledger", "why": "is not available", "fix": fix}
    assert [(reply.status_code, wanted.items() <= reply.json()["error"].items()) for reply in said] == [(503, True)] * 6


def test_a_ledger_that_is_only_busy_says_so_to_anybody(own_house, monkeypatch):
    def busy(*_arguments, **_named):
        raise Unavailable("The ledger", "has too many requests waiting", "ask again in a moment", code="busy")

    monkeypatch.setattr(LocalSession, "sql", busy)
    assert own_house.query("alice").json()["error"]["why"] == "has too many requests waiting"


def test_everybody_sees_the_dataset(shared_house):
    for name in house.PEOPLE:
        told = shared_house.ask(name, "GET", f"{API}/datasets").json()
        assert told == {"datasets": [{"name": "hospital", "version": 1, "problem": None}]}


def test_only_the_owner_hears_that_the_catalog_on_disk_is_not_served(own_house, monkeypatch):
    monkeypatch.setattr(own_house.services.dataset, "problem", "The catalog is wrong.")
    told = {
        name: own_house.ask(name, "GET", f"{API}/datasets").json()["datasets"][0]["problem"] for name in house.PEOPLE
    }
    assert told == {name: "The catalog is wrong." if name == "olga" else None for name in house.PEOPLE}


def test_the_catalog_is_for_all_roles_and_names_no_file(shared_house):
    for name in ("alice", "olga", "audrey"):
        response = shared_house.ask(name, "GET", f"{DATASET}/catalog")
        assert {table["name"] for table in response.json()["tables"]} == {"people", "visits", "cities"}
        assert ".parquet" not in response.text


def test_another_dataset_is_not_there_for_anybody(shared_house):
    for name, path in (("alice", "budget"), ("olga", "accounts"), ("audrey", "ledger"), ("alice", "catalog")):
        response = shared_house.ask(name, "GET", f"{API}/datasets/other/{path}")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "unknown_dataset")


def test_an_analyst_whom_the_catalog_does_not_name_learns_no_more_than_that(own_house):
    own_house.services.access.add_user("zoe", Role.ANALYST)
    own_house.tokens["zoe"] = own_house.services.access.create_token("zoe", "", None)[0]
    assert own_house.ask("zoe", "GET", f"{API}/datasets").json() == {"datasets": []}
    here = own_house.ask("zoe", "GET", f"{DATASET}/catalog")
    elsewhere = own_house.ask("zoe", "GET", f"{API}/datasets/other/catalog")
    assert (here.status_code, elsewhere.status_code) == (404, 404)
    assert house.error_of(here) == house.error_of(elsewhere)
    assert len(here.content) == len(elsewhere.content)
    assert own_house.query("zoe").status_code == 404


def test_the_budget_is_one_s_own_and_the_dataset_s(own_house):
    before = own_house.ask("alice", "GET", f"{DATASET}/budget").json()
    own_house.query("alice")
    after = own_house.ask("alice", "GET", f"{DATASET}/budget").json()
    for whose in ("personal", "dataset"):
        assert Fraction(before[whose]["left"]["epsilon"]) - Fraction(after[whose]["left"]["epsilon"]) == Fraction(1, 8)
    others = own_house.ask("bob", "GET", f"{DATASET}/budget").json()
    assert others["personal"]["spent"]["epsilon"] == "0"
