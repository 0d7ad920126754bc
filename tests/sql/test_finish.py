"""Rows are sorted by noisy values and declared keys, and cut after that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.sql.finish import finished
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Estimate
from sql.hospital import HOSPITAL


def rows(text, **values):
    """The cells in order, where each output by name has these noisy values."""
    plan = lower(text, HOSPITAL)
    named = {output.source: output.name for output in plan.outputs}
    shape = (3, 2) if len(plan.keys) == 2 else (3,) if plan.keys else ()
    estimates = {
        statistic: Estimate(np.array(values.get(named.get(statistic, "hidden")), dtype=float).reshape(shape), None, "")
        for statistic in plan.statistics
    }
    return finished(plan, estimates).tolist()


SEX = "SELECT sex, COUNT(*) AS n, SUM(age) AS total FROM people GROUP BY sex"


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("", [0, 1, 2]),
        ("ORDER BY sex DESC", [2, 1, 0]),
        ("ORDER BY n", [1, 0, 2]),
        ("ORDER BY n DESC", [0, 2, 1]),
        ("ORDER BY n DESC, sex DESC", [2, 0, 1]),
        ("ORDER BY n, total DESC", [1, 2, 0]),
        ("ORDER BY n DESC LIMIT 1", [0]),
        ("LIMIT 2", [0, 1]),
        ("LIMIT 99", [0, 1, 2]),
    ],
)
def test_rows_are_sorted_as_asked_and_ties_by_the_declared_order_of_keys(order, expected):
    assert rows(f"{SEX} {order}", n=[5, -1, 5], total=[1.0, 2.0, 3.0]) == expected


def test_an_order_need_not_be_an_output():
    assert rows(
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY SUM(age)", n=[1, 2, 3], hidden=[3, 1, 2]
    ) == [1, 2, 0]


def test_rows_follow_the_order_in_which_the_keys_were_written():
    counts = {"n": [0] * 6}
    assert rows("SELECT COUNT(*) AS n FROM people GROUP BY sex, active", **counts) == [0, 1, 2, 3, 4, 5]
    assert rows("SELECT COUNT(*) AS n FROM people GROUP BY active, sex", **counts) == [0, 2, 4, 1, 3, 5]


def test_an_answer_without_keys_has_one_row():
    assert rows("SELECT COUNT(*) AS n FROM people", n=7) == [0]
    assert rows("SELECT COUNT(*) AS n FROM people ORDER BY n DESC LIMIT 3", n=7) == [0]


@given(st.lists(st.integers(-3, 3), min_size=3, max_size=3))
def test_the_order_is_a_stable_sort(values):
    assert rows(f"{SEX} ORDER BY n", n=values, total=[0, 0, 0]) == sorted(range(3), key=values.__getitem__)
    down = sorted(range(3), key=lambda place: -values[place])
    assert rows(f"{SEX} ORDER BY n DESC", n=values, total=[0, 0, 0]) == down
