"""MWEM on data as people have it: near to it at a high price, within its price at any, and the same again."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.curator.executor import drive
from adomnia.errors import Refusal
from adomnia.methods.contract import BadArgument
from adomnia.methods.releases.mwem import METHOD
from adomnia.pricing.parts import split_price
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers
from adomnia.privacy.transforms.distances import Distances
from adomnia.sql.lower import lower
from kit.methods import PEOPLE, Executing, hospital, hospital_catalog
from kit.placed_rows import PlacedRows, build, draw_people, find_distance, find_shares, release

__all__ = ["hospital", "hospital_catalog"]

SIZES = (4, 3, 5, 2)
ROWS = draw_people(3000, SIZES, 1)
PRICES = [Pure(Fraction(1, 2)), Concentrated(Fraction(1, 20))]
both_prices = pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])


@both_prices
@pytest.mark.parametrize("queries", ["tables", "cells"])
@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[:0]], ids=len)
def test_its_rounds_stay_within_its_event(price, queries, rows):
    analysis = build(METHOD, SIZES, rounds=3, queries=queries, size=40)
    result, events = release(analysis, price, rows)
    assert len(events) == 4 + 2 * 3
    assert covers(analysis.event(price), Composed(events))
    assert covers(
        analysis.event(price),
        Composed(each.mechanism.event(each.query.sensitivity()) for each in analysis.planned_measures(price)),
    )
    assert result.product.rows.shape == (40, 4)


@both_prices
def test_people_with_several_rows_are_hidden_by_as_much_more_noise(price):
    several = build(METHOD, SIZES, rows_per_person=3, rounds=2)
    one = build(METHOD, SIZES, rounds=2)
    for few, many in zip(one.planned_measures(price), several.planned_measures(price), strict=True):
        assert many.query.sensitivity().linf == 3 * few.query.sensitivity().linf
    _, events = release(several, price, ROWS)
    assert covers(several.event(price), Composed(events))


def test_one_column_is_measured_at_the_whole_price():
    (only,) = build(METHOD, (3,)).planned_measures(PRICES[0])
    assert only.price == PRICES[0]


def test_the_parts_of_the_price_add_up_whatever_is_asked():
    for options in ({}, {"rounds": 7}, {"ways": 1}, {"ways": 3}, {"queries": "cells"}):
        assert sum(part for _, part in build(METHOD, SIZES, **options).shares) == 1


@pytest.mark.parametrize(
    ("price", "near"), [(Concentrated(Fraction(1, 2)), 0.015), (Pure(4), 0.03)], ids=["rho", "epsilon"]
)
def test_at_a_high_price_its_rows_are_near_to_the_data_and_independent_columns_are_not(price, near):
    """Far below what noise could do by chance: the mean over six tables is a third of the bound."""
    rows = release(build(METHOD, SIZES, size=30_000), price, ROWS)[0].product.rows
    assert find_distance(ROWS, rows, SIZES, 2) < near
    apart = release(build(METHOD, SIZES, ways=1, size=30_000), price, ROWS)[0].product.rows
    assert find_distance(ROWS, apart, SIZES, 1) < near
    assert find_distance(ROWS, apart, SIZES, 2) > 0.1


def test_single_cells_are_classic_and_worse():
    price = Concentrated(Fraction(1, 2))
    distances = [
        find_distance(
            ROWS, release(build(METHOD, SIZES, queries=each, size=30_000), price, ROWS)[0].product.rows, SIZES, 2
        )
        for each in ("tables", "cells")
    ]
    assert distances[0] < distances[1] < 0.2


def test_a_choice_is_among_all_tables_or_all_cells_and_finds_its_own():
    whole, cells = (build(METHOD, SIZES, queries=each) for each in ("tables", "cells"))
    (of_tables,), (of_cells,) = (
        [
            each.query.aggregate
            for each in analysis.planned_measures(PRICES[1])
            if isinstance(each.query.aggregate, Distances)
        ]
        for analysis in (whole, cells)
    )
    tables = whole.tables.asked
    assert (of_tables.results, of_cells.results) == (6, 12 + 20 + 8 + 15 + 6 + 10)
    assert [whole._find(place)[0] for place in range(6)] == list(tables)
    assert [cells._find(place) for place in range(71)] == [
        (table, cell) for table in tables for cell in range(cells.tables.count_cells(table))
    ]
    for place in (0, 11, 12, 40, 70):
        table, cell = cells._find(place)
        asked = cells._ask_counts(PRICES[1], table, cell).query
        assert PlacedRows(cells, ROWS, None).exact(asked).tolist() == [
            round(3000 * find_shares(ROWS, SIZES, table)[cell])
        ]


def test_the_worst_table_is_measured_first():
    """Two columns that are the same and two that are not: by independent columns one table is far off, others are not.

    The choice misses it with a probability below exp(-50).
    """
    chance = np.random.default_rng(3)
    same = chance.integers(3, size=4000)
    rows = np.stack([same, chance.integers(2, size=4000), same, chance.integers(4, size=4000)], axis=1)
    result, _ = release(build(METHOD, (3, 2, 3, 4), rounds=1), Concentrated(Fraction(1, 2)), rows)
    assert result.product.about["measured"] == ["c0", "c1", "c2", "c3", "c0 x c2"]
    assert any("Measured together were c0 x c2." in note for note in result.notes)


@both_prices
def test_the_same_measurements_give_the_same_rows_and_others_others(price):
    analysis = build(METHOD, SIZES, rounds=2)
    first, again, other = (release(analysis, price, ROWS, seed)[0].product.rows for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(first) == pytest.approx(3000, abs=400)  # the noisy number: 10 standard deviations and more


@both_prices
@pytest.mark.parametrize("number", [0, 1, 2])
def test_few_rows_and_one_column_are_no_trouble(price, number):
    for sizes in ((3,), (1,), (1, 2), (2, 2)):
        rows = np.zeros((number, len(sizes)), dtype=np.int64)
        result, events = release(build(METHOD, sizes, size=5), price, rows, number)
        assert result.rows == 5
        assert covers(build(METHOD, sizes).event(price), Composed(events))
        assert result.product.estimates.covers(tuple(range(len(sizes))))


def test_what_was_measured_whole_is_published_as_estimates_with_their_noise():
    result, _ = release(build(METHOD, SIZES, rounds=6, size=9), Concentrated(2), ROWS)
    product = result.product
    assert product.estimates.covers(())
    values, variances = product.estimates.count((0,), np.arange(4), 4)
    # Noise of independent estimates: all four within 6 standard deviations, but for 1e-8.
    assert (np.abs(values - 3000 * find_shares(ROWS, SIZES, (0,))) < 6 * np.sqrt(variances)).all()
    cells = release(build(METHOD, SIZES, rounds=2, queries="cells"), Pure(1), ROWS)[0].product
    assert cells.estimates.covers((1,))
    assert not cells.estimates.covers((0, 1))
    assert (product.tails, cells.tails) == ("gaussian", "laplace")


@pytest.mark.parametrize(
    ("sizes", "options", "reason"),
    [
        ((101, 100, 100), {}, "1,010,000 combinations of values"),
        ((1,) * 30, {"ways": 3}, "4,060 tables"),
    ],
)
def test_what_would_be_too_large_is_refused_from_public_facts(sizes, options, reason):
    with pytest.raises(BadArgument, match=reason):
        build(METHOD, sizes, **options)


def test_missing_values_are_a_value_like_others_or_their_rows_are_left_out(hospital, hospital_catalog):
    """At a price that leaves hardly any noise: 6 of 240 people have no salary."""
    text = "SELECT * FROM mwem((SELECT sex, salary FROM people), bins => 4, missing => '{}', size => 4800)"
    price, missing = Concentrated(10), sum(each["salary"] is None for each in PEOPLE)
    for how, expected in (("kept", 20 * missing), ("left_out", 0)):
        plan = lower(text.format(how), hospital_catalog)
        (table,) = drive(split_price(plan, price), Executing(hospital, plan, price).executor)
        salaries = table.labels["salary"]
        assert sum(each is None for each in salaries) == pytest.approx(expected, abs=20)
        assert (None in salaries) is (how == "kept")
        assert all(0 <= each <= 500_000 for each in salaries if each is not None)
        assert set(table.labels["sex"]) <= {"F", "M", "X", None}


def test_a_column_that_is_none_is_refused(hospital_catalog):
    with pytest.raises(Refusal):
        lower("SELECT * FROM mwem((SELECT sex FROM people), columns => (nobody))", hospital_catalog)


@pytest.mark.parametrize(
    "price", [Pure(Fraction(1, 10**12)), Concentrated(Fraction(1, 10**24))], ids=["epsilon", "rho"]
)
def test_a_price_of_almost_nothing_makes_noise_beyond_all_counts_and_no_mistake(price):
    result, events = release(build(METHOD, (100, 90), rounds=1, size=3), price, ROWS[:, :2])
    assert covers(price, Composed(events))
    assert result.product.rows.shape == (3, 2)
