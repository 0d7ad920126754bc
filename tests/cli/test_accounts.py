"""What was spent is shown in the currency that counts."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import reduce

import pytest

from adomnia.catalog.model import Policy
from adomnia.cli import accounts
from adomnia.cli.accounts import AccountSummary
from adomnia.explaining.promises import Promise
from adomnia.privacy.amounts import show_down
from adomnia.privacy.enclosures import sqrt_down
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.filters import Budget, Filter

PURE = Filter(Budget(epsilon=2))
EITHER = Filter(Budget(epsilon=2, delta=1e-6, approximate=True))
SMALL = reduce(Filter.after, [Pure(0.01)] * 250, Filter(Budget(epsilon=2, delta=1e-6)))
RHO = EITHER.budget.rho
REST = RHO - Fraction(1, 16)


@pytest.mark.parametrize(
    ("account", "shown"),
    [
        (PURE, "all together epsilon 2 epsilon 0 of 2 epsilon 2 0"),
        (PURE.after(Pure(2)), "all together epsilon 2 epsilon 2 of 2 nothing 0"),
        (
            EITHER,
            (
                "all together epsilon 2, delta 0.000001 epsilon 0 of 2 "
                f"epsilon 2 or rho {show_down(RHO)}, and delta 5e-7 0"
            ),
        ),
        (
            SMALL,
            (
                f"all together epsilon 2, delta 0.000001 rho 0.0125 of {show_down(RHO)} "
                f"one question at epsilon {show_down(SMALL.left().largest_question)}, or several smaller ones 0"
            ),
        ),
        (
            EITHER.after(Concentrated(0.0625)),
            (
                f"all together epsilon 2, delta 0.000001 rho 0.0625 of {show_down(RHO)} rho {show_down(REST)}, and "
                f"delta 5e-7: one question at epsilon {show_down(sqrt_down(2 * REST))}, or several smaller ones 0"
            ),
        ),
    ],
)
def test_an_account_is_told_in_epsilon_while_that_is_what_it_is_held_to(account, shown, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")
    accounts.print_budgets([AccountSummary(None, account, 0)])
    assert shown in [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    record = accounts.as_record(AccountSummary(None, account, 0))
    assert (record["spent"]["epsilon"] is None) == ("Spent: rho" in record["says"])


def test_the_record_of_an_account_is_exact(capsys):
    accounts.print_budgets_json([AccountSummary("alice", PURE.after(Pure(0.7)), 3)])
    (record,) = json.loads(capsys.readouterr().out)
    assert record["spent"] == {"epsilon": "7/10", "rho": "49/200", "delta": "0"}
    assert record["left"]["epsilon"] == "13/10"
    assert (record["analyst"], record["answers"]) == ("alice", 3)
    assert record["policy"] is None


@pytest.mark.parametrize(
    ("policy", "record"),
    [
        (
            Policy(ceiling=Fraction(1, 2)),
            ("on_demand", "1/2", None, None, "The analyst names the price of each question, at most epsilon 0.5."),
        ),
        (
            Policy("equal_split", questions=20),
            ("equal_split", None, "1/10", 13, "Each question costs epsilon 0.1, and 13 are left."),
        ),
        (
            Policy("equal_split", questions=2),
            ("equal_split", None, "1", 1, "Each question costs epsilon 1, and 1 is left."),
        ),
        (
            Policy("equal_split", questions=1),
            ("equal_split", None, None, 0, "Nothing is left to pay for a question."),
        ),
    ],
)
def test_the_record_of_an_account_says_what_its_policy_means_now(policy, record):
    found = accounts.as_record(AccountSummary("alice", PURE.after(Pure(0.7)), 3, policy))["policy"]
    assert found == dict(zip(("name", "ceiling", "next_price", "questions", "says"), record, strict=True))


def test_policies_are_told_below_the_budgets_if_there_are_any(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    plain, whole = AccountSummary("alice", PURE, 0, Policy()), AccountSummary(None, PURE, 0)
    accounts.print_budgets([plain, whole])
    assert "Policy" not in capsys.readouterr().out
    accounts.print_budgets([plain, AccountSummary("bob", PURE, 0, Policy("geometric", spend=Fraction(1, 2))), whole])
    page = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "Who Policy The next question" in page
    assert "alice on_demand The analyst names the price of each question." in page
    told = (
        "bob geometric The next question costs epsilon 1, 50% of what is left; 7 such questions use up 99% of the rest."
    )
    assert " ".join(page[-2:]) == told


def test_what_promises_are_about_is_said_once(capsys):
    accounts.print_promises([Promise("alice", "First."), Promise("alice", "Second."), Promise("bob", "Third.", True)])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[2:5] == [["alice", "First."], ["Second."], ["bob", "Warning:", "Third."]]


def test_one_search_for_keys_leaves_the_rest_of_epsilon_for_counts(hospital, typed):
    catalog = hospital / "catalog.toml"
    small = catalog.read_text().replace("epsilon = 10.0", "epsilon = 1.0", 1)
    catalog.write_text(small.replace("epsilon = 2.0\ndelta = 5e-7", "epsilon = 1.0\ndelta = 1e-6", 1))
    bob = ("--analyst", "bob")
    search = "SELECT eye_color, COUNT(*) FROM people GROUP BY eye_color", "--epsilon", "0.1", "--delta", "1e-7"
    assert typed("sql", hospital, *search, *bob)[0] == 0
    for least in (20, 40, 60):
        question = f"SELECT COUNT(*) FROM people WHERE age > {least}", "--epsilon", "0.3"
        assert typed("sql", hospital, *question, *bob)[0] == 0
    question = "SELECT COUNT(*) FROM people", "--epsilon", "0.000001"
    code, _, complained = typed("sql", hospital, *question, *bob)
    assert (code, "is more than is left (epsilon 0 or rho 0, and delta 4e-7)" in complained) == (2, True)
    _, account, simultaneous = json.loads(typed("budget", hospital, "--format", "json")[1])
    said = "Spent: epsilon 1 of 1 and delta 1e-7 of 5e-7. Left: nothing."
    assert (account["says"], account["spent"]["epsilon"]) == (simultaneous["says"], "1") == (said, "1")
    assert typed("ledger", "verify", hospital)[0] == 0


def test_a_split_budget_pays_for_its_questions_and_for_no_other(hospital, typed):
    catalog = hospital / "catalog.toml"
    split = 'epsilon = 2.0\npolicy = "equal_split"\nquestions = 3\n'
    catalog.write_text(catalog.read_text().replace('epsilon = 2.0\npolicy = "on_demand"\n', split, 1))
    for least in (20, 40, 40, 60):  # the third is the second once more, and free
        assert typed("sql", hospital, f"SELECT COUNT(*) FROM people WHERE age > {least}")[0] == 0
    code, _, complained = typed("sql", hospital, "SELECT COUNT(*) FROM people")
    assert (code, "has no price left under the policy equal_split" in complained) == (2, True)
    code, _, complained = typed("sql", hospital, "SELECT COUNT(*) FROM people", "--epsilon", "0.1")
    assert (code, "leave --epsilon, --rho and --error out" in complained) == (2, True)
    alice = json.loads(typed("budget", hospital, "--format", "json")[1])[0]
    assert (alice["answers"], alice["policy"]["questions"]) == (3, 0)
    assert alice["spent"]["epsilon"] == str(3 * Fraction(666_666_666_666, 10**12))
