"""Quantiles and extremes as they are written, and what is measured for them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.pricing.parts import bill
from adomnia.pricing.quotes import list_measures, quote_plan
from adomnia.privacy.events import Composed, Pure
from adomnia.privacy.scans import Histogram
from adomnia.sql.lower import lower, plan_question
from adomnia.sql.reading.parse import parse
from adomnia.sql.values.quantiles import MOST_CHOICES, MOST_SHARES
from sql.hospital import HOSPITAL

HALF, NINE = Fraction(1, 2), Fraction(9, 10)


def asked(outputs, **options):
    plan = plan_question(parse(f"SELECT {outputs} FROM people"), HOSPITAL, **options)
    return [measure.query.aggregate for measure in list_measures(plan, Pure(1))]


def test_all_quantiles_of_one_value_are_one_measurement():
    (one,) = asked("MEDIAN(age), QUANTILE(age, 0.9), PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY age DESC)")
    assert isinstance(one, Histogram)
    assert one.shares == (HALF, NINE)
    assert len(asked("MEDIAN(age), MEDIAN(salary)")) == 2


def test_quantiles_of_order_and_having_are_among_them():
    plan = lower(
        "SELECT sex, MEDIAN(age) FROM people GROUP BY sex HAVING QUANTILE(age, 0.25) > 3 ORDER BY QUANTILE(age, 0.9)",
        HOSPITAL,
    )
    (measure,) = list_measures(plan, Pure(1))
    assert measure.query.aggregate.shares == (Fraction(1, 4), HALF, NINE)
    assert bill((plan, Pure(1))) == Composed([Pure(1)])


def test_an_extreme_is_a_measurement_of_its_own():
    assert {each.shares for each in asked("MIN(age), MAX(age), MEDIAN(age)")} == {(0,), (1,), (HALF,)}


def test_the_interval_is_bought_for_the_confidence_that_is_asked_for():
    (usual,), (sure,) = asked("MEDIAN(age)"), asked("MEDIAN(age)", confidence=0.99)
    assert (usual.confidence, sure.confidence) == (Fraction(19, 20), Fraction(99, 100))


def test_a_formula_of_two_gets_intervals_that_are_sure_enough():
    assert {each.confidence for each in asked("QUANTILE(age, 0.9) - MIN(age)")} == {Fraction(39, 40)}


def test_a_quote_says_what_to_expect_of_rows_that_lie_evenly():
    plan = lower("SELECT MEDIAN(age) FROM people", HOSPITAL)
    (output,) = quote_plan(plan, Pure(1)).outputs
    assert (output.rows, output.method) == (1000, "rows counted between values chosen by rank")
    assert 0 < output.error < 3


@pytest.mark.parametrize(
    "outputs", ["MEDIAN(age), MEDIAN(salary)", ", ".join(f"QUANTILE(age, {place / 1000})" for place in range(1, 4))]
)
def test_more_than_can_be_chosen_is_refused(outputs):
    with pytest.raises(Refusal, match=f"more than {MOST_CHOICES:,}") as refusal:
        lower(f"SELECT {outputs} FROM people GROUP BY FLOOR(salary / 200)", HOSPITAL)
    assert refusal.value.code == "too_many_cells"


def test_more_shares_than_can_be_scored_together_are_refused():
    terms = [f"QUANTILE(age, {place / 1000})" for place in range(1, MOST_SHARES + 2)]
    sums = " + ".join(terms[:40]), " + ".join(terms[40:80]), " + ".join(terms[80:])
    with pytest.raises(Refusal, match=f"more than {MOST_SHARES}"):
        lower(f"SELECT {', '.join(sums)} FROM people", HOSPITAL)
    assert MOST_CHOICES >= MOST_SHARES
