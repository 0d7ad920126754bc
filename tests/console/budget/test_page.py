from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from adomnia.catalog.model import Policy
from adomnia.console.budget.debits import Debit, add_totals
from adomnia.console.budget.gauges import EPSILON
from adomnia.console.budget.page import _mark_amounts, draw_burn_down, list_prices
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget, Filter
from adomnia.wire.amounts import count_cost
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
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


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


def draw(*ages: timedelta, epsilon: float = 0.25, whole: float = 2, now: datetime = NOW):
    account = Filter(Budget(epsilon=whole))
    for _ in ages:
        account = account.after(Pure(epsilon))
    cost = count_cost(Pure(epsilon))
    debits = [Debit((NOW - age).isoformat(), "id", ("text",), cost, answered=True) for age in ages]
    return draw_burn_down(add_totals(debits, account.spent, EPSILON), account, EPSILON, now)


def steps(picture) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"H([\d.]+)V([\d.]+)", picture.line)]


def test_each_debit_is_a_step_down_at_its_time():
    picture = draw(timedelta(days=10), timedelta(days=5))
    assert picture.line.startswith("M0 0.0H")
    (first, one), (second, two) = steps(picture)
    assert (one, two) == (125, 250)
    assert first == pytest.approx(1000 * 0.5 / 10.5, abs=0.1)
    assert second == pytest.approx(1000 * 5.5 / 10.5, abs=0.1)
    assert (picture.end, picture.left) == (0.25, "1.5")
    assert [mark.label for mark in picture.times] == ["6 Nov", "8 Nov", "11 Nov", "13 Nov", "16 Nov"]


def test_ten_thousand_debits_are_a_short_line():
    picture = draw(*(timedelta(minutes=k) for k in range(3000)), epsilon=0.0001)
    assert len(steps(picture)) <= 501
    assert steps(picture)[-1][1] == 150.0
    assert len(picture.line) < 10_000


def test_everything_in_one_second_is_a_picture_too():
    picture = draw(timedelta(0), timedelta(0))
    assert steps(picture) == [(1000.0, 250.0)]
    assert picture.times[-1].label == "12:00"


def test_a_clock_that_went_back_does_not_matter():
    assert steps(draw(timedelta(0), now=NOW - timedelta(days=3)))[-1][1] == 125


def test_all_spent_ends_at_the_bottom():
    assert draw(timedelta(days=1), epsilon=2).end == 1


@pytest.mark.parametrize(
    ("whole", "labels"),
    [
        (2, ["0", "0.5", "1", "1.5", "2"]),
        (10, ["0", "2", "4", "6", "8", "10"]),
        (1.478, ["0", "0.5", "1"]),
        (0.0791933, ["0", "0.02", "0.04", "0.06"]),
        (100_000, ["0", "20000", "40000", "60000", "80000", "100000"]),
    ],
)
def test_amounts_are_marked_at_round_numbers(whole, labels):
    marks = _mark_amounts(whole)
    assert [mark.label for mark in marks] == labels
    assert all(mark.place == pytest.approx(1 - float(mark.label) / whole) for mark in marks)
