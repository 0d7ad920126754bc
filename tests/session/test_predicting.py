"""Predictions come as a table of the kind that was given."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adomnia.errors import Refusal

ROWS = [{"age": 30, "sex": "F", "note": "a"}, {"age": 40, "sex": "M", "note": "b"}]
NAMES = ["age", "sex", "note", "prediction", "prediction_lower", "prediction_upper"]


@pytest.fixture
def model(alice):
    return alice.mock().table("people").lm("salary ~ age + sex", epsilon=100)


def test_rows_stay_rows(model):
    found = model.predict(ROWS)
    assert [list(row) for row in found] == [NAMES, NAMES]
    assert all(row["prediction_lower"] < row["prediction"] < row["prediction_upper"] for row in found)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, pa.RecordBatch.from_pylist])
def test_a_table_stays_a_table_of_its_kind(model, make):
    table = make(ROWS)
    found = model.predict(table)
    assert type(found) is type(table)
    as_rows = found.to_dict("records") if isinstance(found, pd.DataFrame) else None
    as_rows = as_rows or (found.to_dicts() if isinstance(found, pl.DataFrame) else found.to_pylist())
    assert as_rows == model.predict(ROWS)


def test_pandas_keeps_its_index_and_its_types(model):
    table = pd.DataFrame(ROWS, index=[7, 9]).astype({"age": "int8"})
    found = model.predict(table)
    assert list(found.index) == [7, 9]
    assert found.dtypes["age"] == "int8"
    assert list(table.columns) == NAMES[:3]


def test_a_query_of_polars_is_run(model):
    assert model.predict(pl.LazyFrame(ROWS)).equals(model.predict(pl.DataFrame(ROWS)))


def test_predictions_can_be_made_again_beside_other_ones(model):
    for make in (pd.DataFrame, pl.DataFrame, pa.Table.from_pylist):
        once = model.predict(make(ROWS))
        again = model.predict(once)
        assert sorted(again.schema.names if isinstance(again, pa.Table) else again.columns) == sorted(NAMES)


def test_answers_are_rows_too(alice, model):
    means = alice.mock().sql("SELECT sex, AVG(age) AS age FROM people GROUP BY sex", epsilon=50)
    assert [row["sex"] for row in model.predict(means)] == means["sex"]


def test_no_rows_have_no_predictions(model):
    assert model.predict([]) == []
    assert list(model.predict(pd.DataFrame(ROWS).head(0)).columns) == NAMES


def test_one_dictionary_is_no_rows(model):
    with pytest.raises(Refusal, match=r"write \[row\]"):
        model.predict(ROWS[0])
