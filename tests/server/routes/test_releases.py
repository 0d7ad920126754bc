"""Releases over HTTP: made once by who may, listed for all, taken as an archive."""

from __future__ import annotations

import pytest

from adomnia.releases.archive import unpack_archive
from kit import house
from kit.released import OTHER, PUBLISHING, QUESTION

PATH = f"{house.DATASET}/releases"


@pytest.fixture
def own(tmp_path):
    with house.opened(tmp_path / "hospital", PUBLISHING) as opened:
        yield opened


def make(own, name, release="ages", sql=QUESTION, **body):
    return own.ask(name, "POST", PATH, json={"name": release, "sql": sql, "epsilon": "1", **body})


def code(response):
    return response.status_code, response.json()["error"]["code"]


def test_a_release_is_made_listed_and_taken(own):
    told = make(own, "alice")
    assert told.status_code == 200
    assert [column["name"] for column in told.json()["columns"]] == ["sex", "member"]
    assert make(own, "alice").json() == told.json()
    assert own.ask("bob", "GET", PATH).json() == {"releases": [told.json()]}
    assert own.ask("bob", "GET", f"{PATH}/AGES").json() == told.json()
    taken = own.ask("bob", "GET", f"{PATH}/ages/archive")
    assert taken.headers["content-type"] == "application/zip"
    assert unpack_archive(taken.content).about == told.json()["about"]
    with own.services.dataset.curator() as curator:
        assert float(curator.ledger.left(None).epsilon) == 999_999


def test_refusals_have_statuses_of_their_own(own):
    assert code(make(own, "bob")) == (403, "may_not_publish")
    make(own, "alice")
    assert code(make(own, "alice", sql=OTHER)) == (409, "release_taken")
    assert code(make(own, "alice", release="a b")) == (400, "release_name")
    assert code(make(own, "alice", release="other", sql=house.COUNT)) == (400, "no_release")
    assert code(own.ask("alice", "GET", f"{PATH}/nothing")) == (404, "unknown_release")
    assert code(own.ask("alice", "GET", f"{PATH}/nothing/archive")) == (404, "unknown_release")
    assert code(make(own, "carol", release="dear", epsilon="5", private=True)) == (402, "budget")


def test_what_one_bought_others_do_not_see(own):
    assert make(own, "bob", release="mine", private=True).status_code == 200
    assert [each["name"] for each in own.ask("bob", "GET", PATH).json()["releases"]] == ["mine"]
    assert own.ask("alice", "GET", PATH).json() == {"releases": []}
    assert code(own.ask("alice", "GET", f"{PATH}/mine/archive")) == (404, "unknown_release")


def test_create_table_is_a_question_like_others(own):
    told = own.query("alice", f"CREATE TABLE releases.ages AS {QUESTION}", epsilon="1").json()
    assert told["columns"][0]["values"] == ["releases.ages"]
    assert own.ask("alice", "GET", f"{PATH}/ages").status_code == 200
    assert code(own.query("bob", f"CREATE TABLE releases.more AS {QUESTION}", epsilon="1")) == (403, "may_not_publish")


@pytest.mark.parametrize("name", ["olga", "audrey"])
def test_others_than_analysts_ask_elsewhere(own, name):
    assert code(make(own, name)) == (403, "role")
    assert code(own.ask(name, "GET", PATH)) == (403, "role")
