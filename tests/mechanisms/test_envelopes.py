"""Envelopes against brute force: all data sets of up to seven people over a grid of four values."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import ceil

import numpy as np
import pytest

from adomnia.mechanisms.envelopes import LogRange, OrderStatistic, ValueCounts

SIZE, PEOPLE, STEPS = 4, 7, 8
SHARES = [Fraction(1, 2), Fraction(1, 4), Fraction(3, 4), Fraction(9, 10), Fraction(1, 3)]
STATISTICS = [
    *(OrderStatistic(share, SIZE) for share in SHARES),
    LogRange(Fraction(1, 4), Fraction(3, 4), SIZE, Fraction(3, 2)),
    LogRange(Fraction(1, 4), Fraction(3, 4), SIZE, Fraction(2)),
]
every_statistic = pytest.mark.parametrize("statistic", STATISTICS, ids=str)
every_cap = pytest.mark.parametrize("rows", [1, 2])

DATA = [data for size in range(PEOPLE + 1) for data in combinations_with_replacement(range(SIZE), size)]


def counts_of(data) -> ValueCounts:
    held = Counter(data)
    values = np.array(sorted(held, reverse=True), dtype=np.int64)
    return ValueCounts.of(SIZE, values, np.array([held[value] for value in values.tolist()], dtype=np.int64))


@cache
def row_distances():
    """How many rows have to come or go, of any two data sets."""
    table = np.array([[data.count(value) for value in range(SIZE)] for data in DATA])
    return np.abs(table[:, None] - table[None]).sum(axis=2)


def order_statistic(data, share):
    return sorted(data)[ceil(share * len(data)) - 1] if data else 0


def exact(statistic, data) -> int:
    if isinstance(statistic, OrderStatistic):
        return order_statistic(data, statistic.share)
    distance = order_statistic(data, statistic.high) - order_statistic(data, statistic.low)
    return sum(statistic.ratio**j <= distance for j in range(50))


def found(statistic, rows):
    every = [statistic.envelopes(counts_of(data), rows, STEPS) for data in DATA]
    return np.array([each.lower for each in every]), np.array([each.upper for each in every])


@pytest.mark.no_cover
@every_statistic
@every_cap
def test_envelopes_hold_every_database_so_many_people_away(statistic, rows):
    values = np.array([exact(statistic, data) for data in DATA])
    people = -(-row_distances() // rows)
    lower, upper = found(statistic, rows)
    assert (lower[:, 0] == values).all()
    assert (upper[:, 0] == values).all()
    for k in range(STEPS):
        near = people <= k
        assert (np.where(near, values, SIZE).min(axis=1) >= lower[:, k]).all()
        assert (np.where(near, values, -1).max(axis=1) <= upper[:, k]).all()


@pytest.mark.no_cover
@every_statistic
@every_cap
def test_what_is_within_k_people_is_within_one_more_of_every_neighbour(statistic, rows):
    neighbours = np.argwhere(-(-row_distances() // rows) == 1)
    lower, upper = found(statistic, rows)
    here, there = neighbours.T
    assert (lower[here, :-1] >= lower[there, 1:]).all()
    assert (upper[here, :-1] <= upper[there, 1:]).all()
    local = np.array([statistic.envelopes(counts_of(data), rows, STEPS).local for data in DATA])
    assert (local[here, :-1] <= local[there, 1:]).all()


@pytest.mark.no_cover
@every_statistic
@every_cap
def test_one_person_moves_the_statistic_by_at_most_the_local_bound(statistic, rows):
    values = np.array([exact(statistic, data) for data in DATA])
    people = -(-row_distances() // rows)
    moved = np.where(people <= 1, np.abs(values[:, None] - values[None]), 0).max(axis=1)
    local = np.array([statistic.envelopes(counts_of(data), rows, STEPS).local for data in DATA])
    for k in range(STEPS):
        assert (np.where(people <= k, moved, 0).max(axis=1) <= local[:, k]).all()


@pytest.mark.parametrize("share", SHARES, ids=str)
def test_envelopes_of_a_row_a_person_are_reached_by_some_database(share):
    """They are not just safe: many are as narrow as they can be, wherever so many people are there to leave."""
    statistic = OrderStatistic(share, SIZE)
    values = np.array([exact(statistic, data) for data in DATA])
    small = np.array([len(data) <= PEOPLE - 2 for data in DATA])  # so that two more are among all data sets
    lower, upper = found(statistic, 1)
    for k in (1, 2):
        near = row_distances() <= k
        tight_low = np.where(near, values, SIZE).min(axis=1) == lower[:, k]
        tight_high = np.where(near, values, -1).max(axis=1) == upper[:, k]
        assert tight_low[small].mean() > 0.6
        assert tight_high[small].mean() > 0.6


def test_the_median_of_one_person_more_or_less_moves_half_a_rank():
    counts = ValueCounts.of(101, np.array([10, 20, 30, 70, 90]), np.ones(5, dtype=np.int64))
    found = OrderStatistic(Fraction(1, 2), 101).envelopes(counts, 1, 6)
    assert found.exact == 30
    assert found.lower.tolist() == [30, 20, 20, 10, 10, 0, 0]
    assert found.upper.tolist() == [30, 30, 70, 70, 90, 90, 100]


def test_statistics_refuse_what_has_no_meaning():
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        OrderStatistic(Fraction(1), 4)
    with pytest.raises(ValueError, match="must rise"):
        LogRange(Fraction(3, 4), Fraction(1, 4), 4, Fraction(3, 2))


def test_the_levels_of_a_range_are_exponents_of_its_ratio():
    statistic = LogRange(Fraction(1, 4), Fraction(3, 4), 1 << 20, Fraction(9, 8))
    assert statistic.least_distances[:8] == [1, 2, 2, 2, 2, 2, 3, 3]
    assert statistic.top == len(statistic.least_distances)
    assert OrderStatistic(Fraction(1, 2), 1 << 20).top == (1 << 20) - 1
