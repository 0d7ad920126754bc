"""A sum is put together from what is measured anyway, where that makes it better."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.pricing.parts import bill, split_together, weigh_outputs
from adomnia.pricing.quotes import quote_plan
from adomnia.pricing.ways import with_ways
from adomnia.privacy.events import Concentrated, Pure
from adomnia.sql.lower import lower
from adomnia.statistics.sum import Sum
from kit.pricing import paid
from sql.hospital import HOSPITAL

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
    (better,) = with_ways([asked], price)
    assert centred(better) == [True]
    assert set(paid(better, price)) == set(paid(plan("SELECT AVG(salary) FROM people"), price))
    assert errors(better, price)["total"] < 0.65 * errors(asked, price)["total"]
    assert errors(better, price)["mean"] < errors(asked, price)["mean"]


@every_price
def test_a_sum_beside_the_count_of_its_values_is_better_put_together(price):
    asked = plan("SELECT SUM(salary) AS total, COUNT(salary) AS n FROM people")
    (better,) = with_ways([asked], price)
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
    assert with_ways([plan(text)], price) == [plan(text)]


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
    assert centred(*with_ways([worse], Pure(1))) == [False]  # the noise of the count would be in it 160 times
    for better in ("SUM(age) / COUNT(age) AS r", "SUM(age) / COUNT(*) AS r, COUNT(age) AS n"):
        assert centred(*with_ways([plan(f"SELECT {better} FROM people")], Pure(1))) == [True]


def test_weights_are_looked_at():
    """Where the mean is hardly paid for, the sum is measured itself."""
    text = "SELECT SUM(age) AS total, AVG(age) AS mean FROM people"
    for weights in ({"total": 1000}, {"mean": 1000}):
        asked = plan(text, weights)
        (chosen,) = with_ways([asked], Pure(1))
        assert centred(chosen) == [True]


def test_a_mean_of_another_question_of_the_batch_serves_as_well():
    plans = [plan("SELECT AVG(age) FROM people"), plan("SELECT SUM(age) FROM people")]
    ways = with_ways(plans, Pure(1))
    assert centred(*ways) == [True]
    assert len(bill(*zip(ways, split_together(ways, Pure(1)), strict=True)).events) == 2


def test_a_price_whose_noise_cannot_be_drawn_changes_nothing():
    asked = plan("SELECT SUM(age) / COUNT(age) AS r FROM people")
    assert with_ways([asked], Pure(10**6)) == [asked]
