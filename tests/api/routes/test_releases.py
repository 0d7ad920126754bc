"""Releases over HTTP: made once by who may, listed for all, taken as an archive."""

from __future__ import annotations

import re

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


def test_no_reply_tells_whether_somebody_else_has_a_release_of_a_name(own):
    """Of every route and page that takes a name: the same status and the same words, but for the name itself."""
    assert make(own, "bob", release="secret", private=True).status_code == 200
    own.services.access.set_password("alice", house.PASSWORD)
    cookie, csrf = own.visit("alice")

    def tell(name: str) -> list[tuple[int, str]]:
        text = {"sql": f"SELECT COUNT(*) AS n FROM releases.{name}", "epsilon": "1"}
        made = {"sql": f"CREATE TABLE releases.{name} AS {OTHER}", "epsilon": "1"}
        form = {"data": {**text, "csrf": csrf}, "headers": cookie}
        keeping = {**form["data"], "columns": "sex", "keep": "release", "release-name": name, "pay": "epsilon"}
        replies = [
            *(own.ask("alice", "GET", f"{PATH}/{name}{end}") for end in ("", "/archive")),
            *(own.ask("alice", "POST", f"{house.DATASET}/{way}", json=text) for way in ("query", "price", "explain")),
            *(own.client.request("GET", f"/releases/{name}{end}", headers=cookie) for end in PAGES),
            *(own.client.request("POST", path, **form) for path in ("/ask/price", "/ask", "/ask/mock")),
            own.client.request("POST", "/methods/marginals/price", data=keeping, headers=cookie),
            own.ask("alice", "POST", f"{house.DATASET}/price", json=made),
        ]
        return [(each.status_code, normalise(each.text, name)) for each in replies]

    assert tell("secret") == tell("absent")
    taken = [make(own, "alice", release=name) for name in ("secret", "absent")]
    assert [each.status_code for each in taken] == [200, 200]


PAGES = ("", "/archive", "/figure.svg", "/quality.svg")


def normalise(text: str, name: str) -> str:
    """A reply without its name, and without what is drawn anew for every reply."""
    return re.sub(r"[0-9a-f]{16,}|\d\d:\d\d:\d\d|[\d.]+e?-?\d*", "", text.replace(name, "NAME"))


def test_create_table_is_a_question_like_others(own):
    told = own.query("alice", f"CREATE TABLE releases.ages AS {QUESTION}", epsilon="1").json()
    assert told["columns"][0]["values"] == ["releases.ages"]
    assert own.ask("alice", "GET", f"{PATH}/ages").status_code == 200
    assert code(own.query("bob", f"CREATE TABLE releases.more AS {QUESTION}", epsilon="1")) == (403, "may_not_publish")


@pytest.mark.parametrize("name", ["olga", "audrey"])
def test_owners_and_auditors_make_none_and_read_what_is_published(own, name):
    assert code(make(own, name)) == (403, "role")
    make(own, "alice")
    make(own, "bob", "mine", private=True)
    assert [each["name"] for each in own.ask(name, "GET", PATH).json()["releases"]] == ["ages"]
    assert unpack_archive(own.ask(name, "GET", f"{PATH}/ages/archive").content).name == "ages"
    assert code(own.ask(name, "GET", f"{PATH}/mine")) == (404, "unknown_release")
    assert code(own.ask(name, "GET", f"{PATH}/mine/archive")) == (404, "unknown_release")
