from __future__ import annotations

import re
from fractions import Fraction

import pytest

from adomnia.catalog.model import Policy
from adomnia.console.budget.page import list_prices
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget, Filter
from kit import hospital, house
from kit.house import CANARY

POLICIES = """
[analysts.alice]
epsilon = 2
policy = "equal_split"
questions = 8

[analysts.carol]
epsilon = 2
policy = "geometric"
spend = 0.25
"""
CATALOG = re.sub(r"\[analysts.alice\]\nepsilon = 100_000\n", "", hospital.CATALOG)
CATALOG = re.sub(r"\[analysts.carol\]\nepsilon = 1\n", POLICIES, CATALOG)


@pytest.fixture(scope="module")
def bound_house(tmp_path_factory):
    """A house in which policies set the prices of alice and carol."""
    with house.opened(tmp_path_factory.mktemp("bound"), CATALOG) as opened:
        yield opened


def page(own, name, path="/budget"):
    reply = own.ask(name, "GET", path)
    assert reply.status_code == 200
    assert CANARY not in reply.text
    return reply.text


def test_nothing_spent_yet(own_house):
    text = page(own_house, "carol")
    assert "Nothing was paid yet" in text
    assert "nothing was paid yet" in text
    assert "Ask the first question" in text
    assert "You name the price" in text


def test_what_was_paid_is_drawn_and_listed_newest_first(own_house):
    for k, epsilon in enumerate((0.5, 0.25)):
        own_house.query("carol", f"SELECT COUNT(*) AS n{k} FROM people", epsilon=epsilon)
    text = page(own_house, "carol")
    assert re.findall(r"AS n(\d)", text) == ["1", "0"]
    assert '<path class="step" d="M0 0.0H' in text
    assert "0.25 left</text>" in text
    assert "2 questions so far" in text
    assert "pays for 1 more like the last one" in text
    assert re.findall(r'<td class="num soft wide-only">([\d.]+)</td>', text) == ["0.75", "0.5"]


def test_what_has_no_answer_was_paid_too(own_house):
    with own_house.services.dataset.curator() as curator:
        curator.ledger.reserve("carol", "lost", b"plan", Pure(0.5))
    text = page(own_house, "carol")
    assert "no answer: it failed, or is being measured" in text
    assert "0.5 left</text>" in text


def test_everything_spent(own_house):
    own_house.query("carol", epsilon=1)
    text = page(own_house, "carol")
    assert "Your budget is used up." in text
    assert "0 left</text>" in text
    assert "Nothing is left." in text


def test_an_analyst_who_pays_in_rho(own_house):
    own_house.query("bob", rho=0.5, epsilon=None)
    own_house.query("bob", "SELECT COUNT(*) AS m FROM people", epsilon=1)
    text = page(own_house, "bob")
    assert "because something was paid in rho" in text
    assert "what was left in rho" in text
    assert re.findall(r'<td class="num soft wide-only">([\d.]+)</td>', text) == ["1", "0.5"]
    assert "a test has named" in text


def test_a_policy_of_equal_prices_shows_how_many_are_left(bound_house):
    bound_house.query("alice", epsilon=None)
    text = page(bound_house, "alice")
    assert "each question costs the same" in text
    assert "Each question costs epsilon 0.25, and 7 are left." in text
    assert text.count('class="ahead-bar"') == 7


def test_a_geometric_policy_shows_falling_prices(bound_house):
    text = page(bound_house, "carol")
    assert "25% of what is left" in text
    assert re.findall(r'<td class="num"><span class="eps">.*?</span>([\d.]+)</span></td>', text)[:2] == ["0.5", "0.375"]
    assert '<rect width="75.00%"' in text


@pytest.mark.parametrize(
    ("prior", "shown"), [("1", "1"), ("50", "50"), ("0", "10"), ("100", "10"), ("x", "10"), ("", "10")]
)
def test_somebody_may_choose_what_is_believed_before(shared_house, prior, shown):
    assert f'<p class="big">{shown} in 100</p>' in page(shared_house, "alice", f"/budget?prior={prior}")


def test_a_question_that_is_a_script_does_not_run(own_house):
    own_house.query("alice", "SELECT COUNT(*) AS n FROM people WHERE sex = '<script>'")
    assert "<script>" not in page(own_house, "alice")


ACCOUNT = Filter(Budget(epsilon=2))


def test_nothing_is_ahead_where_the_analyst_names_the_price():
    assert list_prices(Policy("on_demand"), ACCOUNT) == []


def test_equal_prices_end_with_the_budget():
    ahead = list_prices(Policy("equal_split", questions=4), ACCOUNT.after(Pure(0.5)))
    assert [(each.number, each.price, each.left) for each in ahead] == [
        (1, "0.5", "ε 1"),
        (2, "0.5", "ε 0.5"),
        (3, "0.5", "ε 0"),
    ]


def test_geometric_prices_are_shares_of_what_is_left():
    ahead = list_prices(Policy("geometric", spend=Fraction(1, 2)), ACCOUNT)
    assert [each.price for each in ahead[:3]] == ["1", "0.5", "0.25"]
    assert [each.share for each in ahead[:3]] == [1, 0.5, 0.25]
    assert len(ahead) == 12


def test_nothing_is_ahead_of_a_budget_that_is_used_up():
    assert list_prices(Policy("equal_split", questions=4), ACCOUNT.after(Pure(2))) == []
