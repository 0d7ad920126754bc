"""Sums over all cases: the same as listing them, wherever their weight lies."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.parts.likelihood.latent_sums import Boxes, add_up, find_reach


def whole_boxes(rows):
    limits = np.zeros((len(rows), 1)), rows[:, None] * 10
    return Boxes(rows, *limits, limits, lattice=True)


@pytest.mark.parametrize("spread", [0.3, 4.0, 60.0])
@pytest.mark.parametrize("mean", [3.0, 7.0])
def test_moments_are_those_of_all_cases(mean, spread):
    def log_weight(rows, total):
        return -(((rows - 40) / 9) ** 2) / 2 - ((total - mean * rows) / spread) ** 2 / 2

    found = add_up(log_weight, (0.0, 500.0), whole_boxes)
    rows, total = np.meshgrid(np.arange(200.0), np.arange(2_000.0), indexing="ij")
    weights = np.where(total <= 10 * rows, np.exp(log_weight(rows, total)), 0.0)
    weights /= weights.sum()
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights @ found.rows == pytest.approx((weights * rows).sum(), rel=1e-3)
    assert found.weights @ found.sums[0] == pytest.approx((weights * total).sum(), rel=1e-3)


def test_weight_outside_the_first_box_is_found():
    def boxes(rows):
        limits = np.full((len(rows), 1), -1e6), np.full((len(rows), 1), 1e6)
        return Boxes(rows, np.zeros((len(rows), 1)), np.ones((len(rows), 1)), limits, lattice=False)

    found = add_up(lambda rows, total: -((total - 900.0) ** 2) / 2 - rows, (0.0, 30.0), boxes)
    assert found.weights @ found.sums[0] == pytest.approx(900.0, abs=1e-3)
    assert np.sqrt(found.weights @ (found.sums[0] - 900.0) ** 2) == pytest.approx(1.0, rel=1e-2)


@pytest.mark.parametrize(
    "noise", [DiscreteLaplace(Fraction(7)), DiscreteGaussian(Fraction(49))], ids=["laplace", "gaussian"]
)
def test_what_is_still_counted_is_hardly_probable(noise):
    first, last = noise.log_probability(np.array([0.0, find_reach(noise)]))
    assert first - last == pytest.approx(25.0)
