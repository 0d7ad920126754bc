"""Columns of an answer are plain values: equal ones are equal, and nothing in them can be changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from math import inf

import numpy as np
import pytest

from adomnia.plans.columns import KeyColumn, ValueColumn, _one_below_the_other
from adomnia.statistics.contract import Estimate


def test_keys_are_compared_by_what_they_hold():
    assert KeyColumn("sex", ("F", "M")) == KeyColumn("sex", ("F", "M"))
    assert KeyColumn("sex", ("F", "M")) != KeyColumn("sex", ("M", "F"))
    assert KeyColumn("sex", (None, True, 1.5)).values == (None, True, 1.5)


def test_a_column_cannot_be_changed(alice):
    key, value = alice.sql("SELECT sex, COUNT(*) FROM people GROUP BY sex", epsilon=1).columns
    assert (type(key), type(value)) == (KeyColumn, ValueColumn)
    for column in (key, value):
        with pytest.raises(FrozenInstanceError):
            column.name = "other"


@pytest.mark.parametrize(
    ("output", "possible"),
    [
        ("COUNT(*)", (0.0, inf)),
        ("AVG(age)", (0.0, 120.0)),
        ("MEDIAN(age)", (0.0, 120.0)),
        ("SUM(score)", None),  # its values may be negative
        ("COUNT(*) - 5", None),
        ("COUNT(*) FILTER (WHERE age > 30) - COUNT(*) FILTER (WHERE age < 20)", None),
        ("SUM(COUNT(*) FILTER (WHERE age > 30) - COUNT(*) FILTER (WHERE age < 20)) OVER ()", None),
        ("SUM(COUNT(*)) OVER ()", (0.0, inf)),
    ],
)
def test_what_a_column_can_be_is_known_also_of_some_of_its_cells(alice, output, possible):
    column = alice.sql(f"SELECT sex, {output} AS x FROM people GROUP BY sex", epsilon=1, anyway=True).columns[1]
    assert column.estimate.possible == possible
    assert column.only((0, 2)).estimate.possible == possible


def test_what_one_below_the_other_can_be_is_what_any_can_be():
    values = np.zeros(1)
    found = [
        Estimate(values, lambda *_: (values, values), "m", limits=each) for each in ((0.0, 5.0), (-1.0, 2.0), None)
    ]
    assert _one_below_the_other(found[:2]).possible == (-1.0, 5.0)
    assert _one_below_the_other(found).possible is None
