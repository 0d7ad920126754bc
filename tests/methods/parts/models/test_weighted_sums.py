"""Sums of a number times products of others are those of NumPy, and their noise is what is said of it."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.parts.models.weighted_sums import Multiplier, Source, lay_out
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.vectors import Variable
from kit.analyses import Arms, frame
from kit.bits import SeededBits

FRAME = frame({"r": (-1, 1), "a": (-1, 1), "b": (-1, 1)}, {"city": ("A", "B", "C")})
GRID = Numbers(-1, 1, Fraction(1, 128))
NUMBERS = tuple(Variable(FRAME.numbers[name].value, GRID) for name in ("a", "b"))
PRODUCTS = (((), (0, 0)), ((), (1, 1)), (((0, 1),), (0, 0)), (((0, 2),), (2, 0)), ((), (0, 2)))


def data(rows):
    steps = np.random.default_rng(rows).integers(-128, 129, (rows, 3)) / 128
    cities = np.array(["A", "B", "C"], dtype=object)[np.arange(rows) % 3]
    return {**dict(zip(("r", "a", "b"), steps.T, strict=True)), "city": cities}


def measure(price, sizes, rows=200, signed=True, seed="sums"):
    domain = Numbers(-1 if signed else 0, 1, Fraction(1, 2**14))
    multiplier = Multiplier(Variable(FRAME.numbers["r"].value, domain), signed)
    source = Source(FRAME.relation, (FRAME.factors["city"],), NUMBERS)
    layout = lay_out(PRODUCTS, sizes, isinstance(price, Pure))
    arms = Arms(data(rows), SeededBits(seed))
    asked = layout.measures(source, multiplier, price)
    return layout, layout.recover([arms.measure(each) for each in asked], NUMBERS, multiplier)


@pytest.mark.parametrize("price", [Pure(10**9), Concentrated(10**15)], ids=["Pure", "Concentrated"])
@pytest.mark.parametrize("sizes", [(3,), (33,)], ids=["cells together", "cells apart"])
@pytest.mark.parametrize("signed", [True, False])
def test_without_noise_they_are_exact(price, sizes, signed):
    held = data(200)
    _, found = measure(price, sizes, signed=signed) if sizes == (3,) else measure_apart(price, signed)
    number = held["r"] if signed else np.maximum(held["r"], 0)
    expected = [
        (number * held["a"] ** i * held["b"] ** j * (1 if not levels else held["city"] == "ABC"[levels[0][1]])).sum()
        for levels, (i, j) in PRODUCTS
    ]
    assert found.values == pytest.approx(expected, abs=1e-3)


def measure_apart(price, signed):
    """Where a factor has too many levels to add up its cells, each set of factors is measured by itself."""
    cities = tuple("ABC") + tuple(f"c{k}" for k in range(30))
    wide = frame({"r": (-1, 1), "a": (-1, 1), "b": (-1, 1)}, {"city": cities})
    domain = Numbers(-1 if signed else 0, 1, Fraction(1, 2**14))
    multiplier = Multiplier(Variable(wide.numbers["r"].value, domain), signed)
    source = Source(wide.relation, (wide.factors["city"],), NUMBERS)
    layout = lay_out(PRODUCTS, (33,), isinstance(price, Pure))
    assert layout.scans == 2
    arms = Arms(data(200), SeededBits("apart"))
    measured = [arms.measure(each) for each in layout.measures(source, multiplier, price)]
    return layout, layout.recover(measured, NUMBERS, multiplier)


@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 50))], ids=["Pure", "Concentrated"])
def test_their_noise_spreads_as_is_said_and_not_half_as_much(price):
    """400 draws of 5 sums: a ratio of variances 0.5 or 2 is 10 standard deviations off, false alarms below 1e-9."""
    drawn = np.array([measure(price, (3,), rows=6, seed=f"spread {k}")[1].values for k in range(400)])
    _, found = measure(price, (3,), rows=6)
    ratios = drawn.var(axis=0) / (found.spread**2).sum(axis=1)
    assert np.all((ratios > 0.55) & (ratios < 1.8))


def test_polynomials_that_add_up_to_one_have_less_noise_than_products_one_by_one():
    _, together = measure(Pure(1), (3,))
    apart = 2 * 4**2  # four different products of L1 norm 1 each, before the cells of the factor are added up
    assert (together.spread[3] ** 2).sum() < apart
    assert lay_out(PRODUCTS, (3,), True).blocks[0].tensor
    assert not lay_out(PRODUCTS, (3,), False).blocks[0].tensor


def test_many_numbers_are_measured_in_blocks_of_few():
    places = range(8)
    pairs = [tuple((i == k) + (j == k) for k in places) for i in places for j in places if i <= j]
    layout = lay_out(tuple(((), powers) for powers in pairs), (), True)
    assert all(len(block.numbers) <= 3 for block in layout.blocks)
    assert sum(block.part for block in layout.blocks) == 1
    assert layout.scans == 1
