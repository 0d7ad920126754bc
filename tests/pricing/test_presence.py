"""Where a question counts rows and values of one kind, both are one measurement; elsewhere nothing changes."""

from __future__ import annotations

import pytest

from adomnia import Question
from adomnia.pricing.payment import price_batch, price_question
from adomnia.pricing.presence import with_presence
from adomnia.pricing.quotes import list_measures, quote_plan
from adomnia.privacy.events import Concentrated, Pure
from adomnia.sql.lower import lower
from adomnia.statistics.presence import is_parted
from sql.hospital import HOSPITAL


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
def test_other_questions_stay_as_they_are(text):
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
