"""Boosting: draws by attenuated weights, which one person moves by little, and the median of what was made of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from adomnia.mechanisms import Exponential
from adomnia.methods.releases.boosting import METHOD
from adomnia.methods.synthesis.explicit_rows import PARTS
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers
from kit.placed_rows import PlacedRows, build, draw_people, find_distance, release

SIZES = (4, 3, 2)
ROWS = draw_people(2000, SIZES, 8)
PRICES = [Pure(Fraction(1, 2)), Concentrated(Fraction(1, 20))]
both_prices = pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])


def test_weights_that_jump_leak_what_the_book_says_and_attenuated_ones_do_not(vectors):
    """Ten questions, of which one row makes one inaccurate: a factor e for that, and 1 / e for the nine others."""
    known = vectors["boosting_ratio"]
    accurate, inaccurate = np.array([0] * 10), np.array([0] * 9 + [1])
    jumping = Exponential(Fraction(2))  # the whole way from 1 / e to e by one row
    ratio = jumping.probabilities(inaccurate)[-1] / jumping.probabilities(accurate)[-1]
    assert ratio == pytest.approx(known["F"], rel=1e-12)
    assert log(ratio) == pytest.approx(known["lnF"], rel=1e-12)
    # Ours, at epsilon 1/10: one row goes a 40th of the way.
    analysis = build(METHOD, SIZES)
    cut = analysis._ask_cell(
        Pure(1 / (analysis.part * Fraction(1, 10)) / 10), [analysis.tables.believe(np.ones(SIZES))]
    )
    near, far = cut.query.aggregate.between
    slow = cut.mechanism
    assert (far - near) / PARTS == pytest.approx(40)
    ratio = slow.probabilities(inaccurate * PARTS)[-1] / slow.probabilities(accurate)[-1]
    assert 1 < ratio < exp(0.1)


@both_prices
@pytest.mark.parametrize("synopses", [1, 4])
def test_each_synopsis_changes_a_weight_by_at_most_e_either_way(price, synopses):
    """The exponent runs over 2 between the cuts, and the more synopses there are the further apart these are."""
    analysis = build(METHOD, SIZES)
    cut = analysis._ask_cell(price, [analysis.tables.believe(np.ones(SIZES))] * synopses)
    near, far = cut.query.aggregate.between
    assert float(cut.mechanism.rate * (far - near)) == pytest.approx(2, rel=1e-3)
    assert cut.query.sensitivity().linf == synopses * PARTS
    assert cut.query.aggregate.results == 12 + 8 + 6


@both_prices
def test_draws_on_neighbours_are_as_alike_as_was_paid(price):
    """The exact distribution of a draw by three synopses, with one row more or less."""
    analysis = build(METHOD, SIZES)
    synopses = [draw_people(2000, SIZES, seed) for seed in (1, 2)]
    believed = []
    for rows in (ROWS[:300], *synopses):
        weights = np.zeros(SIZES)
        np.add.at(weights, tuple(rows.T), 1)
        believed.append(analysis.tables.believe(weights))
    asked = analysis._ask_cell(price, believed)
    # Without a cut too: all distances move then.
    for query in (asked.query, replace(asked.query, aggregate=replace(asked.query.aggregate, between=None))):
        before = PlacedRows(analysis, ROWS, None).exact(query)
        distribution, epsilon = asked.mechanism, float(asked.mechanism.event(query.sensitivity()).epsilon)
        for changed in (ROWS[1:], ROWS[:-1], np.vstack([ROWS, [[3, 2, 1]]])):
            after = PlacedRows(analysis, changed, None).exact(query)
            assert np.abs(after - before).max() <= query.sensitivity().linf
            ratios = distribution.probabilities(after) / distribution.probabilities(before)
            assert max(ratios.max(), 1 / ratios.min()) <= exp(epsilon) * (1 + 1e-9)


@both_prices
@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[:0]], ids=len)
def test_its_rounds_stay_within_its_event(price, rows):
    analysis = build(METHOD, SIZES, rounds=3, draws=2, size=40)
    result, events = release(analysis, price, rows)
    assert len(events) == 3 + 2 + 2 * 4  # the first two draws are by chance alone
    assert covers(analysis.event(price), Composed(events))
    rehearsed = analysis.planned_measures(price)
    assert covers(analysis.event(price), Composed(each.mechanism.event(each.query.sensitivity()) for each in rehearsed))
    assert result.product.rows.shape == (40, 3)


def test_one_column_is_measured_at_the_whole_price():
    (only,) = build(METHOD, (3,)).planned_measures(PRICES[0])
    assert only.price == PRICES[0]


def test_the_parts_of_the_price_add_up_whatever_is_asked():
    for options in ({}, {"rounds": 1}, {"draws": 5}, {"ways": 1}, {"ways": 3}):
        assert sum(part for _, part in build(METHOD, SIZES, **options).shares) == 1


def test_rows_follow_the_median_so_that_one_wild_synopsis_is_outvoted():
    analysis = build(METHOD, SIZES)
    right = np.zeros(SIZES)
    np.add.at(right, tuple(ROWS.T), 1)
    wild = np.full(SIZES, right.sum() / right.size)
    joined = analysis._join([right, wild, right])
    for one, other in zip(analysis.tables.believe(joined), analysis.tables.believe(right), strict=True):
        assert np.abs(one - other).max() < 5
    assert np.abs(analysis.tables.believe(wild)[0] - analysis.tables.believe(right)[0]).max() > 50


def test_at_a_high_price_its_rows_are_nearer_than_independent_columns():
    price = Concentrated(1)
    apart = [
        find_distance(
            ROWS, release(build(METHOD, SIZES, size=20_000, **options), price, ROWS)[0].product.rows, SIZES, 2
        )
        for options in ({}, {"ways": 1})
    ]
    assert apart[0] < 0.03
    assert apart[1] > 0.1


@both_prices
def test_the_same_measurements_give_the_same_rows_and_others_others(price):
    analysis = build(METHOD, SIZES, rounds=2, draws=1, size=500)
    first, again, other = (release(analysis, price, ROWS, seed)[0].product.rows for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@both_prices
@pytest.mark.parametrize("sizes", [(3,), (1,), (1, 2)])
def test_one_column_and_nobody_are_no_trouble(price, sizes):
    for number in (0, 2):
        result, _ = release(build(METHOD, sizes, size=5), price, np.zeros((number, len(sizes)), dtype=np.int64))
        assert result.rows == 5
