"""Nearest-neighbour regression: cells of about k people, and intervals of the means in them."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.models.knn_regression import METHOD
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.losses import rho_of
from kit.analyses import analyse, frame
from kit.bits import SeededBits

FRAME = frame({"x": (0, 10), "y": (0, 10)})
DEFAULTS = {"y": FRAME.numbers["y"], "x": FRAME.numbers["x"], "k": None, "points": 25, "inference": "population"}
PRICES = {"epsilon": Pure(1), "rho": Concentrated(rho_of(1, 1e-6))}
ENDLESS = Pure(90)  # of more the noise of counts cannot be drawn

every_price = pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)


def ask(data, price, seed="knn", **arguments):
    return analyse(METHOD.build(FRAME, {**DEFAULTS, **arguments}), price, data, SeededBits(str(seed)))


def draw(distribution, n, seed=0):
    rng = np.random.default_rng(seed)
    x = {"skewed": np.clip(rng.lognormal(0.5, 0.6, n), 0, 10), "even": rng.uniform(0, 10, n)}.get(distribution)
    x = np.round(rng.uniform(0, 10, n)) if x is None else x
    y = 5 + 3 * np.sin(x) + rng.normal(0, 1, n)
    return {"x": x, "y": np.full(n, 3.3) if distribution == "constant" else np.clip(y, 0, 10)}


def cells_of(table):
    return list(zip(table.facts["x_from"](), table.facts["x_to"](), strict=True))


def means(data, cells):
    found = {}
    for low, high in set(cells):
        inside = (data["x"] >= low) & ((data["x"] < high) | (high >= 10))
        found[low, high] = data["y"][inside].mean() if inside.any() else np.nan
    return np.array([found[each] for each in cells])


@pytest.mark.parametrize("distribution", ["even", "skewed", "tied"])
def test_without_noise_it_is_the_mean_of_each_cell(distribution):
    data = draw(distribution, 4000)
    table = ask(data, ENDLESS)
    assert table.estimates["mean"].values == pytest.approx(means(data, cells_of(table)), abs=0.01)


@pytest.mark.parametrize("k", [200, 1000])
def test_cells_hold_about_k_people(k):
    data = draw("skewed", 5000)
    for low, high in set(cells_of(ask(data, Pure(5), k=k))):
        assert k / 2 < ((data["x"] >= low) & (data["x"] < high)).sum() < 2.2 * k


def test_many_rows_at_one_value_leave_no_empty_cells():
    assert not np.isnan(ask(draw("tied", 10_000), PRICES["epsilon"]).estimates["mean"].values).any()


def cover(distribution, price, runs, n):
    truth, hits, told = draw(distribution, 100_000, 99), 0, 0
    for run in range(runs):
        table = ask(draw(distribution, n, run), price, run)
        estimate, expected = table.estimates["mean"], means(truth, cells_of(table))
        low, high = estimate.interval(0.95, 1)
        known = ~np.isnan(estimate.values) & ~np.isnan(expected)
        hits += int(((low <= expected + 1e-3) & (expected <= high + 1e-3))[known].sum())
        told += int(known.sum())
    return hits / told, told / (25 * runs)


@every_price
@pytest.mark.parametrize("distribution", ["skewed", "tied", "constant"])
def test_intervals_hold_the_means_of_the_cells(distribution, price):
    """10 tables of about 9 cells: below 82% by chance in under 1e-6."""
    held, told = cover(distribution, price, 10, 1500)
    assert held > 0.82
    assert told > 0.85


@pytest.mark.soak
@every_price
@pytest.mark.parametrize("distribution", ["even", "skewed", "tied", "constant"])
def test_coverage_is_near_what_is_promised(distribution, price):
    assert 0.92 - 0.02 < cover(distribution, price, 150, 5000)[0] <= 0.985


@every_price
@pytest.mark.parametrize("n", [0, 1, 3, 30])
@pytest.mark.parametrize("k", [None, 1, 10**9])
def test_few_rows_give_finite_numbers_or_no_reply(n, k, price):
    table = ask(draw("even", n), price, k=k)
    low, high = table.estimates["mean"].interval(0.95, 1)
    assert (low <= high).all()
    assert all(0 <= start < end <= 10 for start, end in cells_of(table))


def test_a_higher_price_brings_it_nearer():
    data = draw("even", 3000)
    exact = 5 + 3 * np.sin(np.linspace(0, 10, 25))
    errors = [
        np.nanmean((ask(data, Pure(each)).estimates["mean"].values - exact) ** 2) for each in (Fraction(1, 20), 5)
    ]
    assert errors[0] > errors[1]
