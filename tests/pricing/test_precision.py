"""The cheapest price that keeps an error, and no more for any output than it needs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.pricing.precision import price_for_error
from adomnia.pricing.quotes import quote_plan
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.events import Pure
from adomnia.sql.around import find_layers
from adomnia.sql.lower import lower
from adomnia.sql.reading.count_of_groups import count_of_groups
from adomnia.sql.reading.parse import parse
from kit.pricing import paid
from sql.hospital import HOSPITAL, PEOPLE, number


def plan(text):
    return lower(text, HOSPITAL)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("SELECT COUNT(*) FROM people", 50),
        ("SELECT COUNT(*) FROM people", 0.5),
        ("SELECT COUNT(*) FROM visits", 50),
        ("SELECT city, COUNT(*) FROM people GROUP BY city", 7.5),
        ("SELECT SUM(salary) FROM people", 1e6),
        ("SELECT city, SUM(salary) FROM people GROUP BY city", 250_000.1),
        ("SELECT SUM(score) FROM people", 0.1),
        ("SELECT COUNT(*), COUNT(age) FROM people", 12),
        ("SELECT COUNT(DISTINCT person_id) FROM visits", 3),
        ("SELECT COUNT(*) - COUNT(age) AS missing FROM people", 5),
    ],
)
def test_the_price_for_an_error_is_the_cheapest_that_keeps_it(text, error, confidence):
    asked, price = price_for_error(plan(text), error, confidence)
    assert asked == plan(text)  # all its measurements cost the same
    assert all(output.error <= error for output in quote_plan(asked, price, confidence).outputs)
    less = Pure(price.epsilon - len(paid(asked, price)) * EPSILON_UNIT)
    assert any(output.error > error for output in quote_plan(asked, less, confidence).outputs)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n, SUM(age) AS years FROM people",
        "SELECT COUNT(*) AS n, COUNT(*) - COUNT(age) AS missing, SUM(age) AS years FROM people",
        "SELECT COUNT(*) AS n FROM people ORDER BY SUM(age)",
    ],
)
def test_every_output_gets_what_it_needs_and_no_more(text):
    asked, price = price_for_error(plan(text), 20)
    quoted = quote_plan(asked, price)
    assert all(output.error <= 20 for output in quoted.outputs)
    for line in paid(asked, price):
        cheaper = [
            amount - EPSILON_UNIT * (each == line) for each in paid(asked, price) for amount in [each.price.epsilon]
        ]
        assert sum(cheaper) < price.epsilon
    alone = sum(price_for_error(plan(f"SELECT {each} FROM people"), 20)[1].epsilon for each in ("COUNT(*)", "SUM(age)"))
    if "missing" not in text:
        assert price.epsilon == alone


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("SELECT AVG(age) FROM people", 2),
        ("SELECT city, AVG(age) AS a, COUNT(*) AS n FROM people GROUP BY city", 8),
        ("SELECT SUM(age) / COUNT(*) AS a FROM people", 2),
        ("SELECT SUM(salary) / SUM(age) AS a FROM people", 300),
    ],
)
def test_an_error_that_depends_on_rows_is_kept_for_that_many(text, error):
    asked, price = price_for_error(plan(text), error, rows=400)
    errors = [output.error for output in quote_plan(asked, price, rows=400).outputs]
    assert max(errors) <= error
    assert 0.99 * error < max(errors)
    dearer = price_for_error(plan(text), error, rows=200)[1]
    assert dearer.epsilon > price.epsilon


def test_a_larger_error_is_never_dearer():
    prices = [
        price_for_error(plan("SELECT SUM(age) FROM people"), error)[1].epsilon for error in (1, 10, 1e3, 1e6, 1e9)
    ]
    assert prices == sorted(prices, reverse=True)


@pytest.mark.parametrize(
    ("text", "error", "code"),
    [
        ("SELECT AVG(age) FROM people", 5, "error_not_known"),
        ("SELECT COUNT(*), AVG(age) FROM people", 5, "error_not_known"),
        ("SELECT COUNT(*) FROM people HAVING SUM(age) / COUNT(*) > 3", 5, "error_not_known"),
        ("SELECT COUNT(*) FROM people", 0, "bad_price"),
        ("SELECT COUNT(*) FROM people", -3, "bad_price"),
        ("SELECT COUNT(*) FROM people", float("nan"), "bad_price"),
        ("SELECT COUNT(*) FROM people", float("inf"), "bad_price"),
        ("SELECT COUNT(*) FROM people", "50", "bad_price"),
    ],
)
def test_an_error_that_has_no_price_is_refused(text, error, code):
    with pytest.raises(Refusal) as refusal:
        price_for_error(plan(text), error)
    assert refusal.value.code == code


def test_an_error_below_the_rounding_of_values_has_no_price():
    with pytest.raises(Refusal) as refusal:
        price_for_error(plan("SELECT AVG(salary) FROM people"), 1e-6, rows=1000)
    assert refusal.value.code == "error_too_small"


def test_a_huge_error_still_costs_something():
    assert price_for_error(plan("SELECT COUNT(*) FROM people"), 1e40)[1].epsilon == EPSILON_UNIT
    fine = replace(PEOPLE, columns=(*PEOPLE.columns, number("fine", 0, 2**70, step=1)))
    asked, price = price_for_error(lower("SELECT SUM(fine) FROM people", replace(HOSPITAL, tables=(fine,))), 1e60)
    assert quote_plan(asked, price).outputs[0].error <= 1e60  # the cheapest whose noise can be drawn
    with pytest.raises(Refusal, match="too large to draw"):
        quote_plan(asked, Pure(price.epsilon - EPSILON_UNIT))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT AVG(age) FROM people WHERE sex = 'F'",
        "SELECT AVG(age) AS a, city AS c FROM people WHERE age > 3 GROUP BY 2 HAVING a > 1 ORDER BY a LIMIT 3 OFFSET 1",
        "SELECT AVG(cost) FROM people p JOIN visits v USING (person_id) GROUP BY p.sex, v.hospital",
        "WITH old AS (SELECT * FROM people WHERE age > 60) SELECT sex, SUM(age) / COUNT(*) FROM old GROUP BY sex",
        "WITH r AS (SELECT sex, AVG(age) AS a FROM people GROUP BY sex) SELECT a FROM (SELECT a FROM r WHERE a > 3)",
    ],
)
def test_the_question_to_ask_first_counts_the_same_groups(text):
    first, asked = lower(count_of_groups(find_layers(parse(text), HOSPITAL)[-1]), HOSPITAL), lower(text, HOSPITAL)
    assert (first.relation, first.keys) == (asked.relation, asked.keys)
    assert len(first.statistics) == 1
    assert (first.having, first.limit, first.offset) == (None, None, 0)
    assert Fraction(1) == sum(each.price.epsilon for each in paid(first, Pure(1)))


OF_METHODS = [
    ("SELECT * FROM frequencies(people, factor => city)", "count", 10, None),
    ("SELECT * FROM frequencies(people, factor => city, by => sex)", "count", 3, None),
    ("SELECT value, share FROM frequencies(people, factor => city)", "share", 0.05, 4000),
    ("SELECT * FROM crosstab(people, row => city, column => sex)", "count", 25, None),
    ("SELECT * FROM crosstab(people, row => city, column => sex)", "count", 25, 10),
    ("SELECT row, row_share FROM crosstab(people, row => city, column => sex)", "row_share", 0.1, 9000),
    ("SELECT * FROM crosstab(people, row => city, column => sex, weight => age)", "count", 2500, None),
    ("SELECT * FROM histogram(people, column => age, bins => 12)", "count", 10, None),
    ("SELECT * FROM ecdf(people, column => age, bins => 12)", "estimate", 0.05, 5000),
    ("SELECT * FROM proportion_test(people, column => active)", "estimate", 0.05, 5000),
    ("SELECT * FROM t_test(people, column => age, group => active)", "estimate", 5, 5000),
]


@pytest.mark.parametrize(("text", "column", "error", "rows"), OF_METHODS)
def test_the_price_for_the_error_of_a_methods_column_is_about_the_cheapest(text, column, error, rows):
    asked, price = price_for_error(plan(text), error, 0.9, rows)
    assert asked == plan(text)
    many = 10**9 if column == "count" else rows

    def expect(paid):
        return next(line.error for line in quote_plan(asked, paid, 0.9, rows=many).outputs if line.name == column)

    assert expect(price) <= error
    assert expect(price * Fraction(9, 10)) > error


@pytest.mark.parametrize(
    ("text", "error", "rows", "code", "fix"),
    [
        ("SELECT * FROM lm(people, formula => 'age ~ city')", 5, 1000, "error_not_known", "epsilon=1"),
        ("SELECT * FROM summary(people)", 5, 1000, "error_not_known", "epsilon=1"),
        ("SELECT value FROM frequencies(people, factor => city)", 5, None, "error_not_known", "select count or share"),
        ("SELECT value, share FROM frequencies(people, factor => city)", 0.1, None, "error_not_known", "rows="),
        ("SELECT * FROM ecdf(people, column => age)", 0.1, None, "error_not_known", "rows="),
        ("SELECT * FROM t_test(people, column => age)", 0.01, 1000, "error_too_small", "larger error"),
    ],
)
def test_an_error_of_a_method_that_has_no_price_is_refused_with_what_helps(text, error, rows, code, fix):
    with pytest.raises(Refusal) as refusal:
        price_for_error(plan(text), error, rows=rows)
    assert refusal.value.code == code
    assert fix in refusal.value.fix
