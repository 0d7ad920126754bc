"""Answers as Arrow tables."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from math import inf, nan

import numpy as np
import pyarrow as pa
import pytest

from adomnia.plans.columns import KeyColumn, ValueColumn
from adomnia.privacy.filters import Left
from adomnia.session.answer import Answer
from adomnia.statistics.contract import Estimate

NOTHING = Left(Fraction(1), Fraction(0), Fraction(0))


def answer(*columns, rows=(1, 0)):
    return Answer(columns, np.array(rows, dtype=np.intp), 0.95, None, False, NOTHING)


def measured(name, values, reach=1.0, **more):
    numbers = np.array(values, dtype=float)
    return ValueColumn(
        name, Estimate(numbers, lambda _, cells: (numbers - cells * reach, numbers + cells * reach), "m", **more)
    )


def test_columns_keep_their_order_types_and_intervals():
    table = answer(
        KeyColumn("k", ("a", None)),
        measured("n", [1, 2], whole=True),
        measured("x", [0.5, 2.5], whole=False),
    ).to_arrow()
    assert table.to_pylist() == [
        {"k": None, "n": 2, "n_lower": 1, "n_upper": 3, "x": 2.5, "x_lower": 1.5, "x_upper": 3.5},
        {"k": "a", "n": 1, "n_lower": 0, "n_upper": 2, "x": 0.5, "x_lower": -0.5, "x_upper": 1.5},
    ]
    assert [str(kind) for kind in table.schema.types] == ["string", *["int64"] * 3, *["double"] * 3]
    assert table.schema.field("n_lower").metadata == {b"kind": b"lower", b"method": b"m"}
    assert table.schema.field("k").metadata == {b"kind": b"key"}


def test_intervals_may_cover_all_cells_at_once():
    found = answer(measured("n", [5.0, 7.0], whole=True))
    assert found.to_arrow(simultaneous=True)["n_lower"].to_pylist() == [5, 3]
    assert found.to_arrow()["n_lower"].to_pylist() == [6, 4]


def test_an_end_that_is_not_there_is_infinite_and_makes_no_other_value_wrong():
    table = answer(measured("n", [5.0, 7.0], reach=inf, whole=True)).to_arrow()
    assert table.to_pylist() == [{"n": None, "n_lower": -inf, "n_upper": inf}] * 2
    values = np.array([5.0, 7.0])
    estimate = Estimate(values, lambda *_: (values - 1, np.full(2, inf)), "noisy", whole=True)
    assert answer(ValueColumn("n", estimate)).to_arrow().to_pylist() == [
        {"n": 7, "n_lower": 6.0, "n_upper": inf},
        {"n": 5, "n_lower": 4.0, "n_upper": inf},
    ]


@pytest.mark.parametrize("value", [2.0**53, 1e300])
def test_integers_that_may_have_been_rounded_are_doubles(value):
    table = answer(measured("n", [value, 1.0], whole=True)).to_arrow()
    assert table["n"].type == pa.float64()


def test_what_is_null_is_missing_and_the_others_stay_integers():
    table = answer(measured("n", [nan, 1.0], whole=True)).to_arrow()
    assert table["n"].to_pylist() == [1, None]
    assert table["n"].type == pa.int64()


def test_days_are_dates_and_unknown_ones_missing():
    first = (date(2024, 2, 29) - date.min).days
    table = answer(measured("d", [first, nan], whole=True, dates=True)).to_arrow()
    assert table["d"].to_pylist() == [None, date(2024, 2, 29)]
    assert table["d_upper"].to_pylist() == [None, date(2024, 3, 1)]
    assert table["d"].type == pa.date32()


def test_integers_too_large_for_a_column_are_written_as_digits():
    assert answer(KeyColumn("k", (2**70, None))).to_arrow()["k"].to_pylist() == [None, str(2**70)]


def test_an_answer_without_rows_has_its_types():
    table = answer(KeyColumn("k", ("a", "b")), measured("n", [1, 2], whole=True), rows=()).to_arrow()
    assert table.num_rows == 0
    assert [str(kind) for kind in table.schema.types] == ["string", *["int64"] * 3]


def test_an_integer_that_is_null_leaves_the_others_integers():
    table = answer(measured("n", [nan, 1.0], whole=True)).to_arrow()
    assert table["n"].type == pa.int64()
    assert sorted(table["n"].to_pylist(), key=str) == [1, None]


def test_no_end_of_an_interval_has_the_name_of_a_column():
    columns = (measured("n", [1.0, 2.0]), KeyColumn("N_lower", ("a", "b")), measured("n_lower_", [3.0, 4.0]))
    table = answer(*columns).to_arrow()
    names = ["n", "n_lower__", "n_upper", "N_lower", "n_lower_", "n_lower__lower", "n_lower__upper"]
    assert table.column_names == names
    assert list(answer(*columns).records()[0]) == list(answer(*columns).to_pandas().columns) == names
    assert sorted(answer(*columns).to_arrow()["N_lower"].to_pylist()) == ["a", "b"]
