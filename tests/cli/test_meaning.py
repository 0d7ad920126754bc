"""What an epsilon means is told from the formulas, whatever is typed."""

from __future__ import annotations

import json
import re
from math import ceil, e, exp, log
from pathlib import Path

import pytest

from adomnia.accounting.meaning import odds_factor, posterior
from adomnia.cli.meaning import LIMITS
from adomnia.explaining.promises import format_factor, format_probability

PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")


def rows(heading):
    below = PAGE.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in below]


def told(typed, *arguments):
    code, printed, complained = typed("meaning", *arguments)
    assert (code, complained) == (0, "")
    return " ".join(printed.split())


def recorded(typed, *arguments):
    return json.loads(typed("meaning", *arguments, "--format", "json")[1])


def test_an_epsilon_is_told_for_a_person_and_for_a_household(typed):
    page = told(typed, 1)
    for words in (
        "What is epsilon 1 for one person is epsilon 4 for a household of 4.",
        "not in the data names at most 2.72 in 100 of those who are.",
        "1 in 100 2.67 in 100 35.5 in 100",
        "50 in 100 73.1 in 100 98.2 in 100",
        "The odds of anything about one person grow at most 2.72 times, about a household of 4 at most 54.6 times.",
        LIMITS,
    ):
        assert words in page


def test_with_a_delta_beliefs_are_those_after_a_test(typed):
    page = told(typed, 0.5, "--delta", "1e-6", "--household", 3, "--prior", 0.2)
    assert "What is epsilon 0.5 and delta 0.000001 for one person is epsilon 1.5 and delta" in page
    assert "once that test has named you" in page
    assert "odds" not in page
    person = recorded(typed, 0.5, "--delta", "1e-6", "--prior", 0.2)["person"]
    found = exp(0.5) * 0.01 + 1e-6
    assert person["found"] == pytest.approx(found)
    assert person["beliefs"] == [{"before": 0.2, "after": pytest.approx(0.2 * found / (0.2 * found + 0.8 * 0.01))}]


def test_the_record_is_exact_and_has_every_prior(typed):
    found = recorded(typed, "0.1", "--household", 5, "--prior", 0.1, "--prior", 0.9)
    assert (found["person"]["people"], found["person"]["epsilon"], found["person"]["delta"]) == (1, "1/10", "0")
    assert (found["household"]["people"], found["household"]["epsilon"]) == (5, "1/2")
    assert found["household"]["odds"] == pytest.approx(e**0.5)
    assert [belief["before"] for belief in found["person"]["beliefs"]] == [0.1, 0.9]


def test_what_promises_a_household_nothing_says_so(typed):
    page = told(typed, 10, "--delta", "1e-6")
    assert "for one person is no promise at all for a household of 4." in page
    assert "1 in 100 50.3 in 100 anything" in page
    assert recorded(typed, 10, "--delta", "1e-6")["household"] is None
    assert told(typed, "1e299", "--household", 1000).endswith(f"grow at most any number of times. {LIMITS}")


def test_odds_beyond_every_float_are_none_for_programs(typed):
    assert recorded(typed, 800)["person"]["odds"] is None
    assert "grow at most any number of times" in told(typed, 800)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["0"], "The guarantee's epsilon must be > 0, got 0."),
        (["nan"], "The guarantee's epsilon must be a finite number"),
        (["1e301"], "The guarantee's epsilon must be 0 or between"),
        (["x"], "--epsilon 'x' is not a number."),
        (["1", "--delta", "1"], "The guarantee's delta must be >= 0 and < 1, got 1."),
        (["1", "--household", "0"], "--household '0' is not a whole number from 1 to 1,000,000."),
        (["1", "--household", "2.5"], "--household '2.5' is not a whole number from 1 to 1,000,000."),
        (["1", "--household", "1e999999999"], "--household '1e999999999' is not a whole number"),
        (["1", "--household", "inf"], "--household 'inf' is not a whole number"),
        (["1", "--prior", "1"], "--prior '1' is not between 0 and 1."),
    ],
)
def test_what_means_nothing_is_refused(typed, arguments, complaint):
    code, printed, complained = typed("meaning", *arguments)
    assert (code, printed) == (2, "")
    assert complained.startswith(f"Refusal: {complaint}")


def test_the_page_shows_what_the_command_prints(typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "110")
    written = re.search(r"\$ adomnia meaning 1\n(.*?)```", PAGE, re.DOTALL)[1]
    _, printed, _ = typed("meaning", 1)
    assert [line.rstrip() for line in printed.splitlines()] == written.splitlines()


def test_the_table_of_epsilons_on_the_page_is_right():
    found = rows("epsilon")
    assert len(found) == 6
    for epsilon, odds, rare, even, household in found:
        size = float(epsilon)
        assert odds == format_factor(odds_factor(size))
        assert (rare, even) == (format_probability(posterior(0.01, size)), format_probability(posterior(0.5, size)))
        assert household == f"epsilon {4 * size:g}"


def test_the_table_of_shares_on_the_page_is_right():
    found = rows("`spend`")
    assert len(found) == 4
    for spend, keep, questions, noise in found:
        rest = 1 - float(spend)
        number = ceil(log(100) / -log(rest))
        assert (float(keep), int(questions)) == (rest, number)
        assert noise == f"{rest ** (1 - number):.0f} times"
