from __future__ import annotations

import re
from urllib.parse import urlencode, urlsplit

import pytest

from kit import hospital, house
from kit.house import COUNT, DATASET

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
LINK = re.compile(r"http://[^<\s]*(/shared/share_[0-9a-f]{16}_[0-9a-f]{64})")
ASKED = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


@pytest.fixture
def signed(own_house):
    """The house, and who signs in on a visit."""
    for name in house.PEOPLE:
        own_house.services.access.set_password(name, house.PASSWORD)
    return own_house


def post(own, name, path, **fields):
    cookie, csrf = own.visit(name)
    return own.ask(None, "POST", path, content=urlencode({"csrf": csrf, **fields}), headers={**FORM, **cookie})


def share(own, request_id="first", name="alice") -> str:
    """The path of a new link."""
    return LINK.findall(post(own, name, "/answers/share", request_id=request_id).text)[0]


def left(own, name) -> tuple[str, str]:
    budgets = own.ask(name, "GET", f"{DATASET}/budget").json()
    return budgets["personal"]["left"]["epsilon"], budgets["dataset"]["left"]["epsilon"]


def rows(own, name, request_id):
    return own.ask(name, "GET", f"{DATASET}/answers/{request_id}").json()["columns"]


def test_another_analyst_is_told_first_pays_alone_and_gets_the_same_numbers(signed):
    signed.query("alice", ASKED, epsilon=0.125, request_id="first")
    path, before = share(signed), left(signed, "bob")
    told = signed.ask("bob", "GET", path)
    assert told.status_code == 200
    assert "alice shares an answer with you" in told.text
    assert ASKED in told.text
    assert "epsilon 100000" in told.text
    assert "your own budget alone" in told.text
    assert left(signed, "bob") == before
    paid = post(signed, "bob", path)
    assert paid.status_code == 303
    taken = urlsplit(paid.headers["location"]).path.removeprefix("/answers/")
    assert rows(signed, "bob", taken) == rows(signed, "alice", "first")
    after = left(signed, "bob")
    assert float(before[0]) - float(after[0]) == pytest.approx(0.125)
    assert after[1] == before[1]


def test_nothing_of_the_answer_is_shown_before_it_is_paid(signed):
    signed.query("alice", ASKED, epsilon=20, request_id="first")
    told = signed.ask("bob", "GET", share(signed)).text
    values = {
        str(value) for column in rows(signed, "alice", "first") if column["name"] == "n" for value in column["values"]
    }
    text = re.sub(r"\d+ \w{3} \d{4}, \d\d:\d\d", " ", re.sub(r"<[^>]*>", " ", told))  # when it was is no answer
    shown = set(re.findall(r"(?<![\w.#/-])\d+(?![\w.])", text))
    assert not (values - {"0", "1", "20"}) & shown


def test_who_pays_twice_pays_once(signed):
    signed.query("alice", ASKED, request_id="first")
    path = share(signed)
    first = post(signed, "bob", path).headers["location"]
    spent = left(signed, "bob")
    assert post(signed, "bob", path).headers["location"] == first
    assert left(signed, "bob") == spent
    again = signed.ask("bob", "GET", path).text
    assert "You have this answer already" in again
    assert first in again


def test_who_made_a_link_sees_it_as_theirs_and_pays_nothing(signed):
    signed.query("alice", ASKED, request_id="first")
    path, before = share(signed), left(signed, "alice")
    assert "This link is yours" in signed.ask("alice", "GET", path).text
    assert post(signed, "alice", path).headers["location"] == "/answers/first"
    assert left(signed, "alice") == before


def test_links_are_listed_and_end_for_good(signed):
    signed.query("alice", ASKED, request_id="first")
    path = share(signed)
    listed = signed.ask("alice", "GET", "/answers").text
    assert "Links you have made" in listed
    assert path not in listed
    (link,) = signed.services.access.shares("alice")
    assert "is none of yours" in post(signed, "bob", "/answers/share/end", link=link.id).text
    assert signed.ask("bob", "GET", path).status_code == 200
    assert "has ended" in post(signed, "alice", "/answers/share/end", link=link.id).text
    ended, unknown = (signed.ask("bob", "GET", each) for each in (path, "/shared/share_" + "0" * 16 + "_" + "0" * 64))
    assert ended.status_code == unknown.status_code == 404
    assert ended.text == unknown.text
    assert post(signed, "bob", path).status_code == 404


def test_only_ones_own_answers_are_shared(signed):
    signed.query("alice", ASKED, request_id="first")
    for request_id in ("first", "none", "", "alice\nfirst"):
        refused = post(signed, "bob", "/answers/share", request_id=request_id)
        assert refused.status_code == 404
        assert not LINK.search(refused.text)
    assert signed.services.access.shares("bob") == []


def test_what_was_measured_afresh_is_not_shared(signed):
    signed.query("alice", ASKED, request_id="first", replay=False)
    assert "afresh" in post(signed, "alice", "/answers/share", request_id="first").text


def test_who_cannot_pay_is_told_why_and_pays_nothing(signed):
    signed.query("alice", ASKED, epsilon=5, request_id="first")
    path, before = share(signed), left(signed, "carol")
    told = signed.ask("carol", "GET", path)
    assert told.status_code == 200
    assert "is more than is left" in told.text
    assert "see the answer</button>" not in told.text
    refused = post(signed, "carol", path)
    assert refused.status_code == 402
    assert left(signed, "carol") == before


def test_another_version_of_the_data_is_another_answer(signed):
    signed.query("alice", COUNT, request_id="first")
    path, folder = share(signed), signed.services.settings.folder
    (folder / "catalog.toml").write_text(hospital.CATALOG.replace("version = 1", "version = 2"))
    signed.services.dataset.reload()
    told = signed.ask("bob", "GET", path)
    assert "is of version 1 of the data" in told.text
    assert 'href="/ask?sql=' in told.text
    before = left(signed, "bob")
    assert post(signed, "bob", path).status_code == 400
    assert left(signed, "bob") == before


def test_links_need_the_csrf_token_of_a_visit(signed):
    signed.query("alice", ASKED, request_id="first")
    path, (cookie, _) = share(signed), signed.visit("bob")
    before = left(signed, "bob")
    for target in (path, "/answers/share", "/answers/share/end"):
        wrong = signed.ask(None, "POST", target, content="csrf=wrong&request_id=first", headers={**FORM, **cookie})
        assert wrong.status_code == 403
        assert signed.ask("bob", "POST", target, content="request_id=first", headers=FORM).status_code == 403
    assert left(signed, "bob") == before


def test_a_name_and_a_question_that_are_scripts_do_not_run(signed):
    sql = "SELECT COUNT(*) AS n FROM people WHERE sex = '<script>alert(1)</script>'"
    signed.query("alice", sql, request_id="<script>")
    path = share(signed, "<script>")
    for name in ("alice", "bob"):
        page = signed.ask(name, "GET", path).text
        assert "<script>" not in page
        assert "&lt;script&gt;alert(1)" in page
