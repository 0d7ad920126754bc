"""Quantiles and extremes from text to answer, over rows that everybody knows here."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import adomnia
from adomnia.errors import Refusal

ROWS = 3001
# At epsilon 100 and one row a person, a rank is off by ten rows with a probability below 1e-40.
PRICE = 100


@pytest.fixture(scope="module")
def values():
    return np.arange(ROWS) * 0.03


@pytest.fixture(scope="module")
def session(values):
    frame = pa.table(
        {
            "person_id": np.arange(ROWS),
            "fare": values,
            "day": np.arange(ROWS) % 7,
            "sex": pa.array(["F", "M", "X"]).take(pa.array(np.arange(ROWS) % 2)),
        }
    )
    return adomnia.protect(
        frame,
        unit="person_id",
        rows_per_person=1,
        bounds={"fare": (0, 100), "day": (0, 6)},
        categories={"sex": ["F", "M", "X"]},
        epsilon=100_000,
    )


def test_quantiles_are_within_a_few_rows_of_those_of_the_data(session):
    answer = session.sql(
        "SELECT MEDIAN(fare) AS a, QUANTILE(fare, 0.9) AS b, "
        "PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY fare DESC) AS c FROM data",
        epsilon=PRICE,
    )
    for name, share in (("a", 0.5), ("b", 0.9), ("c", 0.25)):
        assert answer[name][0] == pytest.approx(share * ROWS * 0.03, abs=0.3)
        ((lower, upper),) = answer.interval(name, 0.95)
        assert 0 < upper - lower < 0.6


def test_extremes_are_a_few_rows_inside(session):
    answer = session.sql("SELECT MIN(fare) AS low, MAX(fare) AS high FROM data", epsilon=PRICE)
    assert 0 <= answer["low"][0] < 0.6
    assert 89.4 < answer["high"][0] <= 90.0
    assert answer.interval("low")[0][0] == 0
    assert answer.interval("high")[0][1] == 100


def test_every_group_has_its_own_and_one_without_rows_has_the_bounds(session):
    answer = session.sql("SELECT sex, MEDIAN(fare) AS middle, MEDIAN(day) AS day FROM data GROUP BY sex", epsilon=PRICE)
    assert answer["sex"] == ["F", "M", "X"]
    assert answer["middle"][:2] == pytest.approx([45, 45], abs=0.5)
    assert answer["day"][:2] == [3, 3]
    # A group of nobody has an end beyond the grid but for a chance of 1 in 36, and of two draws both ends are inside.
    lower, upper = answer.interval("middle")[2]
    assert answer["middle"][2] is None or lower <= answer["middle"][2] <= upper


def test_the_same_question_has_the_same_answer_for_nothing(session):
    text = "SELECT MEDIAN(fare) AS a, MAX(fare) AS b FROM data WHERE day < 3"
    first, again = (session.sql(text, epsilon=1) for _ in range(2))
    assert (first["a"], first["b"]) == (again["a"], again["b"])
    assert first.interval("a") == again.interval("a")
    assert again.replayed


def test_rows_that_a_condition_keeps_are_those_that_count(session):
    answer = session.sql("SELECT MEDIAN(fare) AS a FROM data WHERE fare > 60", epsilon=PRICE)
    assert answer["a"][0] == pytest.approx(75, abs=0.5)


def test_a_price_of_next_to_nothing_is_refused(session):
    with pytest.raises(Refusal) as refusal:
        session.sql("SELECT MEDIAN(fare) FROM data", epsilon=1e-12)
    assert refusal.value.code == "bad_price"


def test_a_table_has_them_in_python(session):
    table = session.table("data")
    assert table.median("fare", epsilon=PRICE)["median"][0] == pytest.approx(45, abs=0.3)
    assert table.quantile("fare + 1", 0.9, epsilon=PRICE)["quantile"][0] == pytest.approx(82, abs=0.3)
    assert table.where("day = 0").min("fare", epsilon=PRICE)["min"][0] < 4
    assert table.max("fare", by="sex", epsilon=PRICE)["max"][0] > 89
