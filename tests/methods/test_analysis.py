"""Groups of an analysis."""

from __future__ import annotations

import numpy as np

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.analysis import tabulate_groups
from adomnia.statistics.contract import Estimate, Measured, ResultTable
from kit.analyses import frame

CITY = frame(levels={"city": ("A", "B", "C", "D")}).factors["city"]


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
