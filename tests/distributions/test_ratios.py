"""The interval of a ratio holds the ratio as often as it says, computed exactly and not by drawing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.distributions.ratios import critical_value, quotient_bounds, ratio_bounds
from adomnia.mechanisms.contract import Continuous, Interval
from adomnia.mechanisms.exponential import Exponential
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.statistics.contract import Measured


def masses(noise, reach):
    return np.array([noise.probability(k) for k in range(-reach, reach + 1)])


def tail(x, y, ratio, limit):
    """P[|X - r Y| >= q], summed over all pairs that matter."""
    wide, narrow = margin_of(x), margin_of(y)
    far = np.cumsum(masses(x, wide)[::-1])[::-1]  # P[X >= k] from k = -wide on
    total = 0.0
    for value, mass in zip(range(-narrow, narrow + 1), masses(y, narrow), strict=True):
        first = int(np.ceil(limit + ratio * value - 1e-9 * max(1.0, abs(limit))))
        total += 2 * mass * (far[first + wide] if -wide <= first <= wide else float(first < -wide))
    return total


def margin_of(noise):
    match noise:
        case DiscreteLaplace(scale=scale):
            return int(35 * scale) + 2
    return int(9 * float(noise.variance) ** 0.5) + 2


LAPLACE = [(2, 2), (30, Fraction(3, 2)), (120, 8), (Fraction(1, 2), Fraction(1, 2)), (7, 30), (100, Fraction(1, 10))]
GAUSSIAN = [
    (4, 4),
    (900, 9),
    (2000, 25),
    (2500, Fraction(9, 4)),
    (Fraction(1, 2), 1),
    (2500, Fraction(1, 4)),
    (5, 400),
]
PAIRS = [(DiscreteLaplace(Fraction(x)), DiscreteLaplace(Fraction(y))) for x, y in LAPLACE]
PAIRS += [(DiscreteGaussian(Fraction(x)), DiscreteGaussian(Fraction(y))) for x, y in GAUSSIAN]
PAIRS += [(DiscreteLaplace(Fraction(20)), DiscreteGaussian(Fraction(9)))]

SMALL = [(x, y) for x, y in PAIRS if margin_of(x) * margin_of(y) < 50_000]  # few enough pairs of values to look at all


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (DiscreteLaplace(Fraction(1000)), DiscreteLaplace(Fraction(10))),
        (DiscreteGaussian(Fraction(10**6)), DiscreteGaussian(Fraction(100))),
    ],
    ids=str,
)
def test_critical_values_are_not_much_larger_than_they_must_be(x, y):
    for ratio in (0, 50, 100):
        assert tail(x, y, ratio, critical_value(x, y, ratio, 0.05) * 0.99) > 0.05


@pytest.mark.parametrize(("x", "y"), SMALL, ids=str)
@pytest.mark.parametrize("ratio", [-9, -4.5, 0, 0.5, 3, 9])
@pytest.mark.parametrize("count", [0, 1, 2, 12])
def test_the_bounds_hold_the_true_ratio_with_their_confidence_for_every_count(x, y, ratio, count):
    """Exactly: every pair of noises that matters, weighted by its probability."""
    count = 2 * count if ratio * count % 1 else count
    noise_x, noise_y = np.arange(-margin_of(x), margin_of(x) + 1), np.arange(-margin_of(y), margin_of(y) + 1)
    s, n = (grid.ravel() for grid in np.meshgrid(int(ratio * count) + noise_x, count + noise_y, indexing="ij"))
    lower, upper = ratio_bounds(Measured(s, x), Measured(n, y), (-9, 9), 0.9, 1)
    weights = np.outer(masses(x, margin_of(x)), masses(y, margin_of(y))).ravel()
    assert weights[(lower <= ratio) & (ratio <= upper)].sum() >= 0.9 - 1e-9


def test_bounds_that_ignore_the_noise_of_the_count_miss_their_confidence():
    """The wrong variant: the same inequality with q(0) for every ratio."""
    x, y = DiscreteLaplace(Fraction(30)), DiscreteLaplace(Fraction(3))
    limit = critical_value(x, y, 0, 0.1)
    assert tail(x, y, 10, limit) > 0.13


def test_the_example_of_fieller_is_reproduced(vectors):
    """The vector is for continuous noise; ours is that of integers and of stretches, hence a little wider."""
    known = vectors["fieller_vector"]
    noises = [DiscreteGaussian(Fraction(known[name]) ** 2) for name in ("sdS", "sdN")]
    seen = [np.array([int(known[name])]) for name in ("S", "N")]
    (lower,), (upper,) = ratio_bounds(*map(Measured, seen, noises), (-10, 10), 0.95, 1)
    low, high = known["fieller"]
    assert low - 0.03 < lower <= low
    assert high <= upper < high + 0.08


@pytest.mark.parametrize(
    "scales", [(10**13, 10**12), (10**28, 10**20), (Fraction(1, 100), Fraction(1, 100)), (5, 10**9)]
)
@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-8])
def test_critical_values_of_laplace_noise_are_between_those_of_its_parts_and_their_sum(scales, alpha):
    x, y = (DiscreteLaplace(Fraction(scale)) for scale in scales)
    farthest = max(1, int(x.scale / y.scale))
    assert critical_value(x, y, 0, alpha) >= 0.99 * x.interval(1 - alpha).half_width
    apart = [noise.interval(1 - alpha / 2).half_width for noise in (x, y)]
    assert critical_value(x, y, farthest, alpha) <= 1.01 * (apart[0] + farthest * apart[1] + 1)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_a_confidence_that_is_none_is_refused(confidence):
    measured = Measured(np.array([1]), DiscreteLaplace(Fraction(1)))
    with pytest.raises(ValueError, match="Interval confidence must be above 0 and below 1"):
        ratio_bounds(measured, measured, (-1, 1), confidence, 1)


def test_bounds_are_cut_to_the_reach_and_empty_where_nothing_fits():
    x = DiscreteLaplace(Fraction(1))
    lower, upper = ratio_bounds(Measured(np.array([0, 500]), x), Measured(np.array([0, 10]), x), (-3, 4), 0.95, 1)
    assert (lower[0], upper[0]) == (-3, 4)
    assert lower[1] > upper[1]


def test_a_mechanism_that_adds_no_noise_has_no_place_here():
    assert not hasattr(Exponential, "interval")


@pytest.mark.parametrize("noise", [DiscreteGaussian(Fraction(10**4)), DiscreteLaplace(Fraction(70))], ids=str)
def test_more_confidence_is_never_a_narrower_interval_however_little_is_divided_by(noise):
    """Also where the divisor is hardly larger than its noise, and the end of an interval is found from far away."""
    s, n = (grid.ravel() for grid in np.meshgrid(np.arange(-300, 801, 25), np.arange(-300, 801, 25), indexing="ij"))
    before = np.full(s.shape, np.inf), np.full(s.shape, -np.inf)
    for confidence in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999):
        lower, upper = ratio_bounds(Measured(s, noise), Measured(n, noise), (-1, 1), confidence, 1)
        fits = before[0] <= before[1]
        assert (lower <= before[0] + 0.01)[fits].all()  # the ratios of a table are about so far apart
        assert (upper >= before[1] - 0.01)[fits].all()
        before = lower, upper


# ---------------------------------------------------------------------------------------- ratios without known bounds


@pytest.mark.parametrize(("x", "y"), PAIRS, ids=str)
@pytest.mark.parametrize("alpha", [0.2, 0.05, 1e-4])
@pytest.mark.parametrize("ratio", [0.0, 0.7, 5.5, 60.0])
def test_a_single_critical_value_is_passed_no_more_often_than_is_left_open(x, y, alpha, ratio):
    assert tail(x, y, ratio, critical_value(x, y, ratio, alpha)) <= alpha * (1 + 1e-6)


@pytest.mark.parametrize(("x", "y"), SMALL, ids=str)
@pytest.mark.parametrize("ratio", [-40, 0, 0.5, 9])
@pytest.mark.parametrize("count", [-30, 1, 12, 100])
def test_a_quotient_is_held_with_its_confidence_for_every_divisor(x, y, ratio, count):
    """Exactly: every pair of noises that matters, weighted by its probability."""
    count = 2 * count if ratio * count % 1 else count
    noise_x, noise_y = np.arange(-margin_of(x), margin_of(x) + 1), np.arange(-margin_of(y), margin_of(y) + 1)
    s, n = (grid.ravel() for grid in np.meshgrid(int(ratio * count) + noise_x, count + noise_y, indexing="ij"))
    lower, upper = quotient_bounds(Measured(s, x), Measured(n, y), 0.9, 1)
    weights = np.outer(masses(x, margin_of(x)), masses(y, margin_of(y))).ravel()
    assert weights[(lower <= ratio) & (ratio <= upper)].sum() >= 0.9 - 1e-9
    seen = s[n != 0] / n[n != 0]
    assert ((lower[n != 0] <= seen) & (seen <= upper[n != 0])).all()


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (DiscreteLaplace(Fraction(3000)), DiscreteLaplace(Fraction(10))),
        (DiscreteGaussian(Fraction(9 * 10**6)), DiscreteGaussian(Fraction(100))),
    ],
    ids=str,
)
@pytest.mark.parametrize("count", [1_000, -1_000, 300])
def test_a_quotient_is_hardly_wider_than_all_ratios_that_fit(x, y, count):
    """The ratios that fit are looked for one by one, with the critical value of each."""
    total = 60_000
    lower, upper = quotient_bounds(Measured(np.array(total), x), Measured(np.array(count), y), 0.95, 1)
    ratios = total / count + np.linspace(-80, 80, 321)
    fits = [abs(total - ratio * count) <= critical_value(x, y, abs(ratio), 0.05) for ratio in ratios]
    held = ratios[fits]
    assert float(upper - lower) <= 1.03 * (held[-1] - held[0]) + 1.0
    assert lower <= held[0]
    assert held[-1] <= upper


def test_a_quotient_whose_divisor_may_be_zero_is_unbounded():
    x = DiscreteLaplace(Fraction(5))
    lower, upper = quotient_bounds(Measured(np.array([90, 90, -90]), x), Measured(np.array([0, 9, 300]), x), 0.95, 1)
    assert (lower[:2] == -np.inf).all()
    assert (upper[:2] == np.inf).all()
    assert lower[2] < -90 / 300 < upper[2] < 0


def test_the_example_of_fieller_is_reproduced_without_bounds(vectors):
    known = vectors["fieller_vector"]
    noises = [DiscreteGaussian(Fraction(known[name]) ** 2) for name in ("sdS", "sdN")]
    seen = [np.array([int(known[name])]) for name in ("S", "N")]
    (lower,), (upper,) = quotient_bounds(*map(Measured, seen, noises), 0.95, 1)
    low, high = known["fieller"]
    assert low - 0.03 < lower <= low
    assert high <= upper < high + 0.05


def test_quotients_of_all_cells_at_once_are_wider():
    measured = (Measured(np.array(9_000), DiscreteLaplace(Fraction(50))), Measured(np.array(400), PAIRS[0][0]))
    one, all_of_them = (np.subtract(*quotient_bounds(*measured, 0.95, cells)) for cells in (1, 50))
    assert all_of_them < one < 0


def test_any_noise_is_boxed_in_quotients():
    class Uniform:
        """Even on -2 ... 2: a noise that nobody asks for its class."""

        continuous = Continuous("gaussian", 2**0.5)

        def interval(self, confidence, cells=1):
            return Interval(2, 1.0)

    measured = [Measured(np.array(value), Uniform()) for value in (100, 20)]
    lower, upper = quotient_bounds(*measured, 0.95, 1)
    assert lower <= 98 / 22
    assert 102 / 18 <= upper < 6.2
