"""Which questions are measured jointly: by their price, their effort and what they ask for, never by data."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia import Question
from adomnia.pricing.payment import price_batch, price_question
from adomnia.pricing.quotes import list_measures, quote_plan
from adomnia.pricing.rules import FIRST
from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from adomnia.statistics.joint import Joint
from sql.hospital import HOSPITAL


def asked(text, rules=None, **payment):
    question = Question(text, **(payment or {"epsilon": 1}))
    given = () if rules is None else (rules,)
    return price_question(question, lower(text, HOSPITAL), HOSPITAL, 0.95, *given)


def entries(priced):
    """How many numbers each measurement gives."""
    return [measure.query.columns for measure in list_measures(priced.plan, priced.price)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT AVG(age) FROM people", [2]),
        ("SELECT AVG(age), SUM(age), COUNT(age) FROM people", [2]),
        ("SELECT SUM(age), COUNT(age) FROM people", [2]),
        ("SELECT COUNT(*), AVG(age) FROM people", [3]),
        ("SELECT STDDEV(age), AVG(age), COUNT(*) FROM people", [4]),
        ("SELECT COVAR_POP(age, salary) FROM people", [4]),
        ("SELECT COVAR_POP(age, salary), CORR(salary, age) FROM people", [9]),
        ("SELECT AVG(age), AVG(salary) FROM people", [2, 2]),
        ("SELECT SUM(age) FROM people", [1]),
        ("SELECT COUNT(*), SUM(age) FROM people", [1, 1]),
        ("SELECT COUNT(*), COUNT(age) FROM people", [1]),
        ("SELECT SUM(age) / COUNT(age) AS r FROM people", [2]),
    ],
)
def test_under_epsilon_what_is_about_one_value_is_one_measurement(text, expected):
    assert sorted(entries(asked(text))) == sorted(expected)


@pytest.mark.parametrize("payment", [{"rho": 0.1}, {"rho": 0.1, "effort": "high"}])
def test_under_rho_nothing_is(payment):
    priced = asked("SELECT AVG(age), STDDEV(age) FROM people", **payment)
    assert not any(isinstance(one, Joint) for one in priced.plan.statistics)


def test_the_mean_is_nearer_than_apart_and_so_is_all_that_stands_beside_it():
    text = "SELECT COUNT(*) AS n, COUNT(cost) AS m, SUM(cost) AS total, AVG(cost) AS mean FROM visits"
    now, before = (
        {line.name: line.error for line in quote_plan(priced.plan, priced.price).outputs}
        for priced in (asked(text), asked(text, FIRST))
    )
    assert {name for name in now if now[name] > 0.77 * before[name]} == set()


def test_weights_give_the_rows_a_measurement_of_their_own():
    priced = asked("SELECT COUNT(*) AS n, AVG(age) AS mean FROM people", epsilon=1, weights={"n": 3})
    found = {measure.query.columns: measure.price for measure in list_measures(priced.plan, priced.price)}
    assert found == {1: Pure(Fraction(3, 4)), 2: Pure(Fraction(1, 4))}


def test_a_formula_of_sums_is_measured_the_way_that_is_better():
    people, text = "COUNT(DISTINCT person_id)", "SELECT SUM(age) / COUNT(*) AS r, COUNT(age) AS n FROM people"
    assert entries(asked(text)) == [3]
    # A count that is put together has two noises. What that costs four of them, one measurement less has to bring in.
    counts = ", ".join(f"COUNT(age) * {times} AS n{times}" for times in (2, 3, 4, 5))
    assert entries(asked(f"SELECT {counts}, SUM(age) / {people} AS c FROM people")) == [2, 1]
    sums = "SUM(age) + SUM(salary) + SUM(salary * 2)"
    assert entries(asked(f"SELECT {counts}, ({sums}) / {people} AS c FROM people")) == [1, 1, 1, 1, 1]


def test_an_error_is_bought_for_less():
    text = "SELECT AVG(age) AS mean FROM people"
    now, before = (asked(text, rules, error=1, rows=1000).price.epsilon for rules in (None, FIRST))
    assert Fraction(6, 10) < now / before < Fraction(8, 10)


def test_questions_of_a_batch_share_a_vector():
    texts = ["SELECT AVG(age) FROM people", "SELECT STDDEV(age), SUM(age) FROM people", "SELECT COUNT(*) FROM people"]
    batch = price_batch(
        list(map(Question, texts)), [lower(each, HOSPITAL) for each in texts], {"epsilon": 1}, HOSPITAL, 0.95
    )
    assert {each.price for each in batch} == {Pure(1)}
    assert len({measure for each in batch for measure in list_measures(each.plan, each.price)}) == 1


def test_many_groups_of_nine_wide_sums_are_measured_apart():
    priced = asked("SELECT FLOOR(age * 10) AS k, CORR(age, salary) FROM people GROUP BY k")
    assert entries(priced) == [1] * 6
    assert entries(asked("SELECT FLOOR(age * 10) AS k, COVAR_POP(age, salary) FROM people GROUP BY k")) == [4]
