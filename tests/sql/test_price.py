"""Prices are split over measurements without rest, and errors are known before anything is read."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import add

import pytest

from adomnia.errors import Refusal
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.sql.lower import lower
from adomnia.sql.price import SUPPOSED_ROWS, event, measures, price_for_error, quote, shares
from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from sql.hospital import HOSPITAL, PEOPLE, number

QUESTIONS = [
    "SELECT COUNT(*) FROM people",
    "SELECT COUNT(*), COUNT(*) FROM people",
    "SELECT city, COUNT(*), AVG(salary) FROM people GROUP BY city",
    "SELECT COUNT(age), COUNT(salary), SUM(age), AVG(age) FROM people",
    "SELECT city, COUNT(*) FROM people GROUP BY city ORDER BY SUM(salary)",
    "SELECT COUNT(DISTINCT person_id), COUNT(*) FROM visits",
    "SELECT SUM(age) / COUNT(*), COUNT(*) - COUNT(age) FROM people HAVING AVG(salary) > 3",
]
PRICES = [Pure(Fraction(1, 3)), Pure(1), Concentrated(Fraction(1, 7))]


def plan(text):
    return lower(text, HOSPITAL)


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_the_parts_of_a_price_add_up_to_it_exactly(text, price):
    parts = event(plan(text), price).events
    paid = [part.epsilon if isinstance(part, Pure) else part.rho for part in parts]
    assert reduce(add, paid) == (price.epsilon if isinstance(price, Pure) else price.rho)


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_what_is_charged_is_what_the_statistics_ask_for_each_thing_once(text, price):
    asked = [measure for statistic, share in shares(plan(text), price) for measure in next(statistic.steps(share))]
    assert measures(plan(text), price) == tuple(dict.fromkeys(asked))
    charged = Composed(measure.noise().event(measure.query.sensitivity()) for measure in measures(plan(text), price))
    assert event(plan(text), price) == charged


def test_a_measurement_that_two_statistics_need_is_paid_once():
    parts = dict(shares(plan("SELECT COUNT(age), AVG(age) FROM people"), Pure(1)))
    assert {type(statistic): share.epsilon for statistic, share in parts.items()} == {Count: Fraction(1, 2), Mean: 1}
    assert len(measures(plan("SELECT COUNT(age), AVG(age) FROM people"), Pure(1))) == 2


def test_a_quote_says_all_but_the_value():
    quoted = quote(plan("SELECT city, COUNT(*) AS n, AVG(salary) FROM people GROUP BY city"), Pure(Fraction(1, 2)))
    assert quoted.price == Pure(Fraction(1, 2))
    assert quoted.confidence == 0.95
    assert [(output.name, output.what, output.rows) for output in quoted.outputs] == [
        ("n", "COUNT(*)", None),
        ("avg_salary", "AVG(salary in 0..500000 by 1/4)", SUPPOSED_ROWS),
    ]
    assert {(part.what, part.cells, part.sensitivity.l1, part.price) for part in quoted.measurements} == {
        ("rows", 40, 1, Pure(Fraction(1, 6))),
        ("values of salary", 40, 1, Pure(Fraction(1, 6))),
        ("sum of salary - 250000", 40, 1_000_000, Pure(Fraction(1, 6))),
    }
    assert {type(part.noise) for part in quoted.measurements} == {DiscreteLaplace}
    assert quoted.outputs[0].error == DiscreteLaplace(Fraction(6)).interval(0.95).half_width


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT COUNT(*) FROM people", "a person has at most 1 row here"),
        ("SELECT COUNT(*) FROM visits", "a person has at most 10 rows here"),
        ("SELECT SUM(cost) FROM visits", "a person has at most 10 rows here, each of at most 1,600,000 steps"),
        ("SELECT COUNT(DISTINCT person_id) FROM visits", "a person counts once"),
        ("SELECT COUNT(DISTINCT person_id) FROM visits GROUP BY hospital", "a person counts in at most 5 groups"),
    ],
)
def test_a_quote_says_why_a_person_moves_the_answer_that_far(text, why):
    (part,) = quote(plan(text), Pure(1)).measurements
    assert part.why == why


def test_rho_buys_gaussian_noise():
    (part,) = quote(plan("SELECT COUNT(*) FROM people"), Concentrated(Fraction(1, 2))).measurements
    assert part.noise == DiscreteGaussian(Fraction(1))


def test_the_expected_error_of_a_mean_is_for_a_stated_number_of_rows():
    dear = quote(plan("SELECT AVG(age) FROM people"), Pure(2)).outputs[0]
    cheap = quote(plan("SELECT AVG(age) FROM people"), Pure(1)).outputs[0]
    assert dear.rows == cheap.rows == 1000
    assert 0 < dear.error < cheap.error < 1


def test_a_statistic_of_several_formulas_is_measured_and_paid_once():
    asked = plan("SELECT SUM(age) / COUNT(*), COUNT(*) - SUM(age), COUNT(*) FROM people HAVING COUNT(*) > 3")
    assert len(measures(asked, Pure(1))) == 2


def test_what_only_having_needs_is_measured_and_paid():
    assert len(measures(plan("SELECT COUNT(*) FROM people HAVING SUM(age) > 3"), Pure(1))) == 2


def expected(output, epsilon=2):
    (found,) = quote(plan(f"SELECT {output} AS x FROM people"), Pure(epsilon)).outputs
    return found


def test_the_expected_error_of_a_sum_of_answers_is_that_of_its_parts_together():
    difference = expected("COUNT(*) - 3 * COUNT(age)")
    reach = DiscreteLaplace(Fraction(1)).interval(0.975).half_width
    assert (difference.error, difference.rows) == (4 * reach, None)
    assert difference.what == "(COUNT(*) - (3 * COUNT(age)))"


def test_the_expected_error_of_a_quotient_is_for_a_stated_number_of_rows_in_the_middle_of_their_bounds():
    ratio = expected("SUM(age) / COUNT(*)")
    count, total = (DiscreteLaplace(Fraction(scale)).interval(0.975).half_width for scale in (1, 120))
    ends = [(60_000 + total) / (1000 - count), (60_000 - total) / (1000 + count)]
    assert (ratio.error, ratio.rows) == (pytest.approx((ends[0] - ends[1]) / 2), SUPPOSED_ROWS)
    assert expected("AVG(age) + 1").rows == SUPPOSED_ROWS


def test_no_error_is_expected_where_a_divisor_may_be_zero():
    assert expected("SUM(age) / (COUNT(*) - COUNT(age))").error is None


def test_an_error_of_a_formula_is_refused_with_what_to_ask_instead():
    with pytest.raises(Refusal) as refusal:
        price_for_error(plan("SELECT COUNT(*) - COUNT(age) AS missing FROM people"), 5)
    assert refusal.value.code == "error_not_known"
    assert "error= for missing" in str(refusal.value)
    assert "ask for its aggregates" in refusal.value.fix


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
    ],
)
def test_the_price_for_an_error_is_the_cheapest_that_keeps_it(text, error, confidence):
    price = price_for_error(plan(text), error, confidence)
    assert all(output.error <= error for output in quote(plan(text), price, confidence).outputs)
    less = Pure(price.epsilon - len(plan(text).statistics) * EPSILON_UNIT)
    assert any(output.error > error for output in quote(plan(text), less, confidence).outputs)


def test_a_larger_error_is_never_dearer():
    prices = [
        price_for_error(plan("SELECT SUM(age) FROM people"), error).epsilon for error in (1, 10, 100, 1e3, 1e6, 1e9)
    ]
    assert prices == sorted(prices, reverse=True)


@pytest.mark.parametrize(
    ("text", "error", "code"),
    [
        ("SELECT AVG(age) FROM people", 5, "error_not_known"),
        ("SELECT COUNT(*), AVG(age) FROM people", 5, "error_not_known"),
        ("SELECT COUNT(*), SUM(age) FROM people", 5, "ambiguous_error"),
        ("SELECT COUNT(*) FROM people ORDER BY SUM(age)", 5, "ambiguous_error"),
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


def test_a_huge_error_still_costs_something():
    assert price_for_error(plan("SELECT COUNT(*) FROM people"), 1e40).epsilon == EPSILON_UNIT
    fine = replace(PEOPLE, columns=(*PEOPLE.columns, number("fine", 0, 2**70, step=1)))
    asked = lower("SELECT SUM(fine) FROM people", replace(HOSPITAL, tables=(fine,)))
    price = price_for_error(asked, 1e60)
    assert quote(asked, price).outputs[0].error <= 1e60  # the cheapest whose noise can be drawn
    with pytest.raises(Refusal, match="too large to draw"):
        quote(asked, Pure(price.epsilon - EPSILON_UNIT))


@pytest.mark.parametrize(
    "price", [Pure(10**6), Pure(Fraction(1, 10**29)), Concentrated(10**9), Concentrated(Fraction(1, 10**70))]
)
def test_a_price_whose_noise_cannot_be_drawn_is_refused_before_it_is_paid(price):
    with pytest.raises(Refusal) as refusal:
        event(plan("SELECT SUM(salary) FROM people GROUP BY sex ORDER BY COUNT(*)"), price)
    assert refusal.value.code == "bad_price"
    assert ("epsilon=" if isinstance(price, Pure) else "rho=") in str(refusal.value)
