"""MST: a tree over the columns, chosen privately, within its price."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.contract import BadArgument
from adomnia.methods.releases.mst import METHOD
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers
from kit.placed_rows import build, draw_people, find_distance, release

SIZES = (4, 3, 5, 2)
ROWS = draw_people(3000, SIZES, 1)
PRICES = [Pure(Fraction(1, 2)), Concentrated(Fraction(1, 20))]
both_prices = pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])


@both_prices
@pytest.mark.parametrize("sizes", [SIZES, (3,), (3, 2), (1, 1), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("number", [0, 1, 5, 300])
def test_it_spends_its_price_and_nothing_beyond(price, sizes, number):
    analysis = build(METHOD, sizes, size=10)
    result, events = release(analysis, price, draw_people(number, sizes, 3))
    assert covers(analysis.event(price), Composed(events))
    rehearsed = [each.mechanism.event(each.query.sensitivity()) for each in analysis.planned_measures(price)]
    assert covers(analysis.event(price), Composed(rehearsed))
    assert result.product.rows.shape == (10, len(sizes))


def test_the_tree_joins_what_goes_together():
    """Two pairs of equal columns: each pair is a branch but for a chance below exp(-50)."""
    chance = np.random.default_rng(0)
    one, two = chance.integers(3, size=(2, 4000))
    rows = np.stack([one, two, one, two], axis=1)
    result, _ = release(build(METHOD, (3, 3, 3, 3)), Concentrated(Fraction(1, 2)), rows)
    measured = [each["columns"] for each in result.product.about["measured"]]
    assert ["c0", "c2"] in measured
    assert ["c1", "c3"] in measured
    assert len(measured) == 4 + 3


def test_every_column_is_joined_once():
    for seed in range(20):
        result, _ = release(build(METHOD, SIZES, size=1), PRICES[1], ROWS[:50], seed)
        joined = [set(each["columns"]) for each in result.product.about["measured"] if len(each["columns"]) == 2]
        parts = [{f"c{place}"} for place in range(4)]
        for pair in joined:
            touched = [part for part in parts if part & pair]
            assert len(touched) == 2, "a branch joins two parts"
            parts = [part for part in parts if not part & pair] + [touched[0] | touched[1]]
        assert len(parts) == 1


def test_at_a_high_price_it_is_nearer_than_independent_columns():
    rows = release(build(METHOD, SIZES, size=30_000), Concentrated(Fraction(1, 2)), ROWS)[0].product.rows
    assert find_distance(ROWS, rows, SIZES, 1) < 0.01
    chance = np.random.default_rng(0)
    apart = np.stack([chance.permutation(ROWS[:, place]) for place in range(4)], axis=1)
    assert find_distance(ROWS, rows, SIZES, 2) < find_distance(ROWS, apart, SIZES, 2) / 2


def test_too_many_pairs_are_refused():
    with pytest.raises(BadArgument, match="pairs"):
        build(METHOD, (2,) * 60)
