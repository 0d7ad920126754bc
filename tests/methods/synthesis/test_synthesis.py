"""Synthetic rows through a whole session: asked, priced, explained, shown, asked again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import adomnia
from kit.altering import alter
from kit.bits import SeededBits

TEXT = "SELECT * FROM {method}((SELECT sex, city, age, pay FROM data), size => 60)"


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
