"""Counts of a column of numbers, from which every range follows."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.distributions.margins import margin
from adomnia.methods.contract import BadArgument
from adomnia.methods.simulation import drive
from adomnia.methods.synthesis.attributes import MISSING
from adomnia.methods.synthesis.strategies import GramRelease
from adomnia.privacy.events import Concentrated, Pure
from kit.analyses import Arms, frame
from kit.bits import SeededBits
from kit.describing import build, covers_as_often, table_of

WHOLE = frame({"x": (0, 31)}, whole=("x",))
REAL = frame({"x": (0, 100)})
PRICES = [Pure(1), Concentrated(1)]
EXACT = [Pure(10**4), Concentrated(10**7)]
RANDOM = np.random.default_rng(17)
DATA = {
    "spread": RANDOM.integers(0, 32, 500).astype(float),
    "sparse": np.array([3.0, 3.0, 30.0]),
    "constant": np.full(200, 7.0),
    "nobody": np.zeros(0),
    "heavy tail": np.minimum(np.floor(RANDOM.pareto(0.7, 400)), 31.0),
}


def counts_of(values):
    return np.bincount(values[~np.isnan(values)].astype(int), minlength=32)


@pytest.mark.parametrize("price", EXACT)
@pytest.mark.parametrize("strategy", ["identity", "tree", "p_identity"])
@pytest.mark.parametrize("data", DATA)
def test_without_noise_all_counts_are_the_exact_ones(price, strategy, data):
    asked = build("range_counts", WHOLE, column=WHOLE.numbers["x"], strategy=strategy, missing="left_out")
    table = table_of(asked, price, {"x": DATA[data]})
    exact = counts_of(DATA[data])
    assert table.estimates["count"].values == pytest.approx(exact, abs=0.05)
    assert table.estimates["cumulative"].values == pytest.approx(np.cumsum(exact), abs=0.2)
    assert table.facts["whole_count"]() == exact.tolist()


@pytest.mark.parametrize("price", EXACT)
def test_missing_values_are_one_more_line_or_left_out(price):
    data = {"x": np.array([1.0, np.nan, 5.0, np.nan, np.nan])}
    kept = table_of(build("range_counts", WHOLE, column=WHOLE.numbers["x"]), price, data)
    assert kept.labels["bin"][-1] == MISSING
    assert kept.facts["x_from"]()[-1] is None
    assert kept.facts["whole_count"]()[-1] == 3
    assert kept.estimates["cumulative"].values[-1] == pytest.approx(5, abs=0.1)
    left = build("range_counts", WHOLE, column=WHOLE.numbers["x"], missing="left_out")
    assert sum(table_of(left, price, data).facts["whole_count"]()) == 2


def test_bins_of_numbers_have_their_ends():
    table = table_of(build("range_counts", REAL, column=REAL.numbers["x"], bins=4), Pure(1), {"x": np.array([30.0])})
    assert table.facts["x_from"]() == [0.0, 25.0, 50.0, 75.0, None]
    assert table.facts["x_to"]() == [25.0, 50.0, 75.0, 100.0, None]
    assert table.product.attributes[0].edges == (0.0, 25.0, 50.0, 75.0, 100.0)


@pytest.mark.parametrize(("price", "strategy"), [(PRICES[0], "p_identity"), (PRICES[0], "tree"), (PRICES[1], "tree")])
@pytest.mark.parametrize("data", ["sparse", "constant", "nobody"])
def test_intervals_of_ranges_hold_whatever_the_data(price, strategy, data):
    """Ranges of one release share noise, so that one of each is taken. False alarms: one in a million."""
    asked = build("range_counts", WHOLE, column=WHOLE.numbers["x"], strategy=strategy, missing="left_out")
    (measure,) = asked.planned_measures(price)
    random, exact, hits, narrow = np.random.default_rng(4), counts_of(DATA[data]), 0, 0
    for draw in range(150):
        measured = Arms({"x": DATA[data]}, SeededBits((data, draw))).measure(measure)
        matrix = measure.query.aggregate.blocks[0][0]
        release = GramRelease.solve(matrix, measured.values, measured.noise.continuous.cumulants.variance)
        start, end = sorted(random.choice(33, 2, replace=False))
        groups = np.full(32, -1)
        groups[start:end] = 0
        values, variances = release.count([0], groups, 1)
        off = abs(values[0] - exact[start:end].sum()) / np.sqrt(variances[0])
        hits += off <= margin(measured.noise.continuous.tails, 0.05)
        narrow += off <= margin(measured.noise.continuous.tails, 0.05) * np.sqrt(0.3)
    assert covers_as_often(hits, 150, 0.95)
    assert not covers_as_often(narrow, 150, 0.95)  # as a formula that forgets most of the noise would be found out


def test_counts_without_least_squares_would_be_worse():
    """Single bins of a tree added up, as if its other levels had not been measured."""
    asked = build("range_counts", WHOLE, column=WHOLE.numbers["x"], strategy="tree", missing="left_out")
    price = Concentrated(1)
    suited = asked.specialize_for(price)
    unit = suited.shares[0][0].aggregate.blocks[0][0].rows[0][0][1]
    solved, plain = [], []
    for draw in range(60):
        (measure,) = suited.planned_measures(price)
        measured = Arms({"x": DATA["constant"]}, SeededBits(draw)).measure(measure)
        solved.append(suited.tabulate(measured).estimates["cumulative"].values[23] - 200)
        plain.append(measured.values[:24].sum() / unit - 200)
    assert np.std(plain) > 2 * np.std(solved)


def test_a_release_counts_as_it_shows():
    table = table_of(build("range_counts", WHOLE, column=WHOLE.numbers["x"]), Pure(1), {"x": DATA["spread"]})
    product = table.product
    values, variances = product.estimates.count([0], np.arange(33), 33)
    assert values.tolist() == table.estimates["count"].values.tolist()
    assert product.tails == "laplace"
    whole = product.tables[0,]
    assert whole.tolist() == table.facts["whole_count"]()
    assert (whole >= 0).all()
    assert whole.sum() == round(values.sum())
    assert (variances > 0).all()


@pytest.mark.parametrize("price", PRICES)
def test_rows_of_a_person_move_combinations_by_their_columns(price):
    several = frame({"x": (0, 31)}, whole=("x",), rows_per_person=3)
    asked = build("range_counts", several, column=several.numbers["x"])
    (measure,) = asked.planned_measures(price)
    sensitivity = measure.query.sensitivity()
    before = Arms({"x": DATA["spread"]}, SeededBits(0)).exact(measure.query)
    for rows in ([31.0] * 3, [0.0, 17.0, np.nan], [np.nan] * 3):
        moved = Arms({"x": np.append(DATA["spread"], rows)}, SeededBits(0)).exact(measure.query) - before
        assert np.abs(moved).sum() <= sensitivity.l1
        assert np.square(moved).sum() <= sensitivity.l2_squared
        assert np.abs(moved).max() <= sensitivity.linf
    assert sensitivity.l1 == 3 * measure.query.aggregate.row.l1


def test_what_is_compared_is_said():
    asked = build("range_counts", WHOLE, column=WHOLE.numbers["x"])
    assert asked.comparison is None
    suited = asked.specialize_for(Concentrated(1))
    assert suited.strategy == "p_identity"
    assert "identity 2." in suited.comparison
    assert (
        build("range_counts", WHOLE, column=WHOLE.numbers["x"], strategy="tree").specialize_for(Pure(1)).comparison
        is None
    )


def test_the_error_to_expect_is_that_of_the_release():
    asked = build("range_counts", WHOLE, column=WHOLE.numbers["x"]).specialize_for(Pure(1))
    _, expected = drive(asked, Pure(1), 1000)
    found = table_of(asked, Pure(1), {"x": DATA["spread"]})
    widths = [np.subtract(*each.estimates["cumulative"].interval(0.95, 1)[::-1]) for each in (expected, found)]
    assert widths[0] == pytest.approx(widths[1])


def test_sums_are_not_fitted_to_many_bins():
    with pytest.raises(BadArgument, match="at most 256 bins"):
        build("range_counts", REAL, column=REAL.numbers["x"], bins=300, strategy="p_identity")
