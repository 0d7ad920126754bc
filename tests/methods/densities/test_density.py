"""Densities: they integrate to one, and their bands cover all bins at once."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from adomnia.errors import Refusal
from adomnia.methods.densities.density import METHOD
from adomnia.privacy.conversions import rho_of
from adomnia.privacy.events import Concentrated, Pure
from kit.analyses import analyse, frame
from kit.bits import SeededBits

FRAME = frame({"x": (0, 1), "age": (0, 90)}, {"city": ("A", "B")}, whole=("age",))
DEFAULTS = {"column": FRAME.numbers["x"], "cells": 128, "width": "cross-validation", "by": ()}
PRICES = {"epsilon": Pure(Fraction(1)), "rho": Concentrated(rho_of(1, 1e-6))}

every_price = pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)


def ask(data, price, seed="density", **arguments):
    return analyse(METHOD.build(FRAME, {**DEFAULTS, **arguments}), price, data, SeededBits(seed))


def covering(price, n, times):
    """How often the band holds the population's average density of all chosen bins."""
    generator, edges = np.random.default_rng(n), np.linspace(0, 1, 129)
    shares = np.diff(stats.beta(2, 4).cdf(edges))
    covered = []
    for place in range(times):
        density = ask({"x": generator.beta(2, 4, n)}, price, place).estimates["density"]
        lower, upper = density.interval(0.95, 1)
        changes = np.flatnonzero(np.diff(density.values) != 0) + 1
        bins = np.split(np.arange(128), changes)
        true = np.concatenate([np.full(len(each), shares[each].mean() * 128) for each in bins])
        covered.append(((lower <= true + 1e-9) & (true <= upper + 1e-9)).all())
    return np.mean(covered)


@every_price
def test_bands_cover_all_bins_at_once(price):
    """Of 25 bands that cover in 95% of cases, 10 miss in one of 10**7 runs."""
    assert covering(price, 1_000, 25) > 0.6


@pytest.mark.soak
@every_price
@pytest.mark.parametrize("n", [300, 1_000, 10_000])
def test_bands_cover_in_many_tables(price, n):
    assert covering(price, n, 1_000) >= 0.93


@every_price
@pytest.mark.parametrize("n", [0, 1, 2, 50, 5_000])
def test_it_integrates_to_one_and_is_never_negative(price, n):
    table = ask({"x": np.random.default_rng(n).beta(2, 4, n)}, price)
    density = table.estimates["density"]
    widths = np.array(table.labels["x_to"]) - np.array(table.labels["x_from"])
    assert len(density.values) == 128
    assert density.values.min() >= 0
    assert (density.values * widths).sum() == pytest.approx(1)
    lower, upper = density.interval(0.95, 1)
    assert (lower <= density.values).all()
    assert (density.values <= upper).all()
    assert np.isfinite(upper).all()


def test_more_rows_bring_it_nearer():
    true = stats.beta(2, 4).pdf((np.arange(128) + 0.5) / 128)
    errors = [
        np.mean(
            (ask({"x": np.random.default_rng(7).beta(2, 4, n)}, PRICES["epsilon"]).estimates["density"].values - true)
            ** 2
        )
        for n in (100, 3_000, 100_000)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


@pytest.mark.parametrize("x", [[0.3] * 1_000, [0.0, 1.0] * 500, [np.nan] * 10, [k % 5 / 4 for k in range(1_000)]])
@every_price
def test_ugly_data_has_a_finite_band(x, price):
    density = ask({"x": np.array(x)}, price).estimates["density"]
    lower, upper = density.interval(0.95, 1)
    assert np.isfinite(density.values).all()
    assert np.isfinite(upper).all()
    assert (lower <= upper).all()


def test_whole_numbers_are_not_taken_for_spikes():
    """ColumnBins hold as many whole numbers each: the density of even counts is even."""
    table = ask({"age": np.repeat(np.arange(91), 200)}, PRICES["epsilon"], column=FRAME.numbers["age"])
    assert table.rows == 91
    assert table.labels["x_from"][0] == -0.5
    assert table.estimates["density"].values == pytest.approx(np.full(91, 1 / 91), rel=0.05)


def test_it_is_repeated_for_groups():
    data = {"x": np.linspace(0, 1, 400), "city": np.array(["A", "B"] * 200, dtype=object)}
    table = ask(data, PRICES["epsilon"], by=(FRAME.factors["city"],))
    assert table.rows == 256
    assert table.labels["city"] == ("A",) * 128 + ("B",) * 128


def test_rows_of_one_person_are_refused():
    with pytest.raises(Refusal) as refused:
        METHOD.build(frame({"x": (0, 1)}, rows_per_person=2), DEFAULTS)
    assert refused.value.code == "rows_per_person"


def test_its_picture_names_the_column():
    assert ask({"x": np.linspace(0, 1, 50)}, PRICES["rho"]).figure["x_title"] == "x"
