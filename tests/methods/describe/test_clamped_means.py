import numpy as np
import pytest

from adomnia.privacy.events import Concentrated, Pure
from kit.analyses import frame
from kit.describing import build, table_of

FRAME = frame({"x": (0, 100)})


@pytest.mark.parametrize("name", ["trimmed_mean", "winsorized_mean"])
@pytest.mark.parametrize("price", [Pure(300), Concentrated(15_000)], ids=str)
def test_sums_between_bounds_that_were_found_equal_can_be_measured_if_all_before_could(name, price):
    asked = build(name, FRAME, column=FRAME.numbers["x"])
    assert asked.rehearse(price)
    estimate = table_of(asked, price, {"x": np.full(1000, 37.3)}).estimates["estimate"]
    assert estimate.values[0] == pytest.approx(37.3, abs=1e-3)


@pytest.mark.parametrize("upper", [1, 2, 3, 4, 5])
def test_ranges_of_few_whole_numbers_have_a_mean(upper):
    people = frame({"x": (0, upper)}, whole=("x",))
    asked = build("winsorized_mean", people, column=people.numbers["x"])
    values = np.arange(3000) % (upper + 1)
    estimate = table_of(asked, Pure(30), {"x": values.astype(float)}).estimates["estimate"]
    (low,), (high,) = estimate.interval(0.95, 1)
    assert 0 <= low <= estimate.values[0] <= high <= upper
    assert estimate.values[0] == pytest.approx(upper / 2, abs=0.5)
