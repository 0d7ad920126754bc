"""Times in intervals: whole ones stand alone where they are few, others are halved."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.contract import BadArgument, Factor
from adomnia.methods.parts.survival.times import SurvivalCurve, choose_times, require_event
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Boolean, Quantity
from adomnia.statistics.contract import Measured
from kit.analyses import Arms, frame
from kit.bits import SeededBits

FRAME = frame(
    {"months": (0, 48), "week": (1, 5), "day": (0, 365), "tenths": (0, 2), "once": (2, 2)},
    whole=("week", "day", "once"),
)
KNOWN = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors2.json").read_text())["kaplan_meier_vector"]
NOTHING = np.zeros(0)


def choose(name, intervals=20, breaks=()):
    arguments = {"time": FRAME.numbers[name], "intervals": intervals, "breaks": tuple(map(Fraction, breaks))}
    return choose_times(arguments)


def places(times, values):
    arms = Arms({times.bins.column.name: np.array(values, dtype=float)}, SeededBits("times"))
    return arms._place(times.bins.key).tolist()


def test_few_whole_times_stand_alone():
    times = choose("week")
    assert times.ends == (1, 2, 3, 4, 5)
    assert times.start == 0.5
    assert not times.open_end
    assert places(times, [1, 2, 5]) == [0, 1, 4]


def test_intervals_are_followed_by_a_cell_of_those_seen_until_the_end():
    times = choose("months", 4)
    assert times.ends == (12, 24, 36, 48)
    assert times.start == 0
    assert times.until_latest
    assert places(times, [0, 11.9, 12, 12.5, 24, 47.9, 48, 50]) == [0, 0, 0, 1, 1, 3, 4, 4]


def test_ends_that_no_double_holds_exactly_are_in_their_interval():
    times = choose("tenths", 20)
    ends = [place / 10 for place in range(1, 21)]
    assert times.ends == pytest.approx(ends)
    assert places(times, ends[:-1]) == list(range(19))
    assert places(times, [0.1 * 3, 0.1 * 6, 0.7 + 0.1]) == [2, 5, 7]


def test_times_on_a_declared_grid_are_as_whole_ones():
    column, domain = FRAME.numbers["months"], Numbers.bounded(0, 48, Fraction(1, 2))
    halves = replace(column, value=replace(column.value, domain=domain), domain=domain)
    alone = choose_times({"time": halves, "intervals": None, "breaks": ()})
    assert alone.ends == tuple(np.arange(0, 48.5, 0.5))
    assert places(alone, [0, 0.5, 47.5, 48]) == [0, 1, 95, 96]
    times = choose_times({"time": halves, "intervals": 20, "breaks": ()})
    assert times.ends[:3] + times.ends[-1:] == (2, 4.5, 7, 48)  # of 2.4, 4.8, 7.2, 48
    assert places(times, [2, 2.5, 4.5, 5, 47.5, 48]) == [0, 1, 1, 2, 19, 20]


def test_the_latest_of_grouped_whole_times_is_counted_apart_and_ends_the_last_interval():
    times = choose("day", 5)
    assert times.ends == (73, 146, 219, 292, 365)
    assert times.open_end
    assert times.until_latest
    assert places(times, [0, 73, 74, 292, 364, 365]) == [0, 0, 1, 3, 4, 5]


def test_breaks_are_intervals_too():
    times = choose("week", breaks=(1, 2, 4))
    assert times.ends == (2, 4)
    assert places(times, [1, 2, 3, 4, 5]) == [0, 0, 1, 1, 2]
    assert not times.until_latest
    assert choose("week", breaks=(1.5, 2.25, 2.75, 5)).ends == (2, 5)
    months = choose("months", breaks=(0, 6, 12))
    assert months.ends == (6, 12)
    assert places(months, [6, 6.5, 12, 12.5]) == [0, 1, 1, 2]


def test_whole_times_stand_alone_by_default_up_to_200_of_them():
    assert choose("week", None).ends == (1, 2, 3, 4, 5)
    assert len(choose("day", None).ends) == 20
    assert len(choose("months", None).ends) == 20


def test_counts_by_event_and_time_become_a_curve():
    values = np.array([[1, 2, 30], [4, 5, 6]])
    curve = choose("months", 2).curve(Measured(values, DiscreteLaplace(Fraction(1))))
    assert curve.events.tolist() == [4, 5]
    assert curve.censored.tolist() == [1, 2]
    assert curve.after.tolist() == [30, 6]
    assert curve.happened.tolist() == [4, 11]
    assert curve.at_risk.tolist() == [48 - 0.5, 43 - 1]
    assert curve.halved


def test_one_time_alone_is_refused():
    with pytest.raises(BadArgument, match="one value alone"):
        choose("once")


def test_an_event_is_a_boolean_or_0_and_1():
    boolean = Factor("died", Column("died", Boolean()))
    column = Column("dead", Quantity(Fraction(0), Fraction(1), whole=True))
    assert require_event(boolean) is boolean
    numbers = Factor("dead", Bucket(column, Numbers.integers(0, 1), column))
    assert require_event(numbers) is numbers
    for factor in (
        frame({}, {"arm": ("new", "old")}).factors["arm"],
        Factor("dead", Bucket(column, Numbers.integers(0, 2), column)),
    ):
        with pytest.raises(BadArgument) as refused:
            require_event(factor)
        assert "AS event" in refused.value.fix


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
