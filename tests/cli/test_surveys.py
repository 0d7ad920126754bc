"""`adomnia survey`: from a question to its results, and what is refused on the way."""

from __future__ import annotations

import json
import stat
from fractions import Fraction

import pytest

from adomnia.survey.store import ReportStore
from adomnia.survey.survey import read_survey
from kit.bits import SeededBits


def told(typed, *arguments):
    code, printed, complained = typed("survey", *arguments)
    assert (code, complained) == (0, "")
    return " ".join(printed.split())


def refused(typed, *arguments):
    code, printed, complained = typed("survey", *arguments)
    assert (code, printed) == (2, "")
    return complained


def make(typed, folder, *options):
    return told(typed, "new", folder, "--question", "Did you cheat?", "--answer", "yes", "--answer", "no", *options)


def fill(folder, people, yes):
    survey, bits = read_survey(folder), SeededBits("people")
    with ReportStore.open(folder, survey) as store:
        for person in range(people):
            store.add(f"{person:032x}", survey.design.randomize(0 if person < yes else 1, bits))


def test_a_survey_is_made_answered_and_read(typed, tmp_path):
    said = make(typed, tmp_path, "--epsilon", "2")
    assert "a local epsilon of 2." in said
    assert "your device sends your answer with probability 88.1%" in said
    fill(tmp_path, 300, 120)
    page = told(typed, "results", tmp_path)
    assert "Did you cheat?" in page
    assert "300 randomised reports. Local epsilon 2, each respondent; no ledger counts it." in page
    assert "Intervals are about those who answered. Nothing here speaks of people who did not answer." in page
    record = json.loads(typed("survey", "results", tmp_path, "--format", "json", "--simultaneous")[1])
    [yes, no] = record["answers"]
    assert yes["interval"][0] <= 0.4 <= yes["interval"][1]
    assert yes["share"] + no["share"] == pytest.approx(1)
    assert (record["reports"], record["inference"]) == (300, "data")
    assert float(Fraction(record["local_epsilon"])) == pytest.approx(2, abs=1e-5)
    assert "random sample of, if they are one" in told(typed, "results", tmp_path, "--population")


def test_the_june_design_is_written_with_its_own_probabilities(typed, tmp_path):
    assert "2.56495" in make(typed, tmp_path, "--truth", "1/2", "--innocuous", "1/12")
    assert read_survey(tmp_path).design.worst_ratio == 13
    assert "epsilon of 0.693148." in make(typed, tmp_path / "warner", "--truth", "2/3")


def test_an_interval_that_says_nothing_says_so(typed, tmp_path):
    make(typed, tmp_path, "--epsilon", "0.1")
    fill(tmp_path, 3, 1)
    assert "anything" in told(typed, "results", tmp_path)


def test_invitations_are_a_file_for_the_owner_alone(typed, tmp_path):
    assert "invitations.txt has 5 tokens" in make(typed, tmp_path, "--invitations", "5")
    path = tmp_path / "invitations.txt"
    tokens = path.read_text().split()
    assert (len(set(tokens)), stat.S_IMODE(path.stat().st_mode)) == (5, 0o600)
    survey = read_survey(tmp_path)
    with ReportStore.open(tmp_path, survey) as store:
        assert store.add(tokens[3], (0,))


def test_a_plan_says_what_an_error_costs_and_the_reverse(typed):
    page = told(typed, "plan", "--categories", 5, "--people", 10000, "--error", "0.02")
    assert (
        "local epsilon of 1.572, each respondent, subset gives each share of those who answer within 2.00 points"
        in page
    )
    record = json.loads(
        typed("survey", "plan", "--people", 1000, "--epsilon", 1, "--population", "--format", "json")[1]
    )
    assert record["inference"] == "population"
    assert record["design"]["name"] == "warner"
    assert "random sample" in told(typed, "plan", "--people", 1000, "--epsilon", 1, "--population")


def test_a_simulation_shows_the_price_of_trusting_nobody(typed):
    page = told(typed, "simulate", "--share", "0.4", "--share", "0.6", "--people", 1000, "--epsilon", "0.693148")
    assert "44.7" in page
    assert "A trusted database counts within 2.0 people at the same epsilon" in page
    assert "costs 22 times the error" in page
    asked = ("simulate", "--share", "1", "--share", "1", "--share", "1", "--people", 99, "--design", "hadamard")
    record = json.loads(typed("survey", *asked, "--repeats", 20, "--format", "json")[1])
    assert record["counts"] == [33, 33, 33]
    assert record["price"] > 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "--people", "10"), "needs either --error or --epsilon"),
        (("plan", "--people", "10", "--error", "0.1", "--epsilon", "1"), "needs either"),
        (("plan", "--people", "0", "--error", "0.1"), "must be from 1"),
        (("plan", "--people", "10", "--error", "0.01", "--population"), "out of reach"),
        (("plan", "--people", "10", "--epsilon", "x"), "is not a number"),
        (("plan", "--people", "10", "--categories", "1", "--epsilon", "1"), "must be from 2"),
        (("simulate", "--share", "1", "--share", "1", "--people", "0"), "must be from 1"),
        (("simulate", "--share", "1", "--people", "10"), "must be from 2"),
        (("simulate", "--share", "1", "--share", "1", "--people", "9", "--design", "coin"), "none that there is"),
        (("simulate", *("--share", "1") * 3, "--people", "9", "--design", "warner"), "is not for 3 answers"),
    ],
)
def test_what_cannot_be_planned_is_refused(typed, arguments, words):
    assert words in refused(typed, *arguments)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", "50"), "must be from 0.001 to 20"),
        (("--epsilon", "much"), "is not a number"),
        (("--innocuous", "1/2"), "give --epsilon instead"),
        (("--truth", "1/2"), "must be > 1/2"),
        (("--truth", "1/0"), "is not a number"),
        (("--truth", "1/2", "--innocuous", "2"), "must be > 0 and < 1"),
        (("--answer", "no"), "different ones"),
        (("--invitations", "-1"), "is not from 0"),
    ],
)
def test_a_survey_that_cannot_be_made_leaves_no_file(typed, tmp_path, options, words):
    asked = ("new", tmp_path / "made", "--question", "Why?", "--answer", "yes", "--answer", "no")
    assert words in refused(typed, *asked, *options)
    assert not (tmp_path / "made").exists()


def test_an_option_by_its_former_name_is_refused_with_the_name_of_now(typed, tmp_path):
    said = refused(typed, "results", tmp_path, "--together")
    assert "--together has another name. Fix: write --simultaneous" in said


def test_results_and_servers_need_a_survey(typed, tmp_path):
    assert "has no survey.toml" in refused(typed, "results", tmp_path)
    assert "has no survey.toml" in refused(typed, "serve", tmp_path, "--port", "0")
    make(typed, tmp_path)
    assert "has no reports yet" in refused(typed, "results", tmp_path)
    assert "would travel in the open" in refused(typed, "serve", tmp_path, "--host", "0.0.0.0")
