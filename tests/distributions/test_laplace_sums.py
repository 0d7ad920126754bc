"""The reach of a sum of Laplace noises by its saddlepoint: never below the exact one, and hardly above."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.distributions.laplace_sums import saddlepoint_reach

OPEN = (0.5, 0.1, 0.05, 0.01, 1e-3, 1e-6)


def exact_tail(scales, reach):
    """P[|sum| > reach] of scales that differ, by partial fractions."""
    squares = scales**2
    weights = [np.prod([one / (one - other) for other in squares if other != one]) for one in squares]
    return float(np.sum(np.array(weights) * np.exp(-reach / scales)))


def some_scales():
    random = np.random.default_rng(0)
    for count in (1, 2, 3, 4, 5, 6):
        for _ in range(30):
            scales = np.sort(random.uniform(0, 1, count) ** random.choice([1, 3]))
            for place in range(1, count):
                scales[place] = max(scales[place], scales[place - 1] * 1.05)
            yield scales / scales.max()


@pytest.mark.parametrize("alpha", OPEN)
def test_what_is_left_open_is_at_most_what_was_asked_and_hardly_less(alpha):
    for scales in some_scales():
        reach = float(saddlepoint_reach(scales[:, None], alpha, [1] * len(scales))[0])
        assert 0.9 * alpha < exact_tail(scales, reach) <= alpha


def test_many_equal_scales_lose_no_digits():
    nine = float(saddlepoint_reach(np.ones((9, 1)), 0.05, [1] * 9)[0])
    random = np.random.default_rng(1)
    sums = np.abs(random.laplace(size=(400_000, 9)).sum(axis=1))
    assert abs((sums > nine).mean() - 0.05) < 0.002  # six deviations of the share, and 2.5% of it


def test_cells_are_told_apart():
    scales = np.array([[1.0, 1.0], [1e-6, 1.0], [0.0, 0.5]])
    one, three = saddlepoint_reach(scales, 0.05, [1] * len(scales))
    assert one == pytest.approx(3.0, rel=0.03)
    assert three > 1.3 * one
