"""What is measured for a family: one vector, of which a row moves all entries by one row's worth."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.parts.likelihood.families import FAMILIES
from adomnia.methods.parts.likelihood.statistic_sums import Sample, StatisticSums, locate
from adomnia.privacy.events import Pure
from adomnia.statistics.contract import Measure
from kit.analyses import Arms, frame
from kit.bits import SeededBits

FRAME = frame({"x": (-3, 3), "w": (0, 100), "p": (2, 50), "k": (0, 9), "b": (0, 1)}, whole=("k", "b"))
KNOWN = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors.json").read_text())["suffstat"]
COLUMNS = {"normal": "x", "bernoulli": "b", "poisson": "k", "geometric": "k"}
BINS, SCALE = 128, 15.0
DEVIATION = SCALE * np.sqrt(2)


def sums(family, column, values, epsilon=10**6):
    sample = Sample(FRAME.numbers[column], family)
    measure = Measure(sample.query(FRAME.relation, ()), Pure(Fraction(epsilon)))
    measured = Arms({column: np.array(values, dtype=float)}, SeededBits("sums")).measure(measure)
    return StatisticSums(sample, measured)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_moves_all_sums_by_what_it_counts(family):
    sample = Sample(FRAME.numbers[COLUMNS.get(family, "w")], family)
    widths = [each.domain.width for each in sample.vector.variables]
    assert sample.vector.row.l1 == np.prod([int(each) for each in widths], dtype=object) ** sample.family.degree


def test_means_are_those_of_the_statistics():
    values = np.array([-2.0, -1.0, 0.5, 3.0])
    found = sums("normal", "x", values)
    shares = (values + 3) / 6
    assert found.rows == pytest.approx(4, abs=1e-3)
    assert found.means == pytest.approx([shares.mean(), (shares**2).mean()], abs=1e-3)
    assert (found.offsets + found.widths).tolist() == [3.0]


def test_of_a_gamma_distribution_both_means_are_there_and_rows_left_out_are_counted():
    values = np.array([1.0, 4.0, 50.0, 99.0])
    found = sums("gamma", "w", [*values, 0.0, 0.0, -5.0])
    expected = [values.mean(), np.log(values).mean()]
    assert found.offsets + found.widths * found.means == pytest.approx(expected, rel=1e-3)
    assert (found.rows, found.excluded) == pytest.approx((4, 3), abs=1e-3)


def test_where_all_values_are_above_zero_none_is_left_out():
    assert not Sample(FRAME.numbers["p"], "gamma").excludes
    assert Sample(FRAME.numbers["p"], "gamma").bounds == FRAME.numbers["p"].domain
    assert Sample(FRAME.numbers["k"], "lognormal").bounds.lower == 1


def test_the_mean_has_less_noise_than_sums_of_x_and_its_square_measured_apart():
    """Apart, of a known number of rows and for replaced ones, it has the scale of the known answer."""
    found = sums("normal", "x", np.zeros(KNOWN["n"]), KNOWN["eps"])
    error = np.sqrt(found.noise_about(found.means)[0, 0]) / KNOWN["n"] * 2 * KNOWN["B"]
    assert 0 < error < 0.5 * np.sqrt(2) * KNOWN["scale_mean_replace"]


def counts_of(places, draw):
    """Noisy numbers of blocks at these places, in bins."""
    exact = np.bincount(np.clip(places, 0, BINS - 1).astype(int), minlength=BINS)
    return exact + draw.laplace(0, SCALE, BINS)


@pytest.mark.parametrize("spread", [0.1, 1.0, 4.0, 12.0])
@pytest.mark.parametrize("middle", [0.5, 31.25, 64.0, 120.0])
def test_the_middle_is_found_within_its_error(middle, spread):
    draw = np.random.default_rng(4)
    for _ in range(20):
        held = counts_of(draw.normal(middle, spread, 6000), draw)
        found = locate(held, DEVIATION, 6000)
        assert found is not None
        # Five of its errors, half a bin where all lie in one, and what is beyond the ends.
        beyond = spread if not spread < middle < BINS - spread else 0.0
        assert abs(found.middle - middle) < 5 * found.error + 0.5 + 0.15 * spread + beyond
        assert found.spread <= 1.3 * spread + 0.5


def test_blocks_that_spread_more_than_expected_are_seen_to():
    draw = np.random.default_rng(4)
    found = locate(counts_of(draw.normal(64, 12, 20_000), draw), DEVIATION, 20_000)
    assert found is not None
    assert found.spread > 8


def test_noise_alone_is_hardly_ever_taken_for_blocks():
    """Once in 200 at most, of 1,000: more than 25 of them, which fails this, happen once in 1e9 at that rate."""
    draw = np.random.default_rng(4)
    found = [locate(draw.laplace(0, SCALE, BINS), DEVIATION, 400) for _ in range(1000)]
    assert sum(each is not None for each in found) < 25


def test_few_blocks_are_hidden():
    draw = np.random.default_rng(4)
    assert locate(counts_of(draw.normal(64, 4, 50), draw), DEVIATION, 50) is None


def test_noise_that_takes_most_of_the_sum_away_leaves_a_place_all_the_same():
    """One window surely holds many of 5,000 blocks, and no window perhaps most of them."""
    held = np.full(BINS, -15.0)
    held[40] = 2000.0
    found = locate(held, 1.0, 5000)
    assert found is not None
    assert (found.middle, found.spread) == (40.5, (BINS - 2) / 2)
