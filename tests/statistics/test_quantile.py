"""Quantiles: how often their intervals cover on every shape of data, how wide those are, and what they cost the value.

Draws run the mechanism's own code with samplers in doubles, which tests/mechanisms holds against the exact
distributions.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import stats

from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, Rows
from adomnia.statistics.brackets import Bracket
from adomnia.statistics.contract import Measured
from adomnia.statistics.quantile import PlainQuantile, Quantile
from kit.brackets import drawn
from kit.shapes import SHAPES, SMOOTH, VALUES, sample

HALF = Fraction(1, 2)
QUARTILES = tuple(Fraction(place, 4) for place in range(1, 4))
DECILES = tuple(Fraction(place, 10) for place in range(1, 10))
PERCENTILES = tuple(Fraction(place, 100) for place in range(1, 100))
FARE = Column("fare", Quantity(Fraction(0), Fraction(100)), Numbers(0, 100, Fraction(100, VALUES - 1)))
AGE = Column("age", Quantity(Fraction(0), Fraction(100), whole=True), Numbers.integers(0, 100))


def statistic(column=FARE, share=HALF, shares=None, confidence=Fraction(19, 20)):
    aggregate = Histogram(column, column.domain, shares or (share,), confidence)
    return Quantile(Query(Private("people", 1, (column,)), (), aggregate), share)


def without_interval(asked):
    aggregate = replace(asked.query.aggregate, confidence=Fraction(0))
    return PlainQuantile(replace(asked.query, aggregate=aggregate), asked.share)


def mechanism_of(asked, price):
    (measure,) = next(asked.steps(price))
    return measure.mechanism


def answered(asked, price, values):
    """The estimate of what was released."""
    return asked.estimate(Measured(np.asarray(values), mechanism_of(asked, price)))


@cache
def released(case, draws, *, whole=False, wider=1):
    """Rows, and what is released of many cells that hold them."""
    shares, price, shape, n = case
    column = AGE if whole else FARE
    rows = sample(shape, n, n, 101 if whole else VALUES)
    asked = statistic(column, shares[0], shares)
    return rows, drawn(mechanism_of(asked, price), rows, draws, n, wider)


def holds(rows, share, lower, upper, step):
    """Which intervals hold a quantile: any value that at least its share of rows is at or below, and the rest above."""
    first = rows[max(0, int(np.ceil(share * len(rows))) - 1)] * step if len(rows) else 0.0
    last = rows[min(len(rows) - 1, int(np.floor(share * len(rows))))] * step if len(rows) else 100.0
    return (lower <= last + 1e-9) & (first - 1e-9 <= upper)


def coverage(case, draws, part=1.0, alphas=1.0, **how):
    """The least upper bound of the coverage over all shares: false alarms 1e-7 each.

    Wrong variants: a part of each interval, so many times the chance to miss, noise so many times as wide as is stated.
    """
    (shares, price, *_), (rows, values) = case, released(case, draws, **how)
    column, worst = AGE if how.get("whole") else FARE, 1.0
    for share in shares:
        asked = statistic(column, share, shares)
        estimate = answered(asked, price, values)
        ends = estimate.interval(1 - alphas * 0.05, 1)
        lower, upper = (estimate.values + part * (end - estimate.values) for end in ends)
        hits = int(holds(rows, share, lower, upper, float(column.domain.step)).sum())
        worst = min(worst, float(stats.beta.ppf(1 - 1e-7, hits + 1, draws - hits)) if hits < draws else 1.0)
    return worst


SHORT = [
    ((HALF,), Pure(1), "normal", 1000),
    ((HALF,), Pure(1), "ages", 1000),
    ((HALF,), Pure(Fraction(3, 10)), "rounded to 5", 1000),
    ((HALF,), Pure(1), "zeros", 1000),
    ((HALF,), Pure(1), "clusters", 1000),
    ((HALF,), Pure(1), "prices", 1000),
    ((HALF,), Pure(3), "heavy tails", 200),
    ((HALF,), Pure(1), "constant", 300),
    ((HALF,), Pure(1), "lognormal", 0),
    ((HALF,), Pure(Fraction(1, 10)), "lognormal", 200),
    ((HALF,), Concentrated(Fraction(1, 8)), "clusters", 1000),
    ((Fraction(1, 10),), Pure(1), "lognormal", 3000),
    ((Fraction(99, 100),), Pure(3), "heavy tails", 5000),
]
SHORT_SEVERAL = [
    (DECILES, Pure(1), "lognormal", 1000),
    (DECILES, Pure(1), "ages", 1000),
    (DECILES, Pure(1), "clusters", 300),
    (QUARTILES, Concentrated(Fraction(1, 8)), "zeros", 300),
    (QUARTILES, Pure(1), "prices", 20),
]


@pytest.mark.parametrize(("shares", "price", "shape", "n"), SHORT)
def test_the_interval_of_one_covers_on_every_shape_of_data(shares, price, shape, n):
    assert coverage((shares, price, shape, n), 300) >= 0.95


@pytest.mark.parametrize(("shares", "price", "shape", "n"), SHORT_SEVERAL)
def test_the_intervals_of_several_cover_on_every_shape_of_data(shares, price, shape, n):
    assert coverage((shares, price, shape, n), 40) >= 0.95


def test_whole_numbers_cover_too():
    assert coverage(((HALF,), Pure(1), "ages", 1000), 500, whole=True) >= 0.95


@pytest.mark.parametrize("price", [Pure(Fraction(3, 10)), Concentrated(Fraction(1, 200))], ids=str)
def test_narrower_intervals_are_found_out(price):
    """Half a row decides at which of two values the median is: there an interval misses nearly as often as it may."""
    tight = (HALF,), price, "two values", 1001
    assert 0.95 <= coverage(tight, 1000) < 1
    assert coverage(tight, 1000, part=0.7) < 0.93
    assert coverage(tight, 1000, alphas=3) < 0.95
    assert coverage(tight, 1000, wider=2) < 0.93


def spans(estimate, rows, confidence=0.95):
    """How many ranks each interval spans, and whether it is the whole range."""
    lower, upper = estimate.interval(confidence, 1)
    step = float(FARE.domain.step)
    ranks = np.searchsorted(rows, upper / step, side="right") - np.searchsorted(rows, lower / step)
    return ranks, (lower <= 0) & (upper >= 100)


def is_narrow(estimate, rows, epsilon):
    ranks, whole = spans(estimate, rows)
    return ranks.mean() <= 40 / epsilon and whole.mean() < 0.01


@pytest.mark.parametrize(("shape", "n", "epsilon"), [("normal", 1000, 1), ("lognormal", 1000, 3)])
def test_the_interval_of_a_median_of_smooth_data_is_narrow(shape, n, epsilon):
    rows, values = released(((HALF,), Pure(epsilon), shape, n), 500)
    estimate = answered(statistic(), Pure(epsilon), values)
    assert is_narrow(estimate, rows, epsilon)
    nothing = answered(statistic(), Pure(epsilon), np.hstack([np.zeros((500, 1), int), values[:, 1:]]))
    assert not is_narrow(nothing, rows, epsilon)


def misses(case, draws, seeds=(1,)):
    """The mean distance to the quantile in values, and in ranks, with an interval and without."""
    shares, price, shape, n = case
    found = []
    for seed in seeds:
        rows = sample(shape, n, seed)
        for plain in (False, True):
            asked = [statistic(FARE, share, shares) for share in shares]
            asked = [without_interval(each) for each in asked] if plain else asked
            values = drawn(mechanism_of(asked[0], price), rows, draws, seed)
            for each in asked:
                chosen = np.rint(answered(each, price, values).values / float(FARE.domain.step)).astype(int)
                rank, true = each.share * n, rows[max(0, int(np.ceil(each.share * n)) - 1)]
                beyond = (
                    np.searchsorted(rows, chosen) - float(rank),
                    float(rank) - np.searchsorted(rows, chosen, "right"),
                )
                found.append((plain, np.abs(chosen - true).mean(), np.maximum(0, np.maximum(*beyond)).mean()))
    means = [np.mean([each[1:] for each in found if each[0] == plain], axis=0) for plain in (False, True)]
    return means[0] / np.maximum(means[1], 1e-9)


def test_an_interval_costs_little_of_the_value():
    """Bars with room for chance; the long form has narrower ones, with room too."""
    assert misses(((HALF,), Pure(1), "normal", 1000), 200, range(4))[0] < 1.9
    assert misses((DECILES, Pure(1), "lognormal", 1000), 25)[1] < 1.7


@pytest.mark.parametrize("n", [20, 200])
def test_few_rows_have_the_value_of_a_choice_by_rank(n):
    """A part of the price goes into the interval from 60 / epsilon rows on."""
    assert misses(((HALF,), Pure(Fraction(1, 2)), "ages", n), 100, range(4))[0] < 2.2


@pytest.mark.soak
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("price", [Pure(Fraction(1, 10)), Pure(1), Pure(3), Concentrated(Fraction(1, 8))], ids=str)
@pytest.mark.parametrize("n", [20, 200, 1000, 10_000, 100_000])
def test_all_intervals_cover_on_all_data(shape, price, n):
    for hundredths in (1, 5, 25, 50, 90, 99):
        assert coverage(((Fraction(hundredths, 100),), price, shape, n), 2000) >= 0.95
    assert coverage((QUARTILES, price, shape, n), 400) >= 0.95
    assert coverage((DECILES, price, shape, n), 200) >= 0.95
    assert coverage((PERCENTILES, price, shape, n), 40) >= 0.95


@pytest.mark.soak
@pytest.mark.parametrize("shape", SMOOTH)
@pytest.mark.parametrize(("n", "epsilon"), [(1000, 1), (10_000, 1), (100_000, 1), (10_000, Fraction(1, 10)), (1000, 3)])
def test_all_intervals_of_medians_are_narrow_and_cost_little(shape, n, epsilon):
    rows, values = released(((HALF,), Pure(epsilon), shape, n), 3000)
    assert is_narrow(answered(statistic(), Pure(epsilon), values), rows, epsilon)
    assert misses(((HALF,), Pure(epsilon), shape, n), 1000, range(20))[0] <= 1.6


@pytest.mark.soak
@pytest.mark.parametrize("shape", SMOOTH)
@pytest.mark.parametrize("n", [1000, 10_000, 100_000])
@pytest.mark.parametrize("shares", [DECILES, PERCENTILES], ids=len)
def test_all_intervals_of_several_cost_little(shape, n, shares):
    assert misses((shares, Pure(1), shape, n), 60, range(3))[1] <= 1.4


def test_whole_numbers_are_their_own_grid():
    asked = statistic(AGE)
    mechanism = mechanism_of(asked, Pure(100))
    estimate = answered(
        asked, Pure(100), [mechanism.lay_out([40, 42, 43], [40, 41, 42, 43, 44], [0, 10, 10, 10, 10], 10**6)]
    )
    assert estimate.whole
    assert estimate.values.tolist() == [42.0]
    assert [bound.tolist() for bound in estimate.interval(0.95, 1)] == [[41.0], [42.0]]


@pytest.mark.parametrize(("across", "snaps"), [(-301, True), (-299, True), (-360, False)])
def test_a_value_that_many_rows_hold_is_the_answer_unless_noise_can_tell_otherwise(across, snaps):
    """300 rows hold 500; the median is half a row above them, among them, or 30 rows above them."""
    mechanism = mechanism_of(statistic(), Pure(1))
    found = Bracket.read(
        mechanism,
        np.array(mechanism.lay_out([400, 500, 600], [400, 500, 501, 600, 601], [across, 0, 300, 0, 0], 10**6)),
        0,
    )
    assert (found.estimate(0.05) == 500) == snaps


def test_few_rows_have_a_value_and_the_bounds():
    asked = statistic(AGE)
    mechanism = mechanism_of(asked, Pure(1))
    estimate = answered(asked, Pure(1), [mechanism.lay_out([33] * 3, [], [], 20)])
    assert estimate.values.tolist() == [33.0]
    assert [bound.tolist() for bound in estimate.interval(0.5, 1)] == [[0.0], [100.0]]


def test_all_cells_at_once_and_more_confidence_have_wider_intervals():
    rows, values = released(((HALF,), Pure(1), "normal", 1000), 500)
    estimate = answered(statistic(), Pure(1), values)
    widths = [spans(estimate, rows, confidence)[0].mean() for confidence in (0.5, 0.95, 0.999)]
    assert widths == sorted(widths)
    together = estimate.interval(0.95, 500)
    assert holds(rows, HALF, *together, float(FARE.domain.step)).all()


def test_shares_of_one_value_are_one_measurement():
    one, other = (statistic(FARE, share, DECILES) for share in DECILES[:2])
    assert next(one.steps(Pure(1))) == next(other.steps(Pure(1)))


def test_a_question_that_does_without_intervals_buys_values_alone():
    asked = statistic(FARE, DECILES[3], DECILES)
    plain = without_interval(asked)
    assert plain.operands == (plain.query.aggregate, DECILES[3])
    estimate = plain.estimate(Measured(np.array([[0, 1, 2, 524288, 4, 5, 6, 7, 8]]), mechanism_of(plain, Pure(1))))
    assert estimate.values.tolist() == [50.0]
    assert [bound.tolist() for bound in estimate.interval(0.95, 1)] == [[0.0], [100.0]]


@pytest.mark.parametrize("kind", [Quantile, PlainQuantile])
def test_a_share_that_is_none_or_was_not_asked_for_is_refused(kind):
    query = statistic().query
    for share in (Fraction(0), Fraction(1), Fraction(1, 4)):
        with pytest.raises(ValueError, match="asked for"):
            kind(query, share)
    with pytest.raises(TypeError, match="Histogram"):
        kind(Query(Private("people", 1, (FARE,)), (), Rows()), HALF)
