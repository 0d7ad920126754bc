"""Answers of SQL over results: paid as their measurements, shown everywhere, the same for a client."""

from __future__ import annotations

import json
from math import isnan

import numpy as np
import pandas as pd
import pytest

from adomnia import protect
from adomnia.errors import Refusal
from adomnia.methods.parts.testing.report import adjust_p_values
from adomnia.wire.answers import AnswerReply, answer_of, answer_record

CITIES, SEXES = ("a", "b", "c"), ("F", "M")
ROLLED = "SELECT city, sex, COUNT(*) AS n, AVG(pay) AS m, GROUPING(city) AS g FROM data GROUP BY ROLLUP (city, sex)"


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "id": range(900),
            "city": rng.choice(CITIES, 900, p=[0.6, 0.3, 0.1]),
            "sex": rng.choice(SEXES, 900),
            "pay": rng.uniform(0, 100, 900).round(),
        }
    )


@pytest.fixture
def owner(table):
    categories = {"city": CITIES, "sex": SEXES}
    with_bounds = {"pay": (0, 100)}
    return protect(
        table, unit="id", rows_per_person=1, epsilon=100, delta=1e-9, bounds=with_bounds, categories=categories
    )


def sent(answer):
    """The answer as a client gets it."""
    return answer_of(
        AnswerReply.model_validate(json.loads(json.dumps(answer_record(answer)))), lambda *_: pytest.fail("asked again")
    )


def test_totals_are_the_sums_of_what_is_shown_and_stand_below_it(owner):
    answer = owner.sql(ROLLED, epsilon=1)
    rows = list(zip(answer["city"], answer["sex"], answer["n"], strict=True))
    assert [row[:2] for row in rows] == [
        *((city, sex) for city in CITIES for sex in (*SEXES, None)),
        (None, None),
    ]
    found = {row[:2]: row[2] for row in rows}
    for city in CITIES:
        assert found[city, None] == sum(found[city, sex] for sex in SEXES)
    assert found[None, None] == sum(found[city, None] for city in CITIES)
    assert answer["g"] == [0] * 9 + [1]


def test_a_total_of_many_groups_is_less_sure_than_one_group_and_surer_than_their_intervals_added_up(owner):
    answer = owner.sql(ROLLED, epsilon=1)
    widths = [upper - lower for lower, upper in answer.interval("n")]
    assert widths[0] < widths[2] < 2 * widths[0]
    assert widths[2] < widths[-1] < 6 * widths[0]
    simultaneous = [upper - lower for lower, upper in answer.interval("n", simultaneous=True)]
    assert all(wide > narrow for wide, narrow in zip(simultaneous, widths, strict=True))
    means = [upper - lower for lower, upper in answer.interval("m")]
    assert means[-1] < means[0]  # of more rows


def test_what_was_measured_is_not_paid_for_again_however_it_is_looked_at(owner):
    first = owner.sql("SELECT city, sex, COUNT(*) AS n FROM data GROUP BY city, sex", epsilon=1)
    texts = (
        "SELECT sex, city, COUNT(*) AS n FROM data GROUP BY CUBE (city, sex)",
        "SELECT SUM(n) AS t FROM (SELECT city, sex, COUNT(*) AS n FROM data GROUP BY city, sex) WHERE n > 5",
        "SELECT city, RANK() OVER (ORDER BY COUNT(*)) AS r FROM data GROUP BY city, sex",
        "SELECT CASE WHEN COUNT(*) > 50 THEN SQRT(COUNT(*)) END AS x FROM data GROUP BY city, sex",
    )
    answers = [owner.sql(text, epsilon=1) for text in texts]
    assert all(answer.replayed for answer in answers)
    assert answers[0].cost == first.cost
    assert answers[1]["t"] == [sum(n for n in first["n"] if n > 5)]
    assert len(answers[1]) == 1
    assert [root is None for root in answers[3]["x"]] == [n <= 50 for n in first["n"]]


def test_null_is_shown_as_null_everywhere(owner):
    text = (
        "SELECT city, sex, NULLIF(COUNT(*), COUNT(*)) AS none, CASE WHEN city = 'a' THEN COUNT(*) END AS x "
        "FROM data GROUP BY ROLLUP (city, sex)"
    )
    answer = owner.sql(text, epsilon=1)
    assert answer["none"] == [None] * 10
    assert [value is None for value in answer["x"]] == [city != "a" for city in answer["city"]]
    assert all(isinstance(value, int) for value in answer["x"] if value is not None)
    assert "NULL" in repr(answer)
    assert "NULL" in answer._repr_html_()
    assert answer.records()[-1]["x"] is None
    assert answer.to_arrow()["x"].null_count == answer["x"].count(None)
    assert isnan(answer.to_pandas()["x"].iloc[-1])
    assert answer.to_polars()["x"].null_count() == answer["x"].count(None)
    received = sent(answer)
    assert received.records() == answer.records()
    assert received["city"] == answer["city"]
    assert repr(received) == repr(answer)


def test_a_client_sees_the_same_rows(owner):
    for text in (
        ROLLED,
        "SELECT COUNT(*) / SUM(COUNT(*)) OVER () AS part, RANK() OVER (ORDER BY COUNT(*)) AS r FROM data GROUP BY city",
        "SELECT MAX(n) AS n, COUNT(*) AS k FROM (SELECT city, COUNT(*) AS n FROM data GROUP BY city) WHERE n > 1",
    ):
        answer = owner.sql(text, epsilon=1)
        assert sent(answer).records() == answer.records()


def test_groups_that_are_found_can_be_ranked_and_added_up_but_not_rolled_up(table):
    owner = protect(
        table.assign(town=table["city"]),
        unit="id",
        rows_per_person=1,
        epsilon=100,
        delta=1e-3,
        bounds={"pay": (0, 100)},
    )
    text = "SELECT town, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM data GROUP BY town"
    answer = owner.sql(text, epsilon=2, delta=1e-6)
    assert answer["town"] == list(CITIES)
    assert sum(answer["share"]) == pytest.approx(1)
    total = owner.sql(f"SELECT SUM(n) AS t FROM ({text})", epsilon=2, delta=1e-6)
    assert total.replayed
    assert total["t"] == [sum(answer["n"])]
    with pytest.raises(Refusal, match="of which some are not found") as refusal:
        owner.sql("SELECT town, COUNT(*) FROM data GROUP BY ROLLUP (town)", epsilon=1, delta=1e-6)
    assert refusal.value.code == "grouping_sets"


def test_several_groupings_are_priced_level_by_level_and_take_no_high_effort(owner):
    lines = {line.name: line.error for line in owner.price(ROLLED, epsilon=1).outputs}
    assert lines["n"] < lines["n of 2 groups"] < lines["n of 6 groups"] < 6 * lines["n"]
    explained = str(owner.explain(ROLLED, epsilon=1))
    assert "3 groupings: (city, sex), (city), ()" in explained
    assert "error of 6 groups as one" in explained
    assert "GROUPING(city) needs no measurement" in explained
    cheap, dear = (
        owner.price(text, error=30).price
        for text in (
            ROLLED.replace(", AVG(pay) AS m", "").replace("ROLLUP ", ""),
            ROLLED.replace(", AVG(pay) AS m", ""),
        )
    )
    assert cheap.epsilon < dear.epsilon
    with pytest.raises(Refusal, match="do not add up over groups"):
        owner.price(ROLLED, rho=0.1, effort="high")


def test_an_error_is_told_before_where_it_is_known(owner):
    text = (
        "SELECT SUM(COUNT(*)) OVER () AS t, MAX(COUNT(*)) OVER () AS m, AVG(COUNT(*)) OVER () AS a, "
        "CASE WHEN city = 'a' THEN 1 ELSE 2 END * COUNT(*) AS c FROM data GROUP BY city"
    )
    errors = {line.name: line.error for line in owner.price(text, epsilon=1).outputs}
    assert errors["m"] is None
    assert errors["t"] == pytest.approx(3 * errors["a"], abs=3)
    paid = owner.sql(text, epsilon=1)
    (lower, upper), *_ = paid.interval("t")
    assert (upper - lower) / 2 == errors["t"]
    chosen = "SELECT SUM(n) AS t FROM (SELECT city, COUNT(*) AS n FROM data GROUP BY city) WHERE n > 3"
    assert owner.price(chosen, epsilon=1).outputs[0].error is None


def test_an_error_that_nobody_can_promise_is_refused_as_such(owner):
    with pytest.raises(Refusal, match="depends on how the groups compare") as refusal:
        owner.price("SELECT city, RANK() OVER (ORDER BY COUNT(*)) AS r FROM data GROUP BY city", error=1)
    assert refusal.value.code == "error_not_known"
    with pytest.raises(Refusal, match=r"ask SELECT city, COUNT\(\*\) FROM data GROUP BY city first"):
        owner.price("SELECT m FROM (SELECT city, AVG(pay) AS m FROM data GROUP BY city)", error=1)


BY_CITY = "SELECT city, p_value FROM t_test(data, column => pay, mu => 48, by => city{})"


@pytest.mark.parametrize("first", ["", ", adjust => 'holm'"])
def test_p_values_are_adjusted_free_of_charge_whichever_way_was_paid_for(owner, first):
    paid = owner.sql(BY_CITY.format(first), epsilon=20)
    assert not paid.replayed
    found = {}
    for way in ("none", "holm", "BH", "bonferroni"):
        answer = owner.sql(BY_CITY.format(f", adjust => '{way}'"), epsilon=20)
        assert answer.replayed
        found[way] = answer["p_value"]
        assert sent(answer)["p_value"] == found[way]
        assert any("p-values are adjusted for" in note for note in answer.notes) is (way != "none")
        assert not any("as it was given" in note for note in answer.notes)
        if way != "none":
            assert found[way] == list(adjust_p_values(found["none"], way.lower()))
    again = owner.sql(BY_CITY.format(first), epsilon=20)
    assert again["p_value"] == paid["p_value"]


def test_rows_are_chosen_by_adjusted_p_values(owner):
    every = owner.sql(BY_CITY.format(", adjust => 'bonferroni'"), epsilon=20)
    largest = max((each for each in every["p_value"] if each is not None), default=1.0)
    text = f"{BY_CITY.format(', adjust => {}')} WHERE p_value < {largest} ORDER BY p_value DESC".replace(
        "{}", "'bonferroni'"
    )
    kept = owner.sql(text, epsilon=20)
    assert kept["p_value"] == sorted(
        (each for each in every["p_value"] if each is not None and each < largest), reverse=True
    )


def test_python_asks_for_it_by_its_name(owner):
    people = owner.table("data")
    adjusted = people.t_test("pay", mu=48, by="city", adjust="BH", epsilon=20)
    assert adjusted["p_value"] == owner.sql(BY_CITY.format(", adjust => 'bh'"), epsilon=20)["p_value"]


def test_a_table_of_counts_is_bought_by_its_error(owner):
    answer = owner.sql("SELECT * FROM frequencies(data, factor => city)", error=10)
    assert all(high - low <= 20 for low, high in answer.interval("count"))
    assert owner.sql("SELECT * FROM frequencies(data, factor => city)", error=10).replayed
    assert 0.2 < float(answer.receipt.event.events[0].epsilon) < 0.4


RICH = "SELECT term, estimate, p_value FROM logit((SELECT pay > 60 AS rich, sex FROM data), formula => 'rich ~ sex'{})"


@pytest.mark.parametrize("first", ["", ", exponentiate => TRUE"])
def test_odds_ratios_are_free_of_charge_whichever_way_was_paid_for(owner, first):
    owner.sql(RICH.format(first), epsilon=20)
    plain, ratios = (owner.sql(RICH.format(each), epsilon=20) for each in ("", ", exponentiate => TRUE"))
    assert plain.replayed
    assert ratios.replayed
    assert plain["p_value"] == ratios["p_value"]
    told = [(one, two) for one, two in zip(plain["estimate"], ratios["estimate"], strict=True) if one is not None]
    assert [two for _, two in told] == pytest.approx([np.exp(one) for one, _ in told])
    for ends, ratio_ends in zip(plain.interval("estimate"), ratios.interval("estimate"), strict=True):
        assert ratio_ends == pytest.approx(np.exp(ends))
    assert any("odds ratios" in note for note in ratios.notes)
    assert not any("odds ratios" in note for note in plain.notes)
    assert sent(ratios).interval("estimate") == ratios.interval("estimate")


def test_a_quote_tells_the_error_of_what_is_shown(owner):
    plain, ratios = (owner.price(RICH.format(each), epsilon=1) for each in ("", ", exponentiate => TRUE"))
    assert plain.outputs[0].error != ratios.outputs[0].error
    assert plain.event == ratios.event
