"""Discrete Gaussian noise against known answers, and its exact tails against plain sums and two accountants."""

from __future__ import annotations

from fractions import Fraction
from math import fsum

import mpmath
import numpy as np
import pytest

from adomnia.mechanisms import DiscreteGaussian
from adomnia.mechanisms.gaussian_tail import exact_delta
from adomnia.privacy.events import Approximate, Concentrated
from adomnia.privacy.losses import delta_of
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.distributions import exact_gaussian, rational, theta
from kit.gaussian_curve import analytic_deviation, curve
from kit.mechanisms import margin_of

FINE = 10**14  # the variance of a grid fine enough to be the continuous distribution


def parameters(count, seed):
    """Variances, distances and epsilons over the ranges people use, spread evenly in logarithm."""
    uniforms = (SeededBits(seed).words(3 * count) >> np.uint64(11)) * 2.0**-53
    for first, second, third in uniforms.reshape(count, 3).tolist():
        variance = Fraction(round(10 ** (4.2 * first + 2.9)), 10**4)
        yield variance, 1 + int(12 * second**3), Fraction(round(10 ** (3.1 * third + 1)), 1000)


def test_the_discrete_gaussian_vectors_hold(vectors):
    for known in vectors["discrete_gaussian"]:
        noise = DiscreteGaussian(known["sigma2"])
        reach = margin_of(noise)
        assert noise.probability(0) == pytest.approx(known["p0"], rel=1e-12)
        assert noise.probability(1) == noise.probability(-1) == pytest.approx(known["p1"], rel=1e-12)
        assert 1 / noise.probability(0) == pytest.approx(known["Z"], rel=1e-12)
        variance = fsum(k * k * noise.probability(k) for k in range(-reach, reach + 1))
        assert variance == pytest.approx(known["var"], rel=1e-9)
        assert variance <= known["sigma2"] * (1 + 1e-12)


@pytest.mark.parametrize("variance", [1, 4, 100])
def test_the_exact_interval_vectors_hold(vectors, variance):
    known = vectors["discrete_ci"][f"dgauss s2={variance}"]
    interval = DiscreteGaussian(variance).interval(0.95)
    assert interval.half_width == known["half_width"]
    assert interval.coverage == pytest.approx(known["coverage"], abs=5e-7)


@pytest.mark.parametrize(("cells", "z"), [(1, 1.959964), (10, 2.79963), (50, 3.28348), (1000, 4.04966)])
def test_simultaneous_intervals_have_the_known_widths(cells, z):
    interval = DiscreteGaussian(FINE).interval(0.95, cells)
    assert interval.half_width / FINE**0.5 == pytest.approx(z, abs=6e-6)
    assert interval.coverage == pytest.approx(0.95, abs=1e-6)


@pytest.mark.parametrize("deviation", [2047, 2048, 2049, 5000])
@pytest.mark.no_cover
def test_summed_and_asymptotic_tails_meet(deviation):
    """Coverage on either side of where the way of summing changes, against 40 digits."""
    noise = DiscreteGaussian(deviation**2)
    for confidence in (0.5, 0.9, 0.999):
        interval = noise.interval(confidence)
        with mpmath.workdps(40):
            total = mpmath.fsum(
                mpmath.exp(-mpmath.mpf(k * k) / (2 * deviation**2)) for k in range(1, interval.half_width + 1)
            )
            exact = (1 + 2 * total) / theta(Fraction(deviation**2), 40)
        assert interval.coverage == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("variance", [Fraction(1, 10**4), Fraction(1, 50), Fraction(399, 100), 4, 10**60], ids=str)
def test_probabilities_hold_at_the_ends_of_the_range(variance):
    noise = DiscreteGaussian(variance)
    with mpmath.workdps(60):
        for k in (0, 1, 2, int(3 * variance**0.5)):
            assert noise.probability(k) == pytest.approx(
                float(exact_gaussian(k, Fraction(variance))), rel=1e-11, abs=1e-300
            )


def test_calibration_is_by_rho_and_the_l2_norm_exactly():
    spread = Sensitivity(l1=10, l2_squared=10, linf=1)
    assert DiscreteGaussian.calibrated(spread, Concentrated(0.1)).variance == 50
    assert DiscreteGaussian(50).event(spread) == Concentrated(0.1)


@pytest.mark.no_cover
def test_exact_tails_agree_with_their_sums_and_stay_below_the_accountant():
    """1,000 parameter sets: not below the truth, at most 1e-9 above it, not above what zCDP promises (beyond 1e-40)."""
    for variance, distance, epsilon in parameters(1000, "tails"):
        delta = exact_delta(variance, distance, epsilon)
        summed = curve(float(variance), distance, float(epsilon))
        assert summed * (1 - 1e-10) <= delta <= summed * (1 + 1e-9) + 1e-40, (variance, distance, epsilon)
        assert delta <= delta_of(distance**2 / (2 * variance), epsilon) + Fraction(1, 10**40)


@pytest.mark.no_cover
def test_exact_tails_are_never_below_eighty_digits():
    for variance, distance, epsilon in parameters(30, "digits"):
        with mpmath.workdps(80):
            reach = int(20 * variance**0.5) + 60
            distribution = {k: exact_gaussian(k, variance) for k in range(-reach - distance, reach + distance + 1)}
            growth = mpmath.exp(rational(epsilon))
            exact = max(
                mpmath.fsum(
                    max(mpmath.mpf(0), distribution[k] - growth * distribution[k + shift])
                    for k in range(-reach, reach + 1)
                )
                for shift in range(1, distance + 1)
            )
            assert rational(exact_delta(variance, distance, epsilon)) >= exact * (1 - mpmath.mpf(10) ** -70)


@pytest.mark.parametrize(
    ("deviation", "distance", "epsilon"), [(1.0, 1, 1.0), (3.0, 1, 0.5), (2.0, 3, 2.0), (0.5, 1, 4.0)]
)
def test_exact_tails_lie_between_the_bounds_of_another_accountant(deviation, distance, epsilon):
    from dp_accounting.pld import privacy_loss_distribution

    def bound(pessimistic):
        return privacy_loss_distribution.from_discrete_gaussian_mechanism(
            deviation, distance, pessimistic_estimate=pessimistic, value_discretization_interval=1e-5
        ).get_delta_for_epsilon(epsilon)

    delta = float(exact_delta(Fraction(deviation) ** 2, distance, Fraction(epsilon)))
    assert bound(False) * (1 - 1e-6) <= delta <= bound(True) * (1 + 1e-6)


def test_continuous_calibration_under_noises_the_discrete_distribution_and_ours_never_does():
    """The analytic deviation of Balle & Wang, used for integers, breaks its own delta; the exact tail does not."""
    ratios = []
    for epsilon in ("0.1", "1", "4", "10"):
        for delta in ("1e-3", "1e-6", "1e-9"):
            deviation = analytic_deviation(float(epsilon), float(delta))
            ratios.append(curve(deviation**2, 1, float(epsilon)) / float(delta))
            ours = DiscreteGaussian.scalar(1, Fraction(epsilon), Fraction(delta))
            assert curve(float(ours.variance), 1, float(epsilon)) <= float(delta) * (1 + 1e-9)
            assert ours.scalar_event(1, Fraction(epsilon)).delta <= Fraction(delta)
    assert max(ratios) > 1.5
    assert sum(ratio > 1 for ratio in ratios) >= 3


def test_the_analytic_reference_is_the_known_one(vectors):
    for known in vectors["gaussian"]:
        assert analytic_deviation(known["eps"], known["delta"]) == pytest.approx(known["analytic"], rel=1e-6)


def test_scalar_calibration_is_near_the_analytic_one_where_noise_is_wide(vectors):
    """Where the grid is fine against the noise the two distributions agree, so that exactness costs nothing."""
    for known in vectors["gaussian"][:3]:
        ours = DiscreteGaussian.scalar(1, known["eps"], known["delta"])
        assert float(ours.variance) ** 0.5 == pytest.approx(known["analytic"], rel=5e-3)


@pytest.mark.parametrize(("distance", "epsilon", "delta"), [(1, "1", "1e-5"), (3, "1/2", "1e-6"), (7, "2", "1e-8")])
def test_scalar_calibration_is_nearly_the_least(distance, epsilon, delta):
    ours = DiscreteGaussian.scalar(distance, Fraction(epsilon), Fraction(delta))
    assert curve(float(ours.variance), distance, float(Fraction(epsilon))) <= float(Fraction(delta)) * (1 + 1e-9)
    assert curve(0.999 * float(ours.variance), distance, float(Fraction(epsilon))) > float(Fraction(delta))
    by_rho = Fraction(distance**2) / (2 * ours.event(Sensitivity(l1=distance)).rho)
    assert by_rho == ours.variance


def test_scalar_events_state_epsilon_and_the_exact_delta():
    event = DiscreteGaussian(4).scalar_event(1, Fraction(1))
    assert isinstance(event, Approximate)
    assert event.epsilon == 1
    assert float(event.delta) == pytest.approx(curve(4.0, 1, 1.0), rel=1e-9)


def test_a_larger_move_never_costs_less():
    deltas = [exact_delta(Fraction(1, 2), distance, Fraction(1)) for distance in range(1, 8)]
    assert deltas == sorted(deltas)


@pytest.mark.parametrize("distance", [0, -1, 10**6, 1.5, "1", None], ids=repr)
def test_moves_that_cannot_be_summed_are_refused(distance):
    with pytest.raises(ValueError, match=r"^(exact_delta|DiscreteGaussian) distance must be .*, got"):
        DiscreteGaussian(4).scalar_event(distance, 1)


@pytest.mark.parametrize("field", ["epsilon", "delta"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", None], ids=repr)
def test_scalar_targets_that_are_no_positive_numbers_are_refused(field, value):
    targets = {"epsilon": 1, "delta": 1e-6, field: value}
    with pytest.raises(ValueError, match=rf"^(DiscreteGaussian|Approximate) {field} must be .*, got"):
        DiscreteGaussian.scalar(1, **targets)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, Fraction(1, 10**250)), (10**6, Fraction(1, 10**6))])
def test_scalar_targets_beyond_any_use_are_refused(epsilon, delta):
    with pytest.raises(ValueError, match=r" epsilon must be at most .*, got"):
        DiscreteGaussian.scalar(1, epsilon, delta)


def test_exact_tails_refuse_noise_too_wide_to_sum():
    with pytest.raises(ValueError, match=r"^exact_delta variance must be .*, got"):
        DiscreteGaussian(10**9).scalar_event(1, 1)


def test_noise_that_is_next_to_none_has_a_variance_all_the_same():
    assert 0 < DiscreteGaussian(Fraction(1, 10_000)).cumulants.variance < 1e-50
