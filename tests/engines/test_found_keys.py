from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from adomnia.engines.cells import read_cells
from adomnia.engines.found_keys import count_people, drop_missing_keys, number_found_keys
from adomnia.privacy.aggregates import Rows
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket, Names
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from adomnia.privacy.queries import Query
from engines.databases import people, relation

NAME, DAY = Column("name", Text()), Column("day", Day())
MEMBER = Column("member", Boolean())
WHOLE = Column("size", Quantity(whole=True))
TABLE = relation(people(NAME, DAY, MEMBER, WHOLE))


def found(column, *labels):
    return Bucket(column, Names(labels), column)


@pytest.mark.parametrize(
    ("key", "values"),
    [
        (found(NAME, "ann", "bo"), pa.array(["bo", "cy", None, "ann"])),
        (found(WHOLE, -7, 2**53), pa.array([2**53, 3, None, -7], pa.int64())),
        (found(DAY, date(1, 1, 1), date(2020, 2, 29)), pa.array([date(2020, 2, 29), date(2021, 1, 1), None, date.min])),
    ],
    ids=["texts", "whole numbers", "days"],
)
def test_values_become_places_among_those_that_were_found(key, values):
    result = pa.table({"k0": values, "m0": pa.array([5, 6, 7, 8], pa.int64())})
    assert number_found_keys(result, (key,))["k0"].to_pylist() == [1, None, None, 0]
    (exact,) = read_cells(result, (Query(TABLE, (key,), Rows()),))
    assert exact.tolist() == [8, 5]


def test_places_stand_beside_codes_of_declared_keys():
    result = pa.table({"k0": [True, False], "k1": ["bo", "cy"], "m0": pa.array([5, 6], pa.int64())})
    (exact,) = read_cells(result, (Query(TABLE, (MEMBER, found(NAME, "ann", "bo")), Rows()),))
    assert exact.tolist() == [[0, 0], [0, 5]]


def test_rows_without_a_key_belong_to_no_group():
    result = pa.table({"k0": ["a", None, "b"], "k1": [1, 2, None], "m0": [1, 2, 3]})
    assert drop_missing_keys(result, (NAME, WHOLE))["m0"].to_pylist() == [1]
    assert drop_missing_keys(result, ()) is result


def test_values_are_told_by_place_and_those_of_nobody_are_none():
    result = pa.table({"k0": ["a", None, "b"], "k1": [1, 2, 3], "m0": pa.array([10, 20, 30], pa.int64())})
    counts, at = count_people(result, (found(NAME, ""), found(WHOLE, 0)))
    assert counts.tolist() == [10, 30]
    assert at(np.array([1])) == [("b", 3)]
    assert at(np.array([], dtype=np.intp)) == []
