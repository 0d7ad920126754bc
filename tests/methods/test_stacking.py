"""Tables of groups, one below the other."""

from __future__ import annotations

import numpy as np

from adomnia.methods.stacking import stack
from adomnia.statistics.contract import Estimate, ResultTable
from kit.analyses import frame

FACTORS = frame(levels={"city": ("A", "B"), "sex": ("F", "M")}).factors


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
