"""Intervals of sums of noises."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.methods.synthesis.count_errors import estimate_counts


def test_intervals_of_many_are_wider():
    estimate = estimate_counts(np.array([5.0]), np.array([4.0]), "gaussian", "least squares")
    lower, upper = estimate.interval(0.95, 1)
    assert upper - lower == pytest.approx(2 * 2 * 1.959964)
    assert estimate.interval(0.95, 100)[1] > upper
