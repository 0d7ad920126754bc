"""A price is split without rest, and every distinct measurement is paid once."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.errors import Refusal
from adomnia.pricing.parts import amount, bill, identify, split_price, split_together, weigh_outputs
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Measured
from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from adomnia.statistics.one_round import Uneven
from kit.pricing import paid
from sql.hospital import HOSPITAL

QUESTIONS = [
    "SELECT COUNT(*) AS a FROM people",
    "SELECT COUNT(*) AS a, COUNT(*) AS b FROM people",
    "SELECT city, COUNT(*) AS a, AVG(salary) AS b FROM people GROUP BY city",
    "SELECT COUNT(age) AS a, COUNT(salary) AS b, SUM(age), AVG(age) FROM people",
    "SELECT city, COUNT(*) AS a FROM people GROUP BY city ORDER BY SUM(salary)",
    "SELECT COUNT(DISTINCT person_id) AS a, COUNT(*) AS b FROM visits",
    "SELECT SUM(age) / COUNT(*) AS a, COUNT(*) - COUNT(age) AS b FROM people HAVING AVG(salary) > 3",
]
PRICES = [Pure(Fraction(1, 3)), Pure(1), Concentrated(Fraction(1, 7))]
WEIGHTS = [{}, {"a": 3}, {"a": Fraction(1, 7)}]

every_question = pytest.mark.parametrize("text", QUESTIONS)
every_price = pytest.mark.parametrize("price", PRICES, ids=str)
every_weight = pytest.mark.parametrize("weights", WEIGHTS, ids=str)


def plan(text, weights=None):
    return weigh_outputs(lower(text, HOSPITAL), weights or {})


def prices(asked, price):
    """What each measurement costs, by what it is of."""
    return {type(each.query.aggregate).__name__: amount(each.price) for each in paid(asked, price)}


@every_question
@every_price
@every_weight
def test_the_parts_of_a_price_add_up_to_it_exactly(text, price, weights):
    parts = bill((plan(text, weights), price)).events
    assert reduce(add, map(amount, parts)) == amount(price)


@every_question
@every_price
@every_weight
def test_what_is_charged_is_what_the_statistics_ask_for_each_thing_once(text, price, weights):
    asked = plan(text, weights)
    first = [measure for statistic, share in split_price(asked, price) for measure in next(statistic.steps(share))]
    assert list_measures(asked, price) == tuple(dict.fromkeys(first))
    charged = Composed(measure.mechanism.event(measure.query.sensitivity()) for measure in list_measures(asked, price))
    assert sorted(map(amount, bill((asked, price)).events)) == sorted(map(amount, charged.events))
    assert set(paid(asked, price)) == set(first)


def test_a_measurement_that_two_statistics_need_is_paid_once():
    asked = plan("SELECT COUNT(age), AVG(age) FROM people")
    parts = dict(split_price(asked, Pure(1)))
    assert {type(statistic): share.epsilon for statistic, share in parts.items()} == {Count: Fraction(1, 2), Mean: 1}
    assert len(paid(asked, Pure(1))) == 2


# ---------------------------------------------------------------------------------------------------- weights


def test_an_output_gets_its_proportion_and_its_measurements_the_same_part_of_it():
    asked = plan("SELECT COUNT(*) AS n, AVG(age) AS mean FROM people", {"mean": 3})
    assert prices(asked, Pure(8)) == {"Rows": 2, "Total": 3, "NonNull": 3}


def test_without_weights_every_measurement_gets_the_same():
    assert prices(plan("SELECT COUNT(*) AS n, AVG(age) AS mean FROM people"), Pure(3)) == {
        "Rows": 1,
        "Total": 1,
        "NonNull": 1,
    }


def test_what_several_outputs_need_gets_the_largest_of_its_parts():
    asked = plan("SELECT COUNT(age) AS n, AVG(age) AS mean FROM people", {"n": 3})
    assert prices(asked, Pure(7)) == {"NonNull": 6, "Total": 1}
    (uneven,) = (statistic for statistic, _ in split_price(asked, Pure(7)) if isinstance(statistic, Uneven))
    assert isinstance(uneven.inner, Mean)
    assert uneven.portions == (Fraction(1, 7), Fraction(6, 7))
    assert uneven.event(Pure(7)) == Composed([Pure(1), Pure(6)])


def test_a_statistic_with_uneven_parts_is_estimated_from_what_it_is_given():
    asked = plan("SELECT COUNT(age) AS n, AVG(age) AS mean FROM people", {"n": 3})
    ((uneven, share),) = [each for each in split_price(asked, Pure(7)) if isinstance(each[0], Uneven)]
    flow = uneven.steps(share)
    total, count = next(flow)
    assert (total.price, count.price) == (Pure(1), Pure(6))
    with pytest.raises(StopIteration) as end:
        flow.send((Measured(np.array(-500), total.mechanism), Measured(np.array(50), count.mechanism)))
    assert end.value.value.values == 50.0


def test_what_only_having_or_order_by_needs_weighs_one():
    asked = plan("SELECT COUNT(*) AS n FROM people HAVING SUM(age) > 3", {"n": 4})
    assert prices(asked, Pure(5)) == {"Rows": 4, "Total": 1}


@given(st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=10**5), st.integers(1, 20))
def test_only_the_proportions_of_weights_matter(weight, factor):
    text = "SELECT COUNT(*) AS n, COUNT(age) AS m, AVG(age) AS mean FROM people"
    weights = {"n": weight, "m": 2, "mean": Fraction(5, 3)}
    multiplied = {name: factor * each for name, each in weights.items()}
    assert paid(plan(text, weights), Pure(1)) == paid(plan(text, multiplied), Pure(1))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"nobody": 1}, "The weight of nobody is no output of the question. Fix: give weights to n, mean."),
        ({"city": 1}, "The weight of city is a key, and keys cost nothing"),
        ({"n": 0}, "The weight of n is 0, which is not a positive number from 1e-9 to 1e9"),
        ({"n": -1}, "not a positive number"),
        ({"n": float("nan")}, "not a positive number"),
        ({"n": "3"}, "not a positive number"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights, words):
    with pytest.raises(Refusal) as refusal:
        plan("SELECT city, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY city", weights)
    assert words in str(refusal.value)
    assert refusal.value.code == "bad_weight"


def test_weights_are_a_part_of_what_an_answer_is_stored_under():
    text = "SELECT COUNT(*) AS n, AVG(age) AS mean FROM people"
    forms = [
        identify(plan(text, weights), Pure(1), 1) for weights in ({}, {"n": 2}, {"n": 3}, {"mean": Fraction(1, 3)})
    ]
    assert len(set(forms)) == 3  # the last two are the same proportions
    assert forms[2] == forms[3]
    assert identify(plan(text, {"n": 2}), Pure(2), 1) != forms[1] != identify(plan(text, {"n": 2}), Pure(1), 2)


# ---------------------------------------------------------------------------------------------------- several plans


def test_equal_measurements_of_two_plans_are_paid_once():
    asked = plan("SELECT COUNT(*) FROM people")
    assert bill((asked, Pure(1)), (asked, Pure(1))) == Composed([Pure(1)])
    assert bill((asked, Pure(1)), (asked, Pure(2))) == Composed([Pure(1), Pure(2)])


@every_weight
@every_price
def test_one_price_for_several_plans_is_split_over_all_they_measure(price, weights):
    plans = [plan(text, weights) for text in QUESTIONS[:4]]
    parts = split_together(plans, price)
    charged = bill(*zip(plans, parts, strict=True)).events
    assert reduce(add, map(amount, charged)) == amount(price)
    if not weights:
        assert {amount(each) for each in charged} == {amount(price) / len(charged)}


def test_one_price_for_one_plan_is_its_price():
    assert split_together([plan(QUESTIONS[2], {"a": 5})], Pure(3)) == [Pure(3)]


def test_weights_of_endless_digits_are_rounded():
    digits = {f"n{k}": Fraction(10**30 + 7 * k + 1, 10**30 + 11 * k + 3) for k in range(30)}
    outputs = ", ".join(f"COUNT(age + {k}) AS n{k}" for k in range(30))
    parts = paid(plan(f"SELECT {outputs} FROM people", digits), Pure(1))
    assert max(each.price.epsilon.denominator for each in parts) < 10**12
    assert sum(each.price.epsilon for each in parts) == 1
