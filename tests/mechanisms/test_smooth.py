"""Quantiles with noise of their smooth sensitivity: the loss over all small data sets, by the exact distribution."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import exp, inf

import mpmath
import numpy as np
import pytest

from adomnia.mechanisms import smooth
from adomnia.mechanisms.envelopes import OrderStatistic, ValueCounts
from adomnia.mechanisms.smooth import (
    LEAST,
    MOST_STEPS,
    SmoothCauchy,
    SmoothLaplace,
    SmoothStudent,
    Stride,
    check_beta,
    find_smooth_bound,
    list_weights,
)
from adomnia.noise.discrete import NotDrawableError
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.losses import covers
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, Rows
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.brackets import secret
from kit.distributions import cauchy_below, exact_rounded, laplace_below, p_value_of_counts, rational, student_below
from mechanisms.test_envelopes import DATA, SHARES, SIZE, counts_of, order_statistic, row_distances

MEDIAN, DELTA = Fraction(1, 2), Fraction(1, 1000)
KINDS = {
    "round_cauchy": (SmoothCauchy, cauchy_below, Pure(1)),
    "round_student": (SmoothStudent, student_below, Pure(1)),
    "round_laplace": (SmoothLaplace, laplace_below, Approximate(1, DELTA)),
}
every_kind = pytest.mark.parametrize("draw", KINDS)
AGE = Column("age", Quantity(Fraction(0), Fraction(9), whole=True), Numbers.integers(0, 9))
BETAS = [Fraction(1, 20), Fraction(3, 10), Fraction(2)]
every_beta = pytest.mark.parametrize("beta", BETAS, ids=str)


def make(draw, rows=1, cells=1, **other):
    kind, _, price = KINDS[draw]
    return kind(**{"share": MEDIAN, "values": SIZE, "rows": rows, "cells": cells, "price": price} | other)


def look(mechanism, draw, rows, monkeypatch):
    """The exact quantile of some rows and the scale of the noise that it would be given."""
    scales = []

    def nothing(scale, _bits):
        scales.append(scale)
        return 0

    with monkeypatch.context() as patched:
        patched.setattr(smooth, draw, nothing)
        (value,) = mechanism.release(secret(mechanism, rows), SeededBits("unused"))
    return int(value), scales[0]


@cache
def log_distribution(draw, scale, k):
    return mpmath.log(exact_rounded(KINDS[draw][1], k, scale))


REACH = [*range(-25, 26), *(side * 10**power for side in (-1, 1) for power in (2, 3, 6))]


def worst_loss(draw, here, there):
    """max_k ln P[k] / P'[k] of two rounded distributions, each a place and a scale; in 40 digits."""
    return max(
        log_distribution(draw, here[1], k - here[0]) - log_distribution(draw, there[1], k - there[0]) for k in REACH
    )


def beyond(draw, here, there, epsilon):
    """sum_k max(0, P[k] - exp(epsilon) P'[k])."""
    factor, parts = mpmath.exp(epsilon), (range(-150, 151))
    distributions = [
        [mpmath.exp(log_distribution(draw, scale, k - place)) for k in parts] for place, scale in (here, there)
    ]
    return mpmath.fsum(max(0, p - factor * q) for p, q in zip(*distributions, strict=True))


def neighbours_of(mechanism, draw, rows, monkeypatch):
    """All different pairs of (place, scale) of data sets that so many rows are apart."""
    seen = [look(mechanism, draw, data, monkeypatch) for data in DATA]
    near = (row_distances() >= 1) & (row_distances() <= rows)
    pairs = {(seen[here], seen[there]) for here, there in np.argwhere(near)}
    return {((0, scale), (moved - place, other)) for (place, scale), (moved, other) in pairs}


def measure_worst(mechanism, draw, rows, monkeypatch):
    """The worst loss of pure noise, or the worst delta, over all neighbours."""
    pairs = neighbours_of(mechanism, draw, rows, monkeypatch)
    with mpmath.workdps(40):
        if draw == "round_laplace":
            epsilon = rational(mechanism.epsilon / mechanism.stride.many)
            far = [pair for pair in pairs if pair[0][1] > pair[1][1]]  # else nothing lies beyond: see below
            return max(beyond(draw, *pair, epsilon) for pair in sorted(far, key=lambda pair: -pair[0][1])[:60])
        return max(worst_loss(draw, *pair) for pair in pairs)


@every_kind
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.no_cover
def test_no_neighbour_is_told_from_another_beyond_the_price(draw, rows, monkeypatch):
    """All data sets of up to seven rows over four values, people of one and of two rows, by the exact distribution."""
    mechanism = make(draw, rows)
    worst = measure_worst(mechanism, draw, rows, monkeypatch)
    price = DELTA if draw == "round_laplace" else 1
    assert 0.3 * price < worst <= price


@pytest.mark.no_cover
def test_laplace_noise_of_a_smaller_scale_loses_at_most_epsilon(monkeypatch):
    mechanism = make("round_laplace")
    pairs = neighbours_of(mechanism, "round_laplace", 1, monkeypatch)
    with mpmath.workdps(40):
        assert max(worst_loss("round_laplace", *pair) for pair in pairs if pair[0][1] <= pair[1][1]) <= 1


@pytest.mark.parametrize(
    "planted",
    [
        lambda local, _beta, _top: max(Fraction(int(local[0])), LEAST),
        lambda local, beta, top: find_smooth_bound(local, 3 * beta, top),
        lambda local, beta, top: find_smooth_bound(local, beta, top) / 3,
    ],
    ids=["the local bound alone", "too large a beta", "too large an alpha"],
)
@pytest.mark.parametrize("draw", ["round_cauchy", "round_student"])
@pytest.mark.no_cover
def test_noise_of_another_bound_tells_neighbours_apart(draw, planted, monkeypatch):
    monkeypatch.setattr(smooth, "find_smooth_bound", planted)
    assert measure_worst(make(draw), draw, 1, monkeypatch) > 1.01


@pytest.mark.no_cover
def test_people_of_two_rows_are_told_apart_by_noise_for_one(monkeypatch):
    assert measure_worst(make("round_cauchy", 1), "round_cauchy", 2, monkeypatch) > 1.01


@pytest.mark.no_cover
def test_rows_in_several_cells_cost_the_price_together(monkeypatch):
    """A person of two rows moves two cells by one row each, or one cell by two."""
    mechanism = make("round_cauchy", 2, 2)
    assert 2 * measure_worst(mechanism, "round_cauchy", 1, monkeypatch) <= 1
    assert measure_worst(mechanism, "round_cauchy", 2, monkeypatch) <= 1
    alone = make("round_cauchy", 2, 1)
    assert 2 * measure_worst(alone, "round_cauchy", 1, monkeypatch) > 1.01


def test_steps_take_all_rows_at_once_or_one_by_one_whichever_has_less_noise():
    assert make("round_cauchy", 5, 1).stride == Stride(5, 1)
    assert make("round_cauchy", 5, 2).stride == Stride(5, 2)
    assert make("round_cauchy", 3, 2).stride == Stride(1, 3)
    assert make("round_cauchy", 3, 100).stride == Stride(1, 3)
    assert make("round_cauchy", 1, 100).stride == Stride(1, 1)


@every_kind
def test_steps_share_the_price(draw):
    single, several = make(draw, 1, 9), make(draw, 4, 9)
    assert several.stride.many == 4
    quarter = Approximate(Fraction(1, 4), DELTA) if draw == "round_laplace" else Pure(Fraction(1, 4))
    alone = make(draw, 1, 1, price=quarter)
    assert several.rates.alpha == alone.rates.alpha < single.rates.alpha
    assert several.rates.beta <= alone.rates.beta
    assert (several.rates.beta < alone.rates.beta) == (draw == "round_laplace")  # whose delta is shared too


@every_kind
@pytest.mark.no_cover
def test_what_is_released_has_the_distribution_of_a_quantile_with_that_noise(draw, monkeypatch):
    """False alarms: 1e-6. A scale half as large, or noise on another quantile, is found out."""
    rows = [2, 3, 3, 4, 5, 5, 6, 6, 7, 9]
    mechanism = make(draw, values=10, cells=1500)
    released = mechanism.release(secret(mechanism, rows, 1500), SeededBits(draw))
    place, scale = look(mechanism, draw, rows, monkeypatch)
    assert place == 5
    counts = np.bincount(released, minlength=10)
    assert len(counts) == 10

    def p_value(place, scale):
        edges = [-mpmath.inf, *(rational((k - place + MEDIAN) / scale) for k in range(9)), mpmath.inf]
        below = [0, *(KINDS[draw][1](edge) for edge in edges[1:-1]), 1]
        return p_value_of_counts(counts, np.array([float(after - before) for before, after in pairwise(below)]))

    assert p_value(5, scale) > 1e-6
    assert p_value(5, scale / 2) < 1e-6
    assert p_value(6, scale) < 1e-6


@every_kind
@pytest.mark.parametrize("share", [MEDIAN, Fraction(1, 10), Fraction(99, 100)], ids=str)
def test_only_buckets_that_matter_are_read_and_change_nothing(draw, share, monkeypatch):
    values = 1 << 20
    rows = (np.random.default_rng(5).normal(0.5, 0.1, 50_000) * values).astype(np.int64)
    mechanism = make(draw, values=values, share=share)
    asked, sealed = [], secret(mechanism, rows)
    inner = sealed._read
    sealed._read = lambda buckets: (asked.append(buckets), inner(buckets))[1]
    monkeypatch.setattr("mechanisms.test_smooth.secret", lambda *_: sealed)
    found = look(mechanism, draw, rows, monkeypatch)
    counts = ValueCounts.of(values, *np.unique(rows, return_counts=True))
    alpha, beta = mechanism.rates
    steps = len(list_weights(beta, values - 1))
    envelopes = OrderStatistic(share, values).envelopes(counts, 1, steps)
    assert found == (envelopes.exact, find_smooth_bound(envelopes.local, beta, values - 1) / alpha)
    assert len(asked) == 2
    assert 0 < len(asked[1]) < 100


@every_kind
@pytest.mark.parametrize("rows", [[], [7], [0] * 50, [9] * 50, [0] * 25 + [9] * 25], ids=str)
def test_any_rows_give_one_value_of_the_grid(draw, rows):
    mechanism = make(draw, values=10, cells=40)
    released = mechanism.release(secret(mechanism, rows, 40), SeededBits((draw, len(rows))))
    assert released.shape == (40,)
    assert released.min() >= 0
    assert released.max() <= 9


@every_kind
def test_of_many_equal_rows_nothing_is_changed(draw):
    mechanism = make(draw, values=10, cells=200)
    assert set(mechanism.release(secret(mechanism, [4] * 3000, 200), SeededBits(draw)).tolist()) == {4}


@every_kind
def test_a_grid_of_one_value_is_that_value(draw):
    mechanism = make(draw, values=1)
    assert mechanism.release(secret(mechanism, [0, 0]), SeededBits(draw)).tolist() == [0]


@every_kind
def test_nothing_of_the_bound_stays_or_is_told(draw):
    mechanism = make(draw, values=1000)
    before = repr(mechanism), dict(vars(mechanism))
    mechanism.release(secret(mechanism, [1, 500, 700]), SeededBits(draw))
    assert (repr(mechanism), dict(vars(mechanism))) == before
    assert mechanism.shape(Query(Private("people", 1, (AGE,)), (), Rows())) == ()


@every_kind
def test_it_is_made_from_public_facts_of_a_query(draw):
    kind, _, price = KINDS[draw]
    histogram = Histogram(AGE, Numbers.integers(0, 9), (MEDIAN,), Fraction(19, 20))
    query = Query(Private("people", 3, (AGE,)), (Bucket(AGE, Numbers.integers(0, 3), AGE),), histogram)
    assert kind.for_query(query, price) == kind(MEDIAN, 10, 3, 4, price)
    with pytest.raises(TypeError, match="must be of a Histogram"):
        kind.for_query(Query(query.relation, (), Rows()), price)
    with pytest.raises(TypeError, match="with one share"):
        kind.for_query(replace(query, aggregate=replace(histogram, shares=(MEDIAN, Fraction(3, 4)))), price)
    assert kind(MEDIAN, 10, 3, 4, price).spread_evenly(7).tolist() == 4


@every_kind
def test_more_cells_than_it_was_made_for_are_not_read(draw):
    mechanism = make(draw, rows=4, cells=1)
    with pytest.raises(ValueError, match="was made for 1 cells, got 2"):
        mechanism.release(secret(mechanism, [1, 2], 2), SeededBits(draw))


@every_kind
def test_what_it_cannot_keep_is_refused(draw):
    kind, _, price = KINDS[draw]
    for wrong in ((Fraction(1), 10, 1, 1), (Fraction(1, 1001), 10, 1, 1), (MEDIAN, 0, 1, 1), (MEDIAN, 9, 2**32, 1)):
        with pytest.raises(ValueError, match=f"^{kind.__name__} "):
            kind(*wrong, price)
    with pytest.raises(TypeError, match=f"^{kind.__name__} is bought with"):
        make(draw, price=Pure(1) if draw == "round_laplace" else Approximate(1, DELTA))
    tiny = Approximate(Fraction(1, 10**6), DELTA) if draw == "round_laplace" else Pure(Fraction(1, 10**6))
    with pytest.raises(ValueError, match=f"^{kind.__name__} beta must be at least"):
        make(draw, price=tiny)


def test_people_of_more_rows_are_a_group():
    pure, laplace = make("round_cauchy", 2), make("round_laplace", 2)
    assert pure.event(Sensitivity(l1=1)) == pure.event(Sensitivity(l1=2)) == Pure(1)
    assert pure.event(Sensitivity(l1=3)) == pure.event(Sensitivity(l1=4)) == Pure(2)
    assert laplace.event(Sensitivity(l1=2)) == Approximate(1, DELTA)
    grouped = laplace.event(Sensitivity(l1=3))
    assert grouped.epsilon == 2
    assert grouped.delta > 3.7 * DELTA  # 1 + e


def test_rho_buys_what_it_converts_to():
    assert make("round_cauchy", price=Concentrated(Fraction(1, 2))).event(Sensitivity(l1=1)) == Pure(1)
    price = Concentrated(Fraction(1, 2), DELTA)
    laplace = make("round_laplace", price=price)
    assert laplace.event(Sensitivity(l1=1)) == Approximate(1, DELTA)
    assert covers(price, laplace.event(Sensitivity(l1=1)))
    with pytest.raises(ValueError, match="delta must be >= 1e-30"):
        make("round_laplace", price=Concentrated(Fraction(1, 2)))


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
