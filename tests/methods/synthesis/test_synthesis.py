"""Synthetic rows through a whole session: asked, priced, explained, shown, asked again."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import adomnia
from adomnia.methods.synthesis.synthesis import decode_column, decode_rows, find_step
from adomnia.noise.afterwards import follow
from adomnia.statistics.products import Attribute
from kit.altering import alter
from kit.bits import SeededBits

TEXT = "SELECT * FROM {method}((SELECT sex, city, age, pay FROM data), size => 60)"
AGES = Attribute("age", ("0 to 9", "10 to 19", "20", None), "integer", (-0.5, 9.5, 19.5, 20.5))


@pytest.fixture(scope="module")
def session():
    chance = np.random.default_rng(0)
    people = 2000
    sex = chance.choice(["F", "M"], people)
    data = pd.DataFrame(
        {
            "id": range(people),
            "sex": sex,
            "city": np.where(chance.random(people) < 0.2, None, chance.choice(["A", "B", "C"], people)),
            "age": chance.integers(18, 90, people),
            "pay": np.where(sex == "F", 30_000.0, 20_000.0) + chance.gamma(2, 5_000, people),
        }
    )
    with adomnia.protect(
        data,
        unit="id",
        rows_per_person=1,
        epsilon=100,
        delta=1e-6,
        bounds={"age": (0, 100), "pay": (0, 200_000)},
        categories={"sex": ["F", "M"], "city": ["A", "B", "C"]},
    ) as opened:
        alter(opened._curator, bits=SeededBits("synthesis"))  # how many drawn rows have no city is a matter of noise
        yield opened


@pytest.mark.parametrize("method", ["aim", "mst"])
@pytest.mark.parametrize("price", [{"rho": 0.05}, {"epsilon": 1}], ids=str)
def test_an_answer_of_rows_alone_goes_all_the_way(session, method, price):
    text = TEXT.format(method=method)
    assert "rows" in repr(session.price(text, **price))
    assert "choice" in str(session.explain(text, **price))
    answer = session.sql(text, **price)
    assert "of nobody" in repr(answer)
    assert answer._repr_html_()
    frame = answer.to_pandas()
    assert list(frame.columns) == ["sex", "city", "age", "pay"]
    assert len(frame) == 60
    assert frame["age"].dropna().between(0, 100).all()
    assert frame["city"].isna().any()
    again = session.sql(text, **price).to_pandas()
    assert again.astype(str).equals(frame.astype(str))


def test_rows_are_chosen_and_sorted_like_any_table(session):
    text = "SELECT sex, age FROM aim((SELECT sex, age FROM data)) WHERE sex = 'F' AND age > 30 ORDER BY age LIMIT 5"
    frame = session.sql(text, rho=0.1).to_pandas()
    assert list(frame.columns) == ["sex", "age"]
    assert set(frame["sex"]) == {"F"}
    assert frame["age"].is_monotonic_increasing
    assert frame["age"].min() > 30


def decode(attribute, places):
    return decode_column(attribute, np.array(places, dtype=np.int32), follow([np.arange(3)], "values"))


def test_declared_values_are_written_as_they_are_and_missing_ones_are_none():
    assert decode(Attribute("city", ("Oslo", "Bergen", None)), [1, 2, 0]) == ("Bergen", None, "Oslo")
    assert decode(Attribute("member", (False, True), "boolean"), [1, 0]) == (True, False)


def test_whole_numbers_of_a_bin_are_all_drawn_equally_often():
    """A false alarm has a probability of 1e-6."""
    drawn = decode(AGES, [1] * 20_000)
    counts = np.bincount(drawn, minlength=20)
    assert counts[:10].sum() == 0
    assert stats.chisquare(counts[10:]).pvalue > 1e-6
    assert stats.chisquare(counts[10:], np.r_[1500, [18_500 / 9] * 9]).pvalue < 1e-6  # a wrong distribution is found
    assert decode(AGES, [2, 3]) == (20, None)
    assert all(isinstance(value, int) for value in drawn[:10])


def test_numbers_are_multiples_of_the_declared_step_and_lie_in_their_bin():
    prices = Attribute("price", ("a", "b"), "number", (0.0, 1.0, 2.0), 0.25)
    assert set(decode(prices, [1] * 500)) == {1.0, 1.25, 1.5, 1.75}


def test_without_a_declared_step_numbers_have_digits_that_a_reader_expects():
    salaries = Attribute("salary", ("a", "b"), "number", (0.0, 31250.0, 62500.0))
    assert find_step(salaries) == 100.0
    drawn = decode(salaries, [0] * 300 + [1] * 300)
    assert all(0 <= value < 31300 for value in drawn[:300])
    assert all(31250 <= value < 62500 for value in drawn[300:])
    shares = Attribute("share", ("a",), "number", (0.1, 0.4))
    assert all(len(str(value)) <= 5 and 0.1 <= value < 0.4 for value in decode(shares, [0] * 300))


def test_days_are_days():
    first = date(2022, 1, 1).toordinal() - 1
    days = Attribute("day", ("a", None), "date", (first - 0.5, first + 6.5))
    assert set(decode(days, [0] * 300)) == {date(2022, 1, day) for day in range(1, 8)}
    assert decode(days, [1]) == (None,)


def test_a_bin_that_holds_no_multiple_of_the_step_has_one_value():
    assert len(set(decode(Attribute("x", ("a",), "number", (0.1, 0.4), 1.0), [0] * 50))) == 1


@pytest.mark.parametrize("number", [0, 1, 7])
def test_rows_are_decoded_column_by_column_and_the_same_again(number):
    rows = np.zeros((number, 2), dtype=np.int32)
    attributes = (AGES, Attribute("city", ("Oslo",)))
    first, again = (decode_rows(attributes, rows, follow([np.arange(2)], "values")) for _ in range(2))
    assert first == again
    assert list(first) == ["age", "city"]
    assert all(len(values) == number for values in first.values())
