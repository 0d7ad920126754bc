import json
from pathlib import Path

import numpy as np
import pytest

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.describe.ecdf import Curve
from adomnia.statistics.contract import Measured
from kit.analyses import frame
from kit.describing import DISTRIBUTIONS, EPSILON, EXACT, RHO, build, covers_as_often, table_of

FRAME = frame({"x": (0, 100)}, {"city": ("A", "B")})
VECTORS = json.loads(Path("tests/fixtures/vectors2.json").read_text(encoding="utf-8"))
FARTHEST = VECTORS["ecdf_band_noise_sup_quantile_.975_eps1_dlaplace_prefix"]


def asked(**arguments):
    return build("ecdf", FRAME, column=FRAME.numbers["x"], **arguments)


def test_with_little_noise_it_is_the_share_of_rows_up_to_each_end():
    values = np.round(DISTRIBUTIONS["normal"](np.random.default_rng(1), 3000))
    table = table_of(asked(), EXACT, {"x": values})
    exact = [(values <= edge).mean() for edge in table.labels["x"]]
    assert len(exact) == 50
    assert table.estimates["estimate"].values == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize("bins", [20, 100])
def test_the_noise_of_prefix_sums_reaches_as_far_as_was_computed_elsewhere(bins):
    rows = 10**9
    counts = np.append(np.zeros(bins, dtype=np.int64), rows)  # so that the total's own noise does not matter
    farthest = Curve(Measured(counts, DiscreteLaplace(1)), population=False)._farthest() * rows
    assert np.quantile(farthest, 0.975) == pytest.approx(FARTHEST[str(bins)], rel=0.15)


@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("distribution", ["normal", "zeros"])
def test_its_band_holds_all_of_the_population_at_once_and_is_not_much_wider_than_without_noise(distribution, price):
    draws, size, random = 30, 4000, np.random.default_rng(2)
    whole = np.sort(DISTRIBUTIONS[distribution](np.random.default_rng(0), 10**6))
    hits, blind, widths = 0, 0, []
    for seed in range(draws):
        data = {"x": DISTRIBUTIONS[distribution](random, size)}
        table = table_of(asked(), price, data, seed)
        exact = np.searchsorted(whole, table.labels["x"], side="right") / len(whole)
        lower, upper = table.estimates["estimate"].interval(0.95, 1)
        hits += bool(((lower <= exact) & (exact <= upper)).all())
        widths.append(np.max(upper - lower))
        lower, upper = table_of(asked(inference="data"), price, data, seed).estimates["estimate"].interval(0.95, 1)
        blind += bool(((lower <= exact) & (exact <= upper)).all())
    assert covers_as_often(hits, draws, 0.94)
    assert np.mean(widths) < (1.6 if price == EPSILON else 3.0) * 2 * 1.36 / np.sqrt(size)
    if price == EPSILON and distribution == "normal":
        assert not covers_as_often(blind, draws, 0.94)


def test_it_rises_from_zero_to_one_whatever_the_rows():
    for rows in (0, 1, 2):
        for seed in range(5):
            estimate = table_of(asked(bins=5), EPSILON, {"x": np.full(rows, 50.0)}, seed).estimates["estimate"]
            lower, upper = estimate.interval(0.95, 7)
            for curve in (lower, estimate.values, upper):
                assert (np.diff(curve) >= 0).all()
                assert 0 <= curve[0] <= curve[-1] <= 1
