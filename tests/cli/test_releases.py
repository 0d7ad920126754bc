"""Publishing from the command line: by the owner or an analyst, into the dataset and elsewhere."""

from __future__ import annotations

import json

import pytest

import adomnia
from adomnia.session.curator import LEDGER, STATE

QUESTION = "SELECT * FROM marginals((SELECT sex FROM people))"


def test_the_owner_publishes_and_everybody_sees_it(hospital, typed, tmp_path):
    out = tmp_path / "out"
    code, printed, complained = typed("release", hospital, "sexes", QUESTION, "--epsilon", "0.5", "--out", out)
    assert (code, complained) == (0, "")
    assert "Release sexes: " in printed
    assert "Ask it for nothing: SELECT COUNT(*) FROM releases.sexes." in printed
    assert adomnia.open_release(out).about["made_by"] == "the owner"
    _, printed, _ = typed("releases", hospital)
    assert "releases.sexes" in printed
    assert "epsilon 0.5" in printed
    _, printed, _ = typed("sql", hospital, "SHOW TABLES")
    assert "releases.sexes" in printed
    _, printed, _ = typed("budget", hospital)
    assert "the dataset alone paid for releases: sexes epsilon 0.5" in " ".join(printed.split())
    _, printed, _ = typed("check", hospital)
    assert "and releases so far add up to epsilon" in " ".join(printed.split())


def test_a_release_takes_what_any_question_takes(hospital, typed):
    values = ("--parameter", "least=40", "--confidence", "0.9")
    text = "SELECT * FROM marginals((SELECT sex FROM people WHERE age >= :least))"
    code, _, complained = typed("release", hospital, "older", text, "--epsilon", "0.5", *values)
    assert (code, complained) == (0, "")
    listed = " ".join(typed("releases", hospital, "--format", "json")[1].split())
    assert "age >= 40" in listed
    assert "releases.older" in typed("releases", hospital)[1]


def test_programs_read_json(hospital, typed):
    _, printed, _ = typed("release", hospital, "sexes", QUESTION, "--epsilon", "0.5", "--format", "json")
    made = json.loads(printed)
    assert (made["name"], made["columns"], made["paid_by"]) == ("sexes", ["sex"], "the dataset")
    _, printed, _ = typed("releases", hospital, "--format", "json")
    (listed,) = json.loads(printed)
    assert (listed["name"], listed["question"], listed["receipt"]) == ("sexes", QUESTION, made["receipt"])


def test_an_analyst_buys_one_for_themselves(hospital, typed):
    paid = ("--epsilon", "0.5", "--analyst", "bob")
    code, _, complained = typed("release", hospital, "mine", QUESTION, *paid)
    assert code != 0
    assert "buy it for yourself (--private)" in complained
    code, printed, _ = typed("release", hospital, "mine", QUESTION, *paid, "--private")
    assert (code, "Release mine" in printed) == (0, True)
    assert "releases.mine" in typed("releases", hospital, "--analyst", "bob")[1]
    assert "releases.mine" not in typed("releases", hospital, "--analyst", "alice")[1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--private",), "add --analyst NAME"),
        (("--out", "."), "is there already"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_paid(hospital, typed, options, says):
    code, _, complained = typed("release", hospital, "sexes", QUESTION, "--epsilon", "0.5", *options)
    assert code != 0
    assert says in complained
    assert "No rows." in typed("releases", hospital)[1]


def test_a_release_is_asked_for_nothing_and_answers_private_questions_if_that_is_said(hospital, typed):
    typed("release", hospital, "sexes", QUESTION, "--epsilon", "0.5")
    code, printed, complained = typed("sql", hospital, "SELECT sex, COUNT(*) AS n FROM releases.sexes GROUP BY sex")
    assert (code, complained) == (0, "")
    assert "From the release sexes" in " ".join(printed.split())
    private = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    code, free, _ = typed("sql", hospital, private, "--from-release", "--format", "json")
    answered = json.loads(free)
    assert (code, answered["receipt"], answered["cost"]) == (0, None, None)
    code, _, complained = typed("sql", hospital, "SELECT AVG(salary) FROM people", "--from-release")
    assert code != 0
    assert "sexes has no column salary" in " ".join(complained.split())
    _, printed, _ = typed("price", hospital, private, "--epsilon", "0.1")
    assert "pass --from-release" in " ".join(printed.split())


def test_check_says_when_releases_cannot_be_counted(hospital, typed):
    typed("release", hospital, "sexes", QUESTION, "--epsilon", "0.5")
    (hospital / STATE / LEDGER).write_bytes(b"no ledger")
    code, printed, _ = typed("check", hospital)
    assert code == 0
    assert "Releases so far are not counted" in " ".join(printed.split())


def test_preview_rows_are_shown_with_what_they_are(hospital, typed):
    code, printed, complained = typed("preview", hospital, "people", "--rows", "3")
    assert (code, complained) == (0, "")
    assert "made up from the catalog alone" in " ".join(printed.split())
    _, printed, _ = typed("preview", hospital, "people", "--rows", "3", "--format", "json")
    assert len(json.loads(printed)["rows"]) == 3
