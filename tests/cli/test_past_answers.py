"""What was paid for before, from the command line."""

from __future__ import annotations

import json

import pytest

COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture(scope="module")
def asked(example, tmp_path_factory):
    """A folder in which alice asked three times, and bob once for values that nobody declared."""
    import shutil

    from adomnia.session.curator import open_folder

    folder = shutil.copytree(example, tmp_path_factory.mktemp("asked") / "hospital")
    with open_folder(folder) as curator:
        alice, bob = curator.session("alice"), curator.session("bob")
        for name, epsilon in (("one", 0.1), ("two", 0.2)):
            alice.sql(COUNT, epsilon=epsilon, request_id=name)
        alice.batch([COUNT, "SELECT AVG(age) AS a FROM people"], epsilon=0.1, request_id="three")
        bob.sql("SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY 1", rho=0.02, delta=1e-9, request_id="found")
    return folder


def test_a_table_says_what_was_asked_and_what_it_cost(asked, typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, printed, complained = typed("answers", asked)
    assert (code, complained) == (0, "")
    lines = [line.split() for line in printed.splitlines()]
    assert ["one", "1", "epsilon", "0.1", *COUNT.split()] in lines
    assert [*["SELECT", "AVG(age)", "AS", "a", "FROM", "people"]] in lines
    assert printed.rstrip().endswith("--after three")
    assert "rho 0.02, delta 1e-9" in typed("answers", asked, "--analyst", "bob")[1]


def test_pages_follow_each_other(asked, typed):
    def page(*options):
        return json.loads(typed("answers", asked, "--format", "json", *options)[1])

    first, second = page("--limit", "2"), page("--limit", "2", "--after", "two")
    assert [past["request_id"] for past in first + second] == ["one", "two", "three"]
    assert first + second == page()
    assert page("--after", "three") == []
    assert set(first[0]) == {"request_id", "questions", "version", "cost", "receipt"}
    assert "--after" not in typed("answers", asked, "--after", "three")[1]


def test_a_page_begins_after_an_answer_of_the_same_analyst(asked, typed):
    code, printed, complained = typed("answers", asked, "--after", "found")
    assert (code, printed) == (2, "")
    assert "Request 'found' has no answer of yours" in complained


def test_where_nobody_has_asked_there_is_none(hospital, typed):
    assert typed("answers", hospital, "--format", "json")[1] == "[]\n"
