import numpy as np
import pytest

import adomnia
from kit.analyses import frame
from kit.describing import EPSILON, build, table_of

FRAME = frame({"x": (0, 100)})
NAMES = ("iqr", "mad", "trimmed_mean", "winsorized_mean")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("values", [np.zeros(0), np.full(1, 100.0), np.full(50, np.nan)], ids=["none", "one", "null"])
def test_nearly_no_rows_leave_a_finite_number_and_a_wide_interval(name, values):
    for seed in range(3):
        table = table_of(build(name, FRAME, column=FRAME.numbers["x"]), EPSILON, {"x": values}, seed)
        estimate = table.estimates["estimate"]
        (low,), (high,) = estimate.interval(0.95, 1)
        assert np.isfinite([low, high]).all()
        assert low <= estimate.values[0] <= high
        assert high - low > 20


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_one_person_are_no_sample(name):
    with pytest.raises(adomnia.Refusal, match="one person"):
        build(name, frame({"x": (0, 100)}, rows_per_person=2), column=FRAME.numbers["x"])


@pytest.mark.parametrize("name", NAMES)
def test_all_rounds_together_cost_the_price(name):
    asked = build(name, FRAME, column=FRAME.numbers["x"])
    assert sum(each.price.epsilon for each in asked.rehearse(EPSILON)) == 1
