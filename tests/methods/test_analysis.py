"""Groups of an analysis."""

from __future__ import annotations

import numpy as np

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.analysis import stack, tabulate_groups
from adomnia.statistics.contract import Estimate, Measured, ResultTable
from kit.analyses import frame

CITY = frame(levels={"city": ("A", "B", "C", "D")}).factors["city"]
FACTORS = frame(levels={"city": ("A", "B"), "sex": ("F", "M")}).factors


def test_groups_of_which_the_same_was_released_are_tabulated_once():
    seen = []

    def tabulate(one, two):
        seen.append((int(one.values), two.values.tolist()))
        values = np.array([float(one.values)])
        return ResultTable({"term": ("x",)}, {"estimate": Estimate(values, lambda *_: (values, values), "")})

    noise = DiscreteLaplace(1)
    one = Measured(np.array([5, 7, 5, 5]), noise)
    two = Measured(np.array([[1, 2], [1, 2], [1, 2], [1, 3]]), noise)
    found = tabulate_groups([CITY], (one, two), tabulate)
    assert seen == [(5, [1, 2]), (7, [1, 2]), (5, [1, 3])]
    assert found.labels["city"] == ("A", "B", "C", "D")
    assert found.estimates["estimate"].values.tolist() == [5, 7, 5, 5]


def table(value, note):
    values = np.array([value, value + 0.5])
    estimate = Estimate(values, lambda confidence, _: (values - confidence, values + confidence), "made up")
    return ResultTable({"term": ("x", "y")}, {"estimate": estimate}, (note,), facts={"p": lambda: (value, None)})


def test_each_row_says_its_group_and_intervals_stay_with_their_values():
    groups = [table(float(place), f"note {place % 2}") for place in range(4)]
    found = stack([FACTORS["city"], FACTORS["sex"]], groups)
    assert found.labels["city"] == ("A",) * 4 + ("B",) * 4
    assert found.labels["sex"] == ("F", "F", "M", "M") * 2
    assert found.labels["term"] == ("x", "y") * 4
    assert found.estimates["estimate"].values.tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5]
    lower, upper = found.estimates["estimate"].interval(0.25, 1)
    assert (upper - lower).tolist() == [0.5] * 8
    assert found.facts["p"]() == (0.0, None, 1.0, None, 2.0, None, 3.0, None)
    assert found.notes == ("note 0", "note 1")
