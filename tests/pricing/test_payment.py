"""From the price that a question names to the plan that is measured."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.pricing.parts import bill
from adomnia.pricing.payment import plan_without_price, price_batch, price_question, read_price
from adomnia.pricing.precision import RowsNeeded
from adomnia.pricing.questions import Question
from adomnia.pricing.quotes import quote_plan
from adomnia.privacy.events import Concentrated, Pure
from adomnia.sql.lower import lower
from kit.pricing import paid
from sql.hospital import HOSPITAL

COUNT = "SELECT COUNT(*) AS n FROM people"
BOTH = "SELECT SUM(age) AS total, AVG(age) AS mean FROM people"


def asked(text, **payment):
    return price_question(Question(text, **payment), lower(text, HOSPITAL), HOSPITAL, 0.95)


def batched(questions, **payment):
    plans = [lower(question.text, HOSPITAL) for question in questions]
    return price_batch(questions, plans, payment, HOSPITAL, 0.95)


def test_epsilon_and_rho_are_the_price_itself():
    assert asked(COUNT, epsilon=0.5).price == Pure(0.5)
    assert asked(COUNT, rho=0.5).price == Concentrated(0.5)


def test_the_way_to_a_sum_is_chosen_and_weights_split_the_price():
    assert [len(paid(found.plan, found.price)) for found in (asked(BOTH, epsilon=1), asked(BOTH, rho=1))] == [1, 2]
    found = asked("SELECT COUNT(*) AS n, SUM(age) AS total FROM people", epsilon=1, weights={"n": 3})
    assert {each.price.epsilon for each in paid(found.plan, found.price)} == {Fraction(3, 4), Fraction(1, 4)}


def test_an_error_buys_the_cheapest_plan():
    found = asked("SELECT SUM(age) AS total, COUNT(age) AS n FROM people", error=100)
    errors = {output.name: output.error for output in quote_plan(found.plan, found.price).outputs}
    assert max(errors.values()) <= 100
    assert errors["n"] < 5  # it is shared with the sum, which needs it better


@pytest.mark.parametrize("payment", [{}, {"epsilon": 1, "rho": 1}, {"epsilon": 1, "error": 3}, {"rho": 1, "error": 3}])
def test_exactly_one_price_is_named(payment):
    with pytest.raises(Refusal) as refusal:
        asked(COUNT, **payment)
    assert refusal.value.code == "bad_price"


@pytest.mark.parametrize(
    ("payment", "code"),
    [
        ({"epsilon": -1}, "price"),
        ({"rho": float("nan")}, "price"),
        ({"epsilon": 1, "rows": 0}, "bad_rows"),
        ({"epsilon": 1, "rows": 2.5}, "bad_rows"),
        ({"error": 5, "weights": {"n": 2}}, "bad_weight"),
        ({"epsilon": 1, "weights": {"m": 2}}, "bad_weight"),
        ({"error": 0}, "bad_price"),
        ({"epsilon": Fraction(10**150, 10**150 + 1)}, "price"),
        ({"error": 5, "rows": 10**16}, "bad_rows"),
    ],
)
def test_what_makes_no_price_is_refused(payment, code):
    with pytest.raises(Refusal) as refusal:
        asked(COUNT, **payment)
    assert refusal.value.code == code


def test_an_error_that_needs_a_count_says_of_which_question():
    text = "SELECT sex AS s, AVG(age) AS mean FROM people WHERE active GROUP BY 1 ORDER BY 2"
    with pytest.raises(RowsNeeded) as refusal:
        asked(text, error=2)
    assert refusal.value.text == text
    assert refusal.value.code == "error_not_known"
    assert asked(text, error=2, rows=300).price.epsilon > 0


@pytest.mark.parametrize("confidence", [0, 1, 1.5, float("nan")])
def test_a_confidence_that_is_none_is_refused(confidence):
    for questions, payment in (([Question(COUNT, epsilon=1)], {}), ([Question(COUNT)], {"epsilon": 1})):
        with pytest.raises(Refusal) as refusal:
            price_batch(questions, [lower(COUNT, HOSPITAL)], payment, HOSPITAL, confidence)
        assert refusal.value.code == "confidence"


def test_a_batch_has_one_price_or_one_for_each():
    both = batched([Question(COUNT), Question(COUNT), Question(BOTH)], epsilon=3)
    assert bill(*((each.plan, each.price) for each in both)).events == (Pure(3),)
    each = batched([Question(COUNT, epsilon=1), Question(BOTH, rho=2)])
    assert [one.price for one in each] == [Pure(1), Concentrated(2)]


@pytest.mark.parametrize(
    ("questions", "payment"),
    [
        ([Question(COUNT, epsilon=1)], {"epsilon": 1}),
        ([Question(COUNT)], {"error": 5}),
        ([Question(COUNT)], {"epsilon": 1, "weights": {"n": 2}}),
        ([Question(COUNT)], {"epsilon": 1, "rho": 1}),
        ([Question(COUNT)], {}),
    ],
)
def test_a_batch_with_prices_in_two_places_or_none_is_refused(questions, payment):
    with pytest.raises(Refusal) as refusal:
        batched(questions, **payment)
    assert refusal.value.code == "bad_price"


def test_a_question_without_a_price_is_free():
    assert Question(COUNT, weights={"n": 1}).names_no_price
    assert not Question(COUNT, error=1).names_no_price


def test_a_price_is_named_in_one_currency():
    assert read_price(Fraction(1, 3), None) == Pure(Fraction(1, 3))
    with pytest.raises(Refusal):
        read_price(None, None)


def test_a_plan_without_a_price_is_measured_the_way_it_would_be():
    question = Question("SELECT COUNT(*) AS n, AVG(age) AS mean, SUM(age) AS total FROM people")
    plan = plan_without_price(question, lower(question.text, HOSPITAL), HOSPITAL)
    assert plan == asked(question.text, epsilon=1).plan
    assert len(paid(plan, Pure(1))) == 1
