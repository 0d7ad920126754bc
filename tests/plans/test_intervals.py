"""Intervals of formulas over the statistics as they are: how often they hold the truth, and how wide that makes them.

Each case is DRAWS answers to the same rows, at a false-alarm rate of 1e-6: what holds the truth in fewer than 94.5 of
100 is found out, and what is wider than 1.4 times the central 95% of the distribution of the formula's own error.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.plans.boxes import find_limits
from adomnia.plans.formulas import Formula, statistics_of
from adomnia.plans.functions import noisy_values
from adomnia.plans.intervals import estimate_term
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull
from adomnia.statistics.contract import Derivation, Estimate, Measured
from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from adomnia.statistics.one_round import in_steps
from adomnia.statistics.sum import Sum
from adomnia.statistics.variance import Variance
from kit import spreads
from kit.spreads import OF_X, OF_Y, ROWS, X, at_most, drawn, exact

DRAWS = 5000
PRICES = {"epsilon": Pure(1), "rho": Concentrated(Fraction(1, 14))}
OF_BOTH = Query(ROWS, (), OF_Y)
MEAN_X, MEAN_Y, SUM_X, SUM_Y = Mean(OF_X), Mean(OF_BOTH), Sum(OF_X), Sum(OF_BOTH)
ROWS_OF_X, DEVIATION = Count(Query(ROWS, (), NonNull(X))), Variance(OF_X, "STDDEV_SAMP")


def of(function, *terms):
    return Formula(function, terms)


FORMULAS = {
    "AVG(y) - AVG(x)": of("-", MEAN_Y, MEAN_X),
    "STDDEV(x) / AVG(x)": of("/", DEVIATION, MEAN_X),
    "AVG(x) / AVG(y)": of("/", MEAN_X, MEAN_Y),
    "AVG(x) * AVG(y)": of("*", MEAN_X, MEAN_Y),
    "(SUM(x) - SUM(y)) / COUNT(x)": of("/", of("-", SUM_X, SUM_Y), of("at least 1", ROWS_OF_X)),
    "SUM(x) + SUM(y) - 50 * COUNT(x)": of("-", of("+", SUM_X, SUM_Y), of("*", Fraction(50), ROWS_OF_X)),
}
SHAPES = {
    **{name: spreads.SHAPES[name] for name in ("even", "normal", "skewed", "nearly constant")},
    "many zeros": lambda size, random: {
        "x": np.where(random.random(size) < 0.7, 0.0, np.clip(random.exponential(20, size), 0, 100)),
        "y": np.where(random.random(size) < 0.6, 0.0, np.clip(random.exponential(60, size), -50, 450)),
    },
    "constant": lambda size, _: {"x": np.full(size, 40.0), "y": np.full(size, 40.0)},
    "at a bound": lambda size, _: {"x": np.zeros(size), "y": np.full(size, -50.0)},
}
# Where noise reaches zero in what is divided by, or in both factors, or one of them is at a bound, it may say less.
LESS_KNOWN = {
    "STDDEV(x) / AVG(x)": {100: {"skewed", "many zeros", "at a bound"}, 1000: {"at a bound"}},
    "AVG(x) / AVG(y)": {100: {"normal", "skewed", "many zeros", "constant", "at a bound"}, 1000: {"skewed"}},
    "AVG(x) * AVG(y)": {100: {"skewed", "many zeros", "at a bound"}, 1000: {"at a bound"}},
}

every_formula = pytest.mark.parametrize("name", FORMULAS)
every_price = pytest.mark.parametrize("price", PRICES)


def columns(shape, size):
    return SHAPES[shape](size, np.random.default_rng(size))


def answered(source, price, rows, bits, wider=1):
    """What is estimated of the statistics of a formula, which share what they measure alike."""
    statistics = list(dict.fromkeys(statistics_of(source)))
    each = price / len({query for statistic in statistics for query in statistic.queries})
    measured, estimates = {}, {}
    for statistic in statistics:
        flow = statistic.steps(each * len(statistic.queries))
        asked = next(flow)
        for measure in asked:
            if measure not in measured:
                noise = drawn(measure.mechanism, DRAWS, bits, wider)
                measured[measure] = Measured(exact(measure.query, rows) + noise, measure.mechanism)
        with pytest.raises(StopIteration) as end:
            flow.send(tuple(measured[measure] for measure in asked))
        estimates[statistic] = end.value.value
    return estimates


def truth_of(source, rows):
    x, y = rows["x"], rows["y"]
    known = {MEAN_X: x.mean(), MEAN_Y: y.mean(), SUM_X: x.sum(), SUM_Y: y.sum(), ROWS_OF_X: len(x)}
    known[DEVIATION] = x.std(ddof=1) if len(x) > 1 else 0.0
    return float(noisy_values(source, {each: Estimate(np.asarray(value), None, "") for each, value in known.items()}))


def share_held(bounds, truth):
    return at_most(int(((bounds[0] <= truth) & (truth <= bounds[1])).sum()), DRAWS)


def relative_width(estimate, bounds):
    """Of intervals, beside the central 95% of all answers."""
    return float((bounds[1] - bounds[0]).mean() / np.diff(np.quantile(estimate.values, [0.025, 0.975]))[0])


@every_formula
@every_price
@pytest.mark.parametrize("size", [100, 1000])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_interval_covers_and_is_hardly_wider_than_the_distribution_of_its_own_error(
    name, price, size, shape, seeded_bits
):
    source, rows = FORMULAS[name], columns(shape, size)
    estimate = estimate_term(source, answered(source, PRICES[price], rows, seeded_bits))
    bounds = estimate.interval(0.95, 1)
    assert share_held(bounds, truth_of(source, rows)) >= 0.945
    if shape not in LESS_KNOWN.get(name, {}).get(size, ()):
        assert relative_width(estimate, bounds) <= 1.4


@every_formula
def test_noise_twice_as_wide_as_stated_is_found_out(name, seeded_bits):
    source, rows = FORMULAS[name], columns("even", 1000)
    estimate = estimate_term(source, answered(source, Pure(1), rows, seeded_bits, wider=2))
    assert share_held(estimate.interval(0.95, 1), truth_of(source, rows)) < 0.945


@pytest.mark.parametrize("name", ["AVG(y) - AVG(x)", "STDDEV(x) / AVG(x)", "AVG(x) / AVG(y)", "AVG(x) * AVG(y)"])
def test_a_box_of_what_they_are_made_of_is_found_out_to_be_too_wide(name, seeded_bits):
    """What is given where nothing but the intervals of the statistics is known."""
    source, rows = FORMULAS[name], columns("even", 1000)
    estimates = answered(source, Pure(1), rows, seeded_bits)
    estimates = {each: replace(found, parts=(), derivation=None) for each, found in estimates.items()}
    estimate = estimate_term(source, estimates)
    assert relative_width(estimate, estimate.interval(0.95, 1)) > 1.4
    assert "each within its interval" in estimate.method


@every_formula
@pytest.mark.parametrize("size", [1, 2, 5, 20, 60])
@pytest.mark.parametrize("shape", ["even", "many zeros", "constant"])
def test_of_few_rows_nothing_wrong_is_claimed(name, size, shape, seeded_bits):
    source, rows = FORMULAS[name], columns(shape, size)
    if name == "AVG(x) / AVG(y)" and not rows["y"].any():
        rows["y"][0] = 1.0  # by zero there is no truth
    if name == "STDDEV(x) / AVG(x)" and not rows["x"].any():
        rows["x"][0] = 1.0
    estimate = estimate_term(source, answered(source, Pure(1), rows, seeded_bits))
    assert share_held(estimate.interval(0.95, 1), truth_of(source, rows)) >= 0.945


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.99, 0.999])
@every_formula
def test_surer_and_less_sure_intervals_hold_what_they_say(name, confidence, seeded_bits):
    for shape in ("even", "many zeros"):
        source, rows = FORMULAS[name], columns(shape, 150)
        estimate = estimate_term(source, answered(source, PRICES["rho"], rows, seeded_bits))
        assert share_held(estimate.interval(confidence, 1), truth_of(source, rows)) >= confidence


def test_all_cells_at_once_are_each_held_more_surely(seeded_bits):
    source = FORMULAS["AVG(y) - AVG(x)"]
    rows = columns("even", 1000)
    estimate = estimate_term(source, answered(source, Pure(1), rows, seeded_bits))
    one, all_of_them = (estimate.interval(0.95, cells) for cells in (1, 50))
    surely = estimate.interval(0.95 ** (1 / 50), 1)
    assert (all_of_them[1] - all_of_them[0] > 1.5 * (one[1] - one[0])).all()
    assert all_of_them[1] == pytest.approx(surely[1], rel=1e-3)


def test_products_whose_factors_may_both_be_zero_are_boxed(seeded_bits):
    """Squares of differences that are zero, and a product of two: there levels are no planes."""
    x, y = of("-", MEAN_X, Fraction(40)), of("/", of("-", MEAN_Y, Fraction(40)), Fraction(5))  # as noisy as each other
    rows = columns("constant", 1000)
    for source in (of("*", x, x), of("*", x, y), of("+", of("*", x, x), of("*", y, y))):
        estimate = estimate_term(source, answered(source, Pure(1), rows, seeded_bits))
        assert share_held(estimate.interval(0.95, 1), 0.0) >= 0.945


# ------------------------------------------------------------------------------------------------ limits


def limited(lower, upper, value=0.0):
    derivation = Derivation((), lambda _: (), (lower, upper))
    return Estimate(np.asarray(value), None, "", derivation=derivation)


@pytest.mark.parametrize(
    ("source", "limits"),
    [
        (of("+", MEAN_X, MEAN_Y), (-2, 9)),
        (of("-", MEAN_X, Fraction(1)), (-1, 3)),
        (of("*", MEAN_X, MEAN_Y), (-8, 20)),
        (of("/", MEAN_X, MEAN_X), (0, np.inf)),
        (of("/", MEAN_X, of("negative", MEAN_X)), (-np.inf, 0)),
        (of("/", of("negative", MEAN_X), of("negative", MEAN_X)), (0, np.inf)),
        (of("/", MEAN_Y, of("+", MEAN_X, Fraction(1))), (-2, 5)),
        (of("/", Fraction(1), of("+", MEAN_X, Fraction(1))), (0.2, 1)),
        (of("*", MEAN_X, SUM_X), (-np.inf, np.inf)),
        (of("at least 1", MEAN_X), (1, 4)),
    ],
)
def test_a_formula_is_within_what_its_terms_can_be(source, limits):
    estimates = {MEAN_X: limited(0, 4, 2.0), MEAN_Y: limited(-2, 5, 1.0), SUM_X: Estimate(np.asarray(7.0), None, "")}
    with np.errstate(all="ignore"):
        assert find_limits(source, estimates) == limits


def test_a_part_of_sums_that_may_be_negative_is_not_taken_for_a_share():
    rng, noise, share = np.random.default_rng(5), DiscreteLaplace(Fraction(10)), 1 - np.exp(-1 / 10)
    one, other = Sum(OF_X), Count(ROWS)
    seen = {}
    for statistic, true in ((one, -50), (other, 500)):
        noisy = true + rng.geometric(share, 4000) - rng.geometric(share, 4000)
        seen[statistic] = in_steps(Measured(noisy, noise), Fraction(1), "")
    ends = estimate_term(Formula("/", (one, Formula("+", (one, other)))), seen).interval(0.95, 1)
    held = (ends[0] <= -50 / 450) & (ends[1] >= -50 / 450)
    assert held.mean() >= 0.932  # fewer of 4,000 have a probability below 1e-6
