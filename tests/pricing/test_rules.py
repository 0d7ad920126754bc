"""A method measures what suits the kind of its price, however that is named."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia import Question
from adomnia.pricing.parts import bill, split_together, weigh_outputs
from adomnia.pricing.payment import price_batch, price_question
from adomnia.pricing.quotes import list_measures, quote_plan
from adomnia.pricing.rules import FIRST, SECOND, with_estimators, with_presence
from adomnia.privacy.events import Concentrated, Pure
from adomnia.sql.lower import lower
from adomnia.statistics.count import is_parted
from adomnia.statistics.joint import Joint
from adomnia.statistics.sum import Sum
from kit.pricing import paid
from sql.hospital import HOSPITAL

LM = "SELECT * FROM lm(people, formula => 'salary ~ age')"


@pytest.mark.parametrize(
    ("payment", "columns"),
    [
        ({"epsilon": 1}, [4, 1, 1, 2]),  # the corners of a box, two squares, and the influences of two coefficients
        ({"rho": 0.01}, [*[1] * 6, 2]),  # one sum after the other
    ],
)
def test_sums_are_those_for_the_noise_that_is_bought(payment, columns):
    priced = price_question(Question(LM, **payment), lower(LM, HOSPITAL), HOSPITAL, 0.95)
    assert [measure.query.columns for measure in list_measures(priced.plan, priced.price)] == columns


def test_other_questions_stay_as_they_are():
    text = "SELECT COUNT(*) FROM people"
    plan = lower(text, HOSPITAL)
    assert price_question(Question(text, epsilon=1), plan, HOSPITAL, 0.95).plan == plan


def test_answers_of_the_first_version_are_found_by_what_it_measured():
    priced = price_question(Question(LM, rho=0.01), lower(LM, HOSPITAL), HOSPITAL, 0.95, SECOND)
    assert [measure.query.columns for measure in list_measures(priced.plan, priced.price)] == [1] * 6


def asked(text, **payment):
    question = Question(text, **(payment or {"epsilon": 1}))
    return price_question(question, lower(text, HOSPITAL), HOSPITAL, 0.95)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("SELECT COUNT(*), AVG(cost) FROM visits", 2),
        ("SELECT hospital, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY hospital", 2),
        ("SELECT COUNT(*), COUNT(cost) FROM visits", 1),
        ("SELECT COUNT(*), AVG(cost) FROM visits HAVING COUNT(cost) > 3 ORDER BY SUM(cost)", 2),
        ("SELECT COUNT(*), COUNT(diagnosis) FROM visits", 1),
    ],
)
def test_rows_and_values_are_one_measurement_in_one_scan(text, number):
    priced = asked(text, rho=0.1)
    measured = list_measures(priced.plan, priced.price)
    assert len(measured) == number
    assert all(is_parted(measure.query) for measure in measured)
    assert len({measure.query.keys for measure in measured}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits",
        "SELECT AVG(cost) FROM visits",
        "SELECT COUNT(*), SUM(cost) FROM visits",
        "SELECT COUNT(*), AVG(age), AVG(salary) FROM people",
        "SELECT COUNT(*), AVG(cost), COUNT(DISTINCT person_id) FROM visits",
        "SELECT COUNT(*), AVG(cost), STDDEV(cost) FROM visits",
        "SELECT COUNT(*), AVG(cost) / 2 FROM visits",
        "SELECT COUNT(*), COUNT(v.person_id) FROM people p LEFT JOIN visits v ON p.person_id = v.person_id",
        "SELECT COUNT(*), AVG(cost) FROM visits HAVING SUM(cost) / COUNT(cost) > 3",
    ],
)
def test_other_questions_have_no_joint_counts(text):
    priced = asked(text)
    assert not any(is_parted(measure.query) for measure in list_measures(priced.plan, priced.price))
    assert with_presence(priced.plan) is priced.plan


def test_weights_and_effort_and_batches_leave_both_apart():
    text = "SELECT COUNT(*) AS n, AVG(cost) AS pay FROM visits"
    weighted = asked(text, epsilon=1, weights={"n": 2})
    high = asked(text, rho=0.1, effort="high")
    batch = price_batch([Question(text)] * 2, [lower(text, HOSPITAL)] * 2, {"epsilon": 1}, HOSPITAL, 0.95)
    for priced in (weighted, high, *batch):
        assert not any(is_parted(measure.query) for measure in list_measures(priced.plan, priced.price))


def test_too_many_groups_are_not_doubled():
    plan = lower("SELECT FLOOR(cost * 6), COUNT(*), AVG(cost) FROM visits GROUP BY FLOOR(cost * 6)", HOSPITAL)
    assert with_presence(plan) is plan
    fewer = lower("SELECT FLOOR(cost), COUNT(*), AVG(cost) FROM visits GROUP BY FLOOR(cost)", HOSPITAL)
    assert with_presence(fewer) is not fewer


@pytest.mark.parametrize("price", [Pure(1), Concentrated(0.1)])
def test_what_is_saved_makes_means_better_and_rows_hardly_worse(price):
    plan = lower("SELECT COUNT(*) AS n, AVG(cost) AS pay FROM visits", HOSPITAL)
    before, after = (
        {each.name: each.error for each in quote_plan(one, price).outputs} for one in (plan, with_presence(plan))
    )
    assert after["pay"] < 0.85 * before["pay"]
    assert after["n"] < 1.2 * before["n"]


def price_jointly(text, rules=None, **payment):
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
    assert sorted(entries(price_jointly(text))) == sorted(expected)


@pytest.mark.parametrize("payment", [{"rho": 0.1}, {"rho": 0.1, "effort": "high"}])
def test_under_rho_nothing_is(payment):
    priced = price_jointly("SELECT AVG(age), STDDEV(age) FROM people", **payment)
    assert not any(isinstance(one, Joint) for one in priced.plan.statistics)


def test_the_mean_is_nearer_than_apart_and_so_is_all_that_stands_beside_it():
    text = "SELECT COUNT(*) AS n, COUNT(cost) AS m, SUM(cost) AS total, AVG(cost) AS mean FROM visits"
    now, before = (
        {line.name: line.error for line in quote_plan(priced.plan, priced.price).outputs}
        for priced in (price_jointly(text), price_jointly(text, FIRST))
    )
    assert {name for name in now if now[name] > 0.77 * before[name]} == set()


def test_weights_give_the_rows_a_measurement_of_their_own():
    priced = price_jointly("SELECT COUNT(*) AS n, AVG(age) AS mean FROM people", epsilon=1, weights={"n": 3})
    found = {measure.query.columns: measure.price for measure in list_measures(priced.plan, priced.price)}
    assert found == {1: Pure(Fraction(3, 4)), 2: Pure(Fraction(1, 4))}


def test_a_formula_of_sums_is_measured_the_way_that_is_better():
    people, text = "COUNT(DISTINCT person_id)", "SELECT SUM(age) / COUNT(*) AS r, COUNT(age) AS n FROM people"
    assert entries(price_jointly(text)) == [3]
    # A count that is put together has two noises. What that costs four of them, one measurement less has to bring in.
    counts = ", ".join(f"COUNT(age) * {times} AS n{times}" for times in (2, 3, 4, 5))
    assert entries(price_jointly(f"SELECT {counts}, SUM(age) / {people} AS c FROM people")) == [2, 1]
    sums = "SUM(age) + SUM(salary) + SUM(salary * 2)"
    assert entries(price_jointly(f"SELECT {counts}, ({sums}) / {people} AS c FROM people")) == [1, 1, 1, 1, 1]


def test_an_error_is_bought_for_less():
    text = "SELECT AVG(age) AS mean FROM people"
    now, before = (price_jointly(text, rules, error=1, rows=1000).price.epsilon for rules in (None, FIRST))
    assert Fraction(6, 10) < now / before < Fraction(8, 10)


def test_questions_of_a_batch_share_a_vector():
    texts = ["SELECT AVG(age) FROM people", "SELECT STDDEV(age), SUM(age) FROM people", "SELECT COUNT(*) FROM people"]
    batch = price_batch(
        list(map(Question, texts)), [lower(each, HOSPITAL) for each in texts], {"epsilon": 1}, HOSPITAL, 0.95
    )
    assert {each.price for each in batch} == {Pure(1)}
    assert len({measure for each in batch for measure in list_measures(each.plan, each.price)}) == 1


def test_many_groups_of_nine_wide_sums_are_measured_apart():
    priced = price_jointly("SELECT FLOOR(age * 10) AS k, CORR(age, salary) FROM people GROUP BY k")
    assert entries(priced) == [1] * 6
    assert entries(price_jointly("SELECT FLOOR(age * 10) AS k, COVAR_POP(age, salary) FROM people GROUP BY k")) == [4]


PRICES = [Pure(1), Concentrated(Fraction(1, 20))]
every_price = pytest.mark.parametrize("price", PRICES, ids=str)


def plan(text, weights=None):
    return weigh_outputs(lower(text, HOSPITAL), weights or {})


def centred(*plans):
    return [each.centred for one in plans for each in one.statistics if isinstance(each, Sum)]


def errors(asked, price):
    return {output.name: output.error for output in quote_plan(asked, price).outputs}


@every_price
def test_a_sum_beside_the_mean_costs_nothing_more(price):
    asked = plan("SELECT SUM(salary) AS total, AVG(salary) AS mean FROM people")
    (better,) = with_estimators([asked], price)
    assert centred(better) == [True]
    assert set(paid(better, price)) == set(paid(plan("SELECT AVG(salary) FROM people"), price))
    assert errors(better, price)["total"] < 0.65 * errors(asked, price)["total"]
    assert errors(better, price)["mean"] < errors(asked, price)["mean"]


@every_price
def test_a_sum_beside_the_count_of_its_values_is_better_put_together(price):
    asked = plan("SELECT SUM(salary) AS total, COUNT(salary) AS n FROM people")
    (better,) = with_estimators([asked], price)
    assert centred(better) == [True]
    assert errors(better, price)["total"] < 0.75 * errors(asked, price)["total"]
    assert errors(better, price)["n"] == errors(asked, price)["n"]


@every_price
@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(age) FROM people",
        "SELECT SUM(age), COUNT(*) FROM people",
        "SELECT SUM(age), AVG(salary) FROM people",
        "SELECT SUM(age), SUM(salary) FROM people",
        "SELECT SUM(age - 60), AVG(age - 60) FROM people",
    ],
)
def test_a_sum_that_shares_nothing_is_measured_itself(text, price):
    assert with_estimators([plan(text)], price) == [plan(text)]


@every_price
def test_by_itself_a_sum_is_never_better_put_together(price):
    """What the module claims, for bounds of all kinds and the even split."""
    for value in ("age", "salary", "age - 60", "age - 100", "CLAMP(age, 100, 120)"):
        asked = plan(f"SELECT SUM({value}) AS x FROM people")
        other = asked.with_statistics(lambda each: Sum(each.query, centred=True))
        # A sum whose middle is 0 would waste half of its price on a count.
        assert errors(asked, price)["x"] <= 1.001 * errors(other, price)["x"]


def test_the_way_that_makes_all_outputs_better_together_is_taken():
    worse = plan("SELECT SUM(age) + 100 * COUNT(age) AS r FROM people")
    assert centred(*with_estimators([worse], Pure(1))) == [False]  # the noise of the count would be in it 160 times
    for better in ("SUM(age) / COUNT(age) AS r", "SUM(age) / COUNT(*) AS r, COUNT(age) AS n"):
        assert centred(*with_estimators([plan(f"SELECT {better} FROM people")], Pure(1))) == [True]


def test_weights_are_looked_at():
    """Where the mean is hardly paid for, the sum is measured itself."""
    text = "SELECT SUM(age) AS total, AVG(age) AS mean FROM people"
    for weights in ({"total": 1000}, {"mean": 1000}):
        asked = plan(text, weights)
        (chosen,) = with_estimators([asked], Pure(1))
        assert centred(chosen) == [True]


def test_a_mean_of_another_question_of_the_batch_serves_as_well():
    plans = [plan("SELECT AVG(age) FROM people"), plan("SELECT SUM(age) FROM people")]
    ways = with_estimators(plans, Pure(1))
    assert centred(*ways) == [True]
    assert len(bill(*zip(ways, split_together(ways, Pure(1)), strict=True)).events) == 2


def test_a_price_whose_noise_cannot_be_drawn_changes_nothing():
    asked = plan("SELECT SUM(age) / COUNT(age) AS r FROM people")
    assert with_estimators([asked], Pure(10**6)) == [asked]
