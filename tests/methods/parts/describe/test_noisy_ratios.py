import json
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.parts.describe.noisy_ratios import NoisyRatio

FIELLER = json.loads(Path("tests/fixtures/vectors2.json").read_text(encoding="utf-8"))["fieller_vector"]
ZERO = np.zeros(1)


def ratio(top, bottom, variances, limits=(-np.inf, np.inf)):
    square = (np.array([variances[0]]), ZERO, np.array([variances[1]]))
    return NoisyRatio(np.array([top]), np.array([bottom]), square, ZERO, limits)


def test_the_interval_is_fiellers():
    found = ratio(FIELLER["S"], FIELLER["N"], (FIELLER["sdS"] ** 2, FIELLER["sdN"] ** 2)).bounds(0.95, 1)
    assert np.concatenate(found) == pytest.approx(FIELLER["fieller"], abs=2e-4)
    assert np.concatenate(found) != pytest.approx(FIELLER["delta"], abs=0.05)


@pytest.mark.parametrize("bottom", [-40.0, 0.0, 15.0])
def test_where_the_divisor_may_be_zero_the_limits_are_the_interval(bottom):
    found = ratio(7.0, bottom, (900.0, 100.0), (0.0, 10.0))
    assert np.concatenate(found.bounds(0.95, 1)).tolist() == [0.0, 10.0]
    assert 0 <= found.values[0] <= 10


def test_more_cells_at_once_are_wider_and_units_change_all_ends():
    found = ratio(50.0, 100.0, (25.0, 4.0), (0.0, 1.0)).estimate("x", scale=10.0, offset=5.0, rounding=0.25)
    assert found.values[0] == pytest.approx(10.0)
    (one,), (other,) = found.interval(0.95, 1)
    (first,), (last,) = found.interval(0.95, 100)
    assert first < one < 10 < other < last
    assert one == pytest.approx(5 + 10 * ratio(50.0, 100.0, (25.0, 4.0)).bounds(0.95, 1)[0][0] - 0.25)
