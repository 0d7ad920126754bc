"""Densities of n^(1/3) bins: they hold what they promise, with less noise than merged cells."""

import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import adomnia
from adomnia.curator.executor import drive
from adomnia.methods.densities.density import METHOD
from adomnia.pricing.parts import split_price
from adomnia.privacy.conversions import rho_of
from adomnia.privacy.events import Concentrated, Pure
from adomnia.sql.lower import lower
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.methods import Executing, hospital, hospital_catalog

__all__ = ["hospital", "hospital_catalog"]

FRAME = frame({"x": (0, 1), "age": (0, 90)}, {"city": ("A", "B")}, whole=("age",))
DEFAULTS = {"column": FRAME.numbers["x"], "cells": 128, "width": "rate", "by": ()}
PRICES = {"epsilon": Pure(Fraction(1)), "rho": Concentrated(rho_of(1, 1e-6))}

every_price = pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)


def ask(data, price, seed="density", **arguments):
    return analyse(METHOD.build(FRAME, {**DEFAULTS, **arguments}), price, data, SeededBits(seed))


def bins_of(table):
    return int(re.search(r"chose (\d+) bin", table.notes[-1])[1])


@pytest.mark.parametrize(("n", "bins"), [(1_000, 10), (8_000, 20), (27_000, 32), (0, 1)])
def test_the_rate_makes_about_as_many_bins_as_the_cube_root_of_the_rows(n, bins):
    """Bins are whole cells: 128 of them make 32 bins where the rate asks for 30."""
    table = ask({"x": np.random.default_rng(n).beta(2, 4, n)}, Pure(4))
    assert n == 0 or abs(bins_of(table) - bins) <= 0.15 * bins
    assert table.estimates["density"].values.sum() / 128 == pytest.approx(1)


@every_price
def test_bands_cover_all_bins_at_once(price):
    """Of 25 bands that cover in 95% of cases, 10 miss in one of 10**7 runs."""
    generator, shares, covered = np.random.default_rng(5), np.diff(stats.beta(2, 4).cdf(np.linspace(0, 1, 129))), []
    for place in range(25):
        density = ask({"x": generator.beta(2, 4, 1_000)}, price, place).estimates["density"]
        lower_ends, upper_ends = density.interval(0.95, 1)
        bins = np.split(np.arange(128), np.flatnonzero(np.diff(density.values) != 0) + 1)
        true = np.concatenate([np.full(len(each), shares[each].mean() * 128) for each in bins])
        covered.append(((lower_ends <= true + 1e-9) & (true <= upper_ends + 1e-9)).all())
    assert np.mean(covered) > 0.6


def test_it_errs_less_than_merged_cells_where_noise_is_large():
    true, generator, errors = stats.beta(2, 2).pdf((np.arange(128) + 0.5) / 128), np.random.default_rng(6), {}
    samples = [generator.beta(2, 2, 1_000) for _ in range(25)]
    for width in ("cross-validation", "rate"):
        found = (ask({"x": x}, Pure(Fraction(1, 10)), k, width=width) for k, x in enumerate(samples))
        errors[width] = np.mean([((each.estimates["density"].values - true) ** 2).mean() for each in found])
    assert errors["rate"] < 0.5 * errors["cross-validation"]


@every_price
@pytest.mark.parametrize("x", [[0.3] * 1_000, [0.0, 1.0] * 500, [np.nan] * 10, []])
def test_ugly_data_has_a_finite_band(x, price):
    density = ask({"x": np.array(x, dtype=float)}, price).estimates["density"]
    lower_ends, upper_ends = density.interval(0.95, 1)
    assert np.isfinite(density.values).all()
    assert (lower_ends <= density.values).all()
    assert (density.values <= upper_ends).all()


def test_groups_are_refused_and_told_what_helps():
    with pytest.raises(adomnia.Refusal, match="one width for all rows"):
        METHOD.build(FRAME, {**DEFAULTS, "by": (FRAME.factors["city"],)})


def without_constants(text):
    return "".join(re.sub(r"-?\b\d+(\.\d+)?([eE][-+]?\d+)?\b", "0", text).split())


def test_what_it_asks_later_was_proved_before_but_for_its_constants(hospital, hospital_catalog):
    plan = lower("SELECT * FROM density(people, column => salary, width => 'rate')", hospital_catalog)
    running = Executing(hospital, plan, PRICES["epsilon"])
    drive(split_price(plan, PRICES["epsilon"]), running.executor)
    known = {without_constants(statement.text) for statement in running.proved}
    assert {without_constants(text) for text in running.ran} <= known
