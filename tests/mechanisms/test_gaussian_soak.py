"""The long form: exact discrete Gaussian tails and calibrations for 20,000 fresh parameter sets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms import DiscreteGaussian
from adomnia.mechanisms.gaussian_tail import exact_delta
from adomnia.noise import SystemBits
from adomnia.privacy.losses import delta_of
from kit.gaussian_curve import curve

pytestmark = pytest.mark.soak


def fresh_parameters(count):
    """Variances, distances and epsilons spread evenly in logarithm, new ones every time."""
    uniforms = (SystemBits().words(3 * count) >> np.uint64(11)) * 2.0**-53
    for first, second, third in uniforms.reshape(count, 3).tolist():
        variance = Fraction(round(10 ** (4.5 * first + 2.5)), 10**4)
        yield variance, 1 + int(12 * second**3), Fraction(round(10 ** (3.3 * third + 1)), 1000)


@pytest.mark.parametrize("part", range(10))
def test_two_thousand_tails_agree_with_their_sums_and_stay_below_the_accountant(part):
    for variance, distance, epsilon in fresh_parameters(2000):
        delta = exact_delta(variance, distance, epsilon)
        summed = curve(float(variance), distance, float(epsilon))
        assert summed * (1 - 1e-9) <= delta <= summed * (1 + 1e-9) + 1e-40, (part, variance, distance, epsilon)
        assert delta <= delta_of(distance**2 / (2 * variance), epsilon) + Fraction(1, 10**40)


def test_a_hundred_calibrations_keep_their_promise():
    for _, distance, epsilon in fresh_parameters(50):
        for delta in (Fraction(1, 10**4), Fraction(1, 10**9)):
            noise = DiscreteGaussian.scalar(distance, epsilon, delta)
            assert curve(float(noise.variance), distance, float(epsilon)) <= float(delta) * (1 + 1e-9)
