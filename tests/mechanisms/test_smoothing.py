"""Smooth bounds against brute force: all data sets of up to seven rows, and their definition in full."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, inf

import mpmath
import numpy as np
import pytest

from adomnia.mechanisms.envelopes import OrderStatistic, ValueCounts
from adomnia.mechanisms.smoothing import LEAST, MOST_STEPS, check_beta, find_smooth_bound, list_weights
from adomnia.noise.discrete import NotDrawableError
from kit.laws import rational
from mechanisms.test_envelopes import DATA, SHARES, SIZE, counts_of, order_statistic, row_distances

BETAS = [Fraction(1, 20), Fraction(3, 10), Fraction(2)]
every_beta = pytest.mark.parametrize("beta", BETAS, ids=str)


def bound_of(counts, statistic, rows, beta):
    steps = len(list_weights(beta, statistic.top))
    return find_smooth_bound(statistic.envelopes(counts, rows, steps).local, beta, statistic.top)


@every_beta
@pytest.mark.parametrize("top", [1, 3, 2**20, 2**40 - 1])
def test_weights_fall_by_exp_beta_and_never_faster(beta, top):
    """In 80 digits: rounding them down would be a bound that is not smooth."""
    weights = list_weights(beta, top)
    with mpmath.workdps(80):
        ratio = mpmath.exp(-rational(beta))
        for before, after in pairwise(weights[:500]):
            assert after >= before * ratio
            assert after <= before * ratio + 3
    assert weights[-1] * top <= LEAST * 2**128 < weights[-2] * top


@pytest.mark.no_cover
@every_beta
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("share", SHARES, ids=str)
def test_neighbours_have_bounds_within_exp_beta_that_hold_what_moves(beta, rows, share):
    statistic = OrderStatistic(share, SIZE)
    bounds = [float(bound_of(counts_of(data), statistic, rows, beta)) for data in DATA]
    values = [order_statistic(data, share) for data in DATA]
    closest = inf
    for here, there in np.argwhere(-(-row_distances() // rows) == 1):
        assert bounds[here] <= exp(float(beta)) * bounds[there] * (1 + 1e-12)
        assert abs(values[here] - values[there]) <= bounds[here] * (1 + 1e-12)
        closest = min(closest, exp(float(beta)) * bounds[there] / bounds[here])
    assert closest < 1 + 1e-9  # and some neighbours are as far apart as they may be


@every_beta
def test_it_is_the_largest_local_bound_after_its_discount(beta):
    random = np.random.default_rng(3)
    for _ in range(50):
        local = np.cumsum(random.integers(0, 3, 2000) * random.integers(0, 2, 2000) ** 3)
        local = np.minimum(local - local[0], 10_000)
        steps = len(list_weights(beta, 10_000))
        wanted = max(float(LEAST), *(float(value) * exp(-float(beta) * k) for k, value in enumerate(local)))
        assert float(find_smooth_bound(local[:steps], beta, 10_000)) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.no_cover
def test_a_beta_that_needs_too_many_steps_is_refused():
    check_beta(Fraction(1, 1000), 2**20, "Noise")
    with pytest.raises(NotDrawableError, match=r"^Noise beta must be at least 45 / 1,048,576"):
        check_beta(Fraction(1, 10**5), 2**20 - 1, "Noise")
    slowest = Fraction(65, MOST_STEPS)
    check_beta(slowest, 2**40 - 1, "Noise")
    assert len(list_weights(slowest, 2**40 - 1)) <= MOST_STEPS


def paper(values, top, beta):
    """S* of the median of an odd number of rows, one of which is replaced: the pair form."""
    held = sorted(values)
    middle, count = (len(held) + 1) // 2, len(held)
    at = {place: held[place - 1] for place in range(1, count + 1)}
    ends = range(-count - 1, 2 * count + 3)
    value = {place: at.get(place, 0 if place < 1 else top) for place in ends}
    return max(
        (value[j] - value[i]) * exp(-beta * (j - i - 1)) for i in ends for j in ends if i <= middle <= j and j > i
    )


def paper_by_distance(values, top, beta):
    """The same by how many rows are replaced: max over windows of k + 1 ranks."""
    held = sorted(values)
    count = len(held)
    middle = (count + 1) // 2

    def value(place):
        return held[place - 1] if 1 <= place <= count else 0 if place < 1 else top

    windows = [max(value(middle + t) - value(middle + t - k - 1) for t in range(k + 2)) for k in range(count + 1)]
    return windows, max(exp(-beta * k) * window for k, window in enumerate(windows))


def test_the_papers_bound_of_a_median_is_reproduced_and_ours_is_no_larger():
    """Nissim, Raskhodnikova & Smith 2007: the values .1, .2, .3, .7, .9 between 0 and 1."""
    held = [100, 200, 300, 700, 900]
    windows, found = paper_by_distance(held, 1000, 0.1)
    assert windows == [400, 600, 700, 800, 900, 1000]
    assert found == pytest.approx(606.531, abs=0.001)
    counts = ValueCounts.of(1001, np.array(held), np.ones(5, dtype=np.int64))
    ours = bound_of(counts, OrderStatistic(Fraction(1, 2), 1001), 1, Fraction(1, 10))
    assert float(ours) == pytest.approx(found, rel=1e-9)


def test_on_random_rows_both_forms_of_the_paper_agree_and_ours_is_no_larger():
    random, smaller = np.random.default_rng(11), 0
    for _ in range(100):
        held = random.integers(0, 101, 2 * random.integers(1, 8) + 1)
        beta = Fraction(int(random.integers(1, 20)), 20)
        wanted = paper(held.tolist(), 100, float(beta))
        assert paper_by_distance(held.tolist(), 100, float(beta))[1] == pytest.approx(wanted)
        counts = ValueCounts.of(101, *np.unique(held, return_counts=True))
        ours = float(bound_of(counts, OrderStatistic(Fraction(1, 2), 101), 1, beta))
        assert ours <= wanted * (1 + 1e-9)
        smaller += ours < 0.9 * wanted
    assert smaller > 10
