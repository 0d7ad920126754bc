from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.methods.describe.sample_and_aggregate import BlockAverage, BlockMedian
from adomnia.privacy.expressions import call, number
from adomnia.privacy.keys import Blocks
from adomnia.privacy.relations import OwnValue, PerBlock, Where
from adomnia.privacy.scans import OwnExtreme
from kit.analyses import frame
from kit.describing import EXACT, build, covers_as_often, table_of
from kit.robust import every_price

PLAIN = frame({"x": (0, 100)})


def in_blocks(count):
    """Rows of so many blocks, each with one number from 0 to 100."""
    column = PLAIN.numbers["x"].value
    return replace(
        PLAIN, relation=PerBlock(PLAIN.relation, Blocks(count), (OwnValue("x", OwnExtreme(column, greatest=True)),))
    )


def estimate(values, price=EXACT, seed=0, blocks=None, **arguments):
    rows = in_blocks(blocks or len(values))
    asked = build("sample_and_aggregate", rows, column=rows.numbers["x"], **arguments)
    return table_of(asked, price, {"x": np.asarray(values, dtype=np.float64)}, seed)


def ends(table):
    return np.ravel(table.estimates["estimate"].interval(0.95, 1))


def test_the_average_is_that_of_all_blocks_and_an_empty_one_is_in_the_middle():
    values = np.random.default_rng(1).normal(30, 5, 150)
    (found,) = estimate(values).estimates["estimate"].values
    assert found == pytest.approx(values.mean(), abs=0.1)
    (found,) = estimate(values, blocks=200).estimates["estimate"].values
    assert found == pytest.approx((values.sum() + 50 * 50) / 200, abs=0.1)


@pytest.mark.parametrize("inference", ["data", "population"])
@pytest.mark.parametrize("values", [[], [0.0], [100.0], [100.0] * 40, [0.0, 100.0] * 30, [np.nan] * 20, [50.0] * 2])
def test_it_says_something_of_any_numbers(values, inference):
    for aggregate in ("average", "median"):
        table = estimate(values, blocks=60, aggregate=aggregate, inference=inference)
        low, high = ends(table)
        assert 0 <= low <= table.estimates["estimate"].values[0] <= high <= 100


@every_price
@pytest.mark.parametrize("inference", ["data", "population"])
def test_its_interval_holds_as_often_as_it_says(price, inference):
    """Of 120 samples of blocks; too few hits are seen at a false-alarm rate of 1e-6."""
    random, hits, widths = np.random.default_rng(7), 0, []
    for seed in range(120):
        values = np.clip(random.lognormal(3, 0.5, 400), 0, 100)
        low, high = ends(estimate(values, price, seed, inference=inference))
        truth = values.mean() if inference == "data" else MEAN
        hits, widths = hits + (low <= truth <= high), [*widths, high - low]
    assert covers_as_often(hits, 120, 0.94)
    assert not covers_as_often(hits - 40, 120, 0.94)  # such a test could fail
    assert np.median(widths) < 10


MEAN = float(np.clip(np.random.default_rng(0).lognormal(3, 0.5, 10**6), 0, 100).mean())


def test_what_is_noise_alone_would_not_hold_for_the_population():
    random, hits = np.random.default_rng(8), 0
    for seed in range(120):
        values = np.clip(random.lognormal(3, 0.5, 400), 0, 100)
        low, high = ends(estimate(values, seed=seed, inference="data"))
        hits += low <= MEAN <= high
    assert not covers_as_often(hits, 120, 0.94)


def test_the_median_is_that_of_blocks_however_far_a_few_are_off():
    values = np.concatenate([np.random.default_rng(2).normal(30, 2, 400), np.full(60, 100.0)])
    table = estimate(values, aggregate="median")
    low, high = ends(table)
    assert low - 0.01 <= np.median(values) <= high + 0.01
    assert high - low < 5


def test_it_tells_what_it_is_about():
    for aggregate in ("average", "median"):
        notes = " ".join(estimate([1.0] * 50, aggregate=aggregate).notes)
        assert "each of 50 blocks, each of about 1/50 of the people" in notes
        assert "blocks / people" in notes
    assert "for nearly normal" in " ".join(estimate([1.0] * 50).notes)
    assert "for nearly normal" not in " ".join(estimate([1.0] * 50, inference="data").notes)


def test_other_rows_are_refused_and_those_that_a_condition_keeps_are_not():
    with pytest.raises(Refusal, match=r"sample_and_aggregate\(\) takes one row of each block of people"):
        build("sample_and_aggregate", PLAIN, column=PLAIN.numbers["x"])
    rows = in_blocks(30)
    kept = replace(rows, relation=Where(rows.relation, call(">", rows.numbers["x"].value, number(3))))
    average = build("sample_and_aggregate", kept, column=rows.numbers["x"])
    median = build("sample_and_aggregate", kept, column=rows.numbers["x"], aggregate="median")
    assert isinstance(average, BlockAverage)
    assert isinstance(median, BlockMedian)
    assert average.blocks == median.blocks == 30
