"""The columns of a release: every row is in one cell, whatever is missing, at an end of its bounds or outside."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest

import adomnia
from adomnia.curator.executor import Statements
from adomnia.methods.contract import BadArgument
from adomnia.methods.synthesis.attributes import count_cells, list_left_out, read_columns, show_columns
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from adomnia.sql.methods.frames import read_rows
from adomnia.sql.reading.parse import parse
from adomnia.sql.values.scope import find_call

ROWS = pd.DataFrame(
    {
        "person": range(8),
        "sex": ["F", "M", None, "F", "other", "M", "F", "F"],
        "member": pd.array([True, False, None, True, True, None, False, True], dtype="boolean"),
        "age": pd.array([0, 100, None, 37, 250, 55, 99, -4], dtype="Int64"),
        "pay": [0.0, 20.0, None, 7.5, 20.0, float("nan"), 1e9, -3.0],
        "kids": pd.array([0, 1, 2, 3, None, 0, 9, 1], dtype="Int64"),
        "born": [*[date(2000, 1, 1)] * 3, None, date(2000, 12, 31), date(1990, 1, 1), *[date(2000, 7, 1)] * 2],
        "name": list("abcdefgh"),
    }
)


@pytest.fixture(scope="module")
def curator():
    own = adomnia.protect(
        ROWS,
        unit="person",
        rows_per_person=1,
        bounds={"age": (0, 100), "pay": (0, 20), "kids": (0, 3), "born": (date(2000, 1, 1), date(2000, 12, 31))},
        categories={"sex": ["F", "M"]},
        epsilon=1,
    )
    return own._curator


def frame_of(curator):
    select = parse("SELECT * FROM marginals(data)")
    return read_rows(select, find_call(select), "marginals", curator.catalog, 0.95).frame


def counts_of(curator, relation, columns):
    """The exact table of some columns."""
    ((batch, statement),) = Statements(curator.engine, curator.catalog).of(
        [Query(relation, tuple(column.key for column in columns), Rows())]
    )
    return curator.engine.run(statement, batch)[0]


def arguments(**given):
    return {"columns": (), "bins": 10, "missing": "kept", **given}


def test_every_row_is_in_one_cell_of_every_column(curator):
    relation, columns = read_columns(frame_of(curator), arguments())
    found = {column.attribute.name: counts_of(curator, relation, [column]) for column in columns}
    assert {name: int(counts.sum()) for name, counts in found.items()} == dict.fromkeys(found, len(ROWS))
    assert found["sex"].tolist() == [4, 2, 2]
    assert found["member"].tolist() == [2, 4, 2]
    assert found["kids"].tolist() == [2, 2, 1, 2, 1]
    assert found["age"].tolist() == [2, 0, 0, 1, 0, 1, 0, 0, 0, 3, 1]  # 250 counts as 100, and -4 as 0
    assert found["pay"].tolist() == [2, 0, 0, 1, 0, 0, 0, 0, 0, 3, 2]  # 20, the upper bound, is in the last bin
    assert found["born"][-1] == 1
    assert found["born"][0] == 4


def test_tables_of_two_columns_have_the_same_margins(curator):
    relation, columns = read_columns(frame_of(curator), arguments())
    single = [counts_of(curator, relation, [column]) for column in columns]
    for one in range(len(columns)):
        for other in range(one):
            both = counts_of(curator, relation, [columns[one], columns[other]])
            np.testing.assert_array_equal(both.sum(axis=1), single[one])
            np.testing.assert_array_equal(both.sum(axis=0), single[other])


def test_rows_with_a_missing_value_are_left_out_where_that_is_asked(curator):
    relation, columns = read_columns(frame_of(curator), arguments(missing="left_out", columns=("sex", "pay")))
    assert counts_of(curator, relation, [columns[0]]).tolist() == [4, 1]
    assert counts_of(curator, relation, [columns[1]]).sum() == 5
    assert None not in columns[0].attribute.levels


def test_levels_are_named_in_words(curator):
    _, columns = read_columns(frame_of(curator), arguments(bins=4))
    levels = {column.attribute.name: column.attribute.levels for column in columns}
    assert levels["sex"] == ("F", "M", None)
    assert levels["member"] == (False, True, None)
    assert levels["age"] == ("0 to 25", "26 to 51", "52 to 77", "78 to 100", None)
    assert levels["pay"] == ("0 to 5", "5 to 10", "10 to 15", "15 to 20", None)
    assert levels["kids"] == (0, 1, 2, 3, None)
    assert levels["born"][0] == "2000-01-01 to 2000-04-01"
    assert {column.attribute.name: column.attribute.sort for column in columns}["born"] == "date"
    assert count_cells(columns[:2]) == 9


def test_columns_are_in_the_order_of_the_rows_or_as_they_are_named(curator):
    frame = frame_of(curator)
    assert show_columns(frame, arguments()) == ("sex", "member", "age", "pay", "kids", "born")
    assert show_columns(frame, arguments(columns=("pay", "sex"))) == ("pay", "sex")


def test_columns_that_are_left_out_are_told(curator):
    frame = frame_of(curator)
    assert list_left_out(frame, arguments()) == ("name",)
    assert list_left_out(frame, arguments(columns=("sex",))) == ()


def test_an_answer_tells_which_columns_are_not_in_it(curator):
    said = "Not in it, because neither values nor bounds are declared: name."
    session = curator.session(curator.catalog.analysts[0].name)
    assert said in session.price("SELECT * FROM marginals(data, ways => 1)", epsilon=1).notes
    assert said in session.sql("SELECT * FROM marginals(data, ways => 1)", epsilon=0.5).notes
    assert said not in session.price("SELECT * FROM marginals(data, columns => (sex))", epsilon=1).notes


def test_too_many_columns_are_refused(curator):
    with pytest.raises(BadArgument, match="are 65"):
        read_columns(frame_of(curator), arguments(columns=("sex",) * 65))
