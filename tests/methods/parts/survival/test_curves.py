"""Survival curves: the textbook's without noise, and a covariance that knows the noise."""

import json
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.parts.survival.curves import SurvivalCurve

KNOWN = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors2.json").read_text())["kaplan_meier_vector"]
NOTHING = np.zeros(0)


def known_curve(variance=0.0):
    return SurvivalCurve(np.array(KNOWN["events"]), np.array(KNOWN["censored"]), NOTHING, variance, halved=False)


def test_the_known_table_has_its_curve():
    curve = known_curve()
    assert curve.at_risk.tolist() == KNOWN["at_risk"]
    assert curve.survival == pytest.approx(KNOWN["S"], abs=1e-6)
    assert curve.variances == pytest.approx(KNOWN["greenwood_var"], rel=1e-5)


def test_those_after_all_intervals_are_at_risk_in_each():
    curve = SurvivalCurve(np.array([2.0, 1.0]), np.array([0.0, 3.0]), np.array([4.0, 10.0]), 0.0, halved=False)
    assert curve.at_risk.tolist() == [20, 18]
    assert curve.survival == pytest.approx([0.9, 0.85])


def test_a_life_table_has_the_censored_at_risk_for_half_of_their_interval():
    curve = SurvivalCurve(np.array([2.0]), np.array([4.0]), np.array([14.0, 0.0]), 0.0, halved=True)
    assert curve.at_risk.tolist() == [18]
    assert curve.survival == pytest.approx([1 - 2 / 18])


def test_the_curve_of_exact_times_lies_between_the_extremes_of_grouped_ones():
    generator = np.random.default_rng(3)
    for _ in range(50):
        time, event = np.sort(generator.uniform(0, 4, 60)), generator.integers(0, 2, 60)
        exact = np.cumprod(1 - event / np.arange(60, 0, -1))[np.searchsorted(time, [1, 2, 3]) - 1]
        counts = [np.histogram(time[event == each], [0, 1, 2, 3, 5])[0].astype(float) for each in (1, 0)]
        after = np.array([counts[1][3], counts[0][3]])
        curve = SurvivalCurve(counts[0][:3], counts[1][:3], after, 0.0, halved=True)
        lowest, highest = (each.survival for each in curve.extremes)
        assert (lowest <= exact + 1e-12).all()
        assert (exact <= highest + 1e-12).all()
        assert ((lowest <= curve.survival) & (curve.survival <= highest)).all()


def test_times_that_stand_alone_have_no_extremes():
    curve = known_curve()
    assert curve.extremes == (curve, curve)


@pytest.mark.parametrize("halved", [False, True])
def test_the_variance_of_noise_is_that_of_many_noisy_curves(halved):
    """Variances of 20,000 curves are within 6% in all but one of 10**6 runs. Greenwood's alone are far off."""
    generator, deviation = np.random.default_rng(1), 2.0
    events, censored = np.array([60.0, 50, 40, 30, 20]), np.array([20.0, 20, 20, 20, 20])
    after = np.array([30.0, 270.0])

    def curve(variance, *counts):
        return SurvivalCurve(*counts, variance, halved)

    shapes = [(20_000, each.shape[0]) for each in (events, censored, after)]
    noise = [generator.normal(0, deviation, shape) for shape in shapes]
    noisy = curve(0.0, events + noise[0], censored + noise[1], after + noise[2]).survival
    with_noise, without = (curve(each, events, censored, after).variances for each in (deviation**2, 0.0))
    assert noisy.var(axis=0) == pytest.approx(with_noise - without, rel=0.06)
    assert (noisy.var(axis=0) > 0.03 * without).all()


def test_deviations_have_the_variances():
    """Variances of 40,000 draws are within 4% in all but one of 10**6 runs."""
    counts = np.array([60.0, 50, 40]), np.array([20.0, 20, 20]), np.array([3.0, 270.0])
    curve, generator = SurvivalCurve(*counts, 4.0, halved=True), np.random.default_rng(5)
    moved = curve.deviate(generator.normal(0, 2.0, (40_000, 8)), generator.normal(size=(40_000, 3)))
    assert moved.var(axis=0) == pytest.approx(curve.variances, rel=0.04)


def test_survival_is_known_as_long_as_people_at_risk_are_above_their_noise():
    quiet, loud = known_curve(), known_curve(4.0)
    assert quiet.known.all()
    assert not loud.known[-1]
    assert loud.survival[-1] == loud.survival[loud.known][-1] if loud.known.any() else loud.survival[-1] == 1


@pytest.mark.parametrize("scale", [0.0, 1.0, 50.0, 1e12])
def test_any_counts_have_finite_curves(scale):
    generator = np.random.default_rng(2)
    for intervals, curves in ((1, 50), (3, 50), (200, 1)):
        counts = generator.normal(0, scale, (2, curves, intervals))
        curve = SurvivalCurve(counts[0], counts[1], generator.normal(0, scale, (curves, 2)), scale**2, halved=True)
        assert np.isfinite(curve.survival).all()
        assert np.isfinite(curve.variances).all()


def test_where_everybody_has_the_event_survival_ends_at_zero():
    curve = SurvivalCurve(np.array([5.0, 15.0]), np.array([0.0, 0.0]), NOTHING, 0.0, halved=False)
    assert curve.survival == pytest.approx([0.75, 0])
    assert np.isfinite(curve.variances).all()
