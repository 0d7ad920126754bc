"""Prices are split over measurements without rest, and errors are known before anything is read."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest

from adomnia.distributions.ratios import quotient_bounds
from adomnia.errors import Refusal
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.pricing.bills import ErrorName
from adomnia.pricing.parts import bill
from adomnia.pricing.questions import Priced
from adomnia.pricing.quotes import expect_errors, list_measures, quote_plan, quote_questions
from adomnia.pricing.simulated import SUPPOSED_ROWS
from adomnia.privacy.events import Concentrated, Pure
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Measured
from adomnia.statistics.linear import margin_of
from sql.hospital import HOSPITAL


def plan(text):
    return lower(text, HOSPITAL)


def test_a_quote_says_all_but_the_value():
    quoted = quote_plan(plan("SELECT city, COUNT(*) AS n, AVG(salary) FROM people GROUP BY city"), Pure(Fraction(1, 2)))
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
    (part,) = quote_plan(plan(text), Pure(1)).measurements
    assert part.why == why


def test_a_quote_says_what_a_method_needs_before_anything_is_paid():
    asked = [Priced(plan("SELECT * FROM mle(people, column => salary)"), Pure(1))]
    notes = quote_questions(asked, 0.95, simultaneous=False, rows=None).notes
    assert any("needs about 50,000 people at epsilon 1 for normal" in note for note in notes)


def test_rho_buys_gaussian_noise():
    (part,) = quote_plan(plan("SELECT COUNT(*) FROM people"), Concentrated(Fraction(1, 2))).measurements
    assert part.noise == DiscreteGaussian(Fraction(1))


def test_the_expected_error_of_a_mean_is_for_a_stated_number_of_rows():
    dear = quote_plan(plan("SELECT AVG(age) FROM people"), Pure(2)).outputs[0]
    cheap = quote_plan(plan("SELECT AVG(age) FROM people"), Pure(1)).outputs[0]
    assert dear.rows == cheap.rows == 1000
    assert 0 < dear.error < cheap.error < 1


def test_a_statistic_of_several_formulas_is_measured_and_paid_once():
    asked = plan("SELECT SUM(age) / COUNT(*), COUNT(*) - SUM(age), COUNT(*) FROM people HAVING COUNT(*) > 3")
    assert len(list_measures(asked, Pure(1))) == 2


def test_what_only_having_needs_is_measured_and_paid():
    assert len(list_measures(plan("SELECT COUNT(*) FROM people HAVING SUM(age) > 3"), Pure(1))) == 2


def expected(output, epsilon=2):
    (found,) = quote_plan(plan(f"SELECT {output} AS x FROM people"), Pure(epsilon)).outputs
    return found


def measured(exact, scale):
    return Measured(np.array(exact), DiscreteLaplace(Fraction(scale)))


def test_the_expected_error_of_a_sum_of_answers_is_that_of_their_noise_together():
    difference = expected("COUNT(*) - 3 * COUNT(age)")
    reach = margin_of(((measured(0, 1), Fraction(1)), (measured(0, 1), Fraction(3))), 0.95, 1)
    assert (difference.error, difference.rows) == (reach, None)
    assert difference.what == "(COUNT(*) - (3 * COUNT(age)))"


def test_the_expected_error_of_a_quotient_is_for_a_stated_number_of_rows_in_the_middle_of_their_bounds():
    ratio = expected("SUM(age) / SUM(salary)")
    lower_end, upper_end = quotient_bounds(measured(60_000, 120), measured(10**9, 2 * 10**6), 0.95, 1)
    assert (ratio.error, ratio.rows) == (pytest.approx(4 * float(upper_end - lower_end) / 2, rel=1e-9), SUPPOSED_ROWS)
    assert expected("AVG(age) + 1").rows == SUPPOSED_ROWS


def test_what_two_statistics_share_has_one_noise_in_what_is_expected():
    """The divisor of the mean is the one that the sum is put together with."""
    put_together = plan("SELECT SUM(age) / COUNT(age) AS x FROM people").with_statistics(
        lambda each: replace(each, centred=True) if hasattr(each, "centred") else each
    )
    (by_hand,) = quote_plan(put_together, Pure(1)).outputs
    (mean,) = quote_plan(plan("SELECT AVG(age) FROM people"), Pure(1)).outputs
    assert by_hand.error == pytest.approx(mean.error, rel=0.05)


def test_an_error_is_told_in_relation_to_the_value_of_a_group():
    (count,) = quote_plan(plan("SELECT COUNT(*) FROM people"), Pure(1)).outputs
    assert count.relative == count.error / 1000
    (total,) = quote_plan(plan("SELECT SUM(age) FROM people"), Pure(1), rows=50).outputs
    assert total.relative == total.error / (50 * 60)
    (signed,) = quote_plan(plan("SELECT SUM(age - 60) FROM people"), Pure(1)).outputs
    assert signed.relative is None  # of nothing
    assert count.method == "noisy count"


def test_an_error_may_be_told_for_all_groups_at_once():
    asked = plan("SELECT city, sex, COUNT(*) FROM people GROUP BY city, sex")
    cells = prod(list_measures(asked, Pure(1))[0].query.shape)
    simultaneous, alone = (quote_plan(asked, Pure(1), simultaneous=each) for each in (True, False))
    noise = simultaneous.measurements[0].noise
    assert simultaneous.outputs[0].error == noise.interval(0.95, cells).half_width > alone.outputs[0].error
    assert (simultaneous.simultaneous, alone.simultaneous) == (True, False)


def test_the_number_of_supposed_rows_can_be_named():
    few, many = (
        quote_plan(plan("SELECT AVG(age) FROM people"), Pure(1), rows=rows).outputs[0] for rows in (100, 10_000)
    )
    assert (few.rows, many.rows) == (100, 10_000)
    assert few.error > 50 * many.error


def test_the_bill_of_a_batch_has_every_measurement_once():
    texts = ["SELECT COUNT(*) AS n FROM people", "SELECT COUNT(*) AS n, SUM(age) FROM people"]
    asked = [Priced(plan(texts[0]), Pure(1)), Priced(plan(texts[1]), Pure(2))]
    quoted = quote_questions(asked, 0.95, simultaneous=False, rows=None)
    assert [line.name for line in quoted.outputs] == ["1: n", "2: n", "2: sum_age"]
    assert [line.what for line in quoted.measurements] == ["rows", "sum of age"]
    assert sum(line.price.epsilon for line in quoted.measurements) == 2
    assert quoted.event == bill(*((each.plan, each.price) for each in asked))
    assert quoted.price is None
    assert quote_questions(asked[:1], 0.95, simultaneous=False, rows=None).price == Pure(1)


def test_no_error_is_expected_where_a_divisor_may_be_zero():
    assert expected("SUM(age) / (COUNT(*) - COUNT(age))").error is None


@pytest.mark.parametrize(
    "price", [Pure(10**6), Pure(Fraction(1, 10**29)), Concentrated(10**9), Concentrated(Fraction(1, 10**70))]
)
def test_a_price_whose_noise_cannot_be_drawn_is_refused_before_it_is_paid(price):
    with pytest.raises(Refusal) as refusal:
        list_measures(plan("SELECT SUM(salary) FROM people GROUP BY sex ORDER BY COUNT(*)"), price)
    assert refusal.value.code == "bad_price"
    assert ("epsilon=" if isinstance(price, Pure) else "rho=") in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT city, COUNT(*) AS n, AVG(salary) AS pay, AVG(age) FROM people GROUP BY city",
        "SELECT sex, city, COUNT(*) AS n, AVG(age) AS n_of_years FROM people GROUP BY CUBE (sex, city)",
    ],
)
def test_expected_errors_of_one_name_are_those_of_the_quote(text):
    quoted = quote_plan(plan(text), Pure(1), rows=300).outputs
    assert expect_errors(plan(text), Pure(1), rows=300) == quoted
    for of in {line.of for line in quoted}:
        alone = expect_errors(plan(text), Pure(1), rows=300, of=of)
        assert alone == tuple(line for line in quoted if line.of == of)
    assert not expect_errors(plan(text), Pure(1), of=ErrorName("nothing", "nothing"))
