"""What functions make of blocks: the maximum-likelihood estimates, without their bias."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from adomnia.privacy.domains import Numbers
from adomnia.privacy.transforms.block_functions import POWERS, BinsOfBlocks, SumsOfBlocks

GRID = Numbers(-3, 400, Fraction(1, 64))
LOGS = Numbers(-12, 8, Fraction(1, 2**14))
T = 12  # rows of a block, few: a bias would be seen


def sums_of(distribution, values):
    """Exact sums of blocks of values, one row a block, in steps from the lower ends of the grids."""
    grids = {"lognormal": (LOGS,), "gamma": (GRID, LOGS)}.get(distribution, (GRID,))
    logs = np.log(np.maximum(values, 1e-9))
    seen = {"lognormal": (logs,), "gamma": (values, logs)}.get(distribution, (values,))
    columns = [np.full(len(values), values.shape[1])]
    for grid, powers, each in zip(grids, POWERS[distribution], seen, strict=True):
        steps = np.rint(each / float(grid.step)).astype(np.int64) - grid.grid_lower
        columns += [(steps**power).sum(axis=1) for power in range(1, powers + 1)]
    return grids, np.stack(columns, axis=-1)


def gap(shape):
    from scipy.special import digamma

    return np.log(shape) - digamma(shape)


CASES = {
    "bernoulli": (lambda draw, size: (draw.random(size) < 0.3) * 1.0, [0.3]),
    "poisson": (lambda draw, size: draw.poisson(4, size) * 1.0, [4]),
    "exponential": (lambda draw, size: draw.exponential(5, size), [5]),
    "normal": (lambda draw, size: draw.normal(100, 15, size), [100, 15]),
    "lognormal": (lambda draw, size: np.exp(draw.normal(2, 0.6, size)), [2, 0.6]),
    "gamma": (lambda draw, size: draw.gamma(2.5, 20, size), [50, gap(2.5)]),
}


@pytest.mark.parametrize("distribution", CASES)
def test_small_blocks_have_no_bias(distribution):
    """Five standard errors of 40,000 blocks: the maximum-likelihood estimate itself is off by 9 to 60 of them."""
    draw, truth = CASES[distribution]
    grids, sums = sums_of(distribution, draw(np.random.default_rng(7), (40_000, T)))
    found = SumsOfBlocks(distribution, grids).estimate(sums)
    away = (found.mean(axis=0) - truth) / (found.std(axis=0) / 200)
    assert np.abs(away).max() < 5


def test_without_the_correction_a_bias_would_be_seen():
    values = np.random.default_rng(7).normal(100, 15, (40_000, T))
    plain = values.std(axis=1)
    assert (plain.mean() - 15) / (plain.std() / 200) < -50


@pytest.mark.parametrize("distribution", ["bernoulli", "poisson", "exponential", "normal", "lognormal"])
def test_about_a_centre_blocks_of_any_size_make_the_mean_of_all_rows(distribution):
    """For statistics that are means: then dividing into blocks costs nothing at all."""
    draw, truth = CASES[distribution]
    values = draw(np.random.default_rng(8), (300, T))
    grids, whole = sums_of(distribution, values)
    pairs = np.concatenate([whole[:100] + whole[100:200], whole[200:]])  # of 2 T and of T rows
    usual = Fraction(300 * T, 200)
    function = SumsOfBlocks(distribution, grids, centre=(Fraction(truth[0]) * 2,) * len(truth), rows=usual)
    seen = np.log(values) if distribution == "lognormal" else values
    assert function.estimate(pairs)[:, 0].mean() == pytest.approx(seen.mean(), rel=1e-4)


def test_blocks_without_rows_are_at_the_centre():
    function = SumsOfBlocks("normal", (GRID,), centre=(Fraction(7), Fraction(2)), rows=Fraction(9))
    assert function.estimate(np.zeros((2, 3), dtype=np.int64)).tolist() == [[7, 2], [7, 2]]
    assert np.isnan(SumsOfBlocks("normal", (GRID,)).estimate(np.zeros((1, 3), dtype=np.int64))).all()


def test_scales_that_are_located_are_roots_and_logarithms():
    grids, sums = sums_of("poisson", np.full((1, 4), 9.0))
    assert SumsOfBlocks("poisson", grids, located=True).estimate(sums)[0, 0] == pytest.approx(3)
    grids, sums = sums_of("exponential", np.full((1, 4), 9.0))
    assert SumsOfBlocks("exponential", grids, located=True).estimate(sums)[0, 0] == pytest.approx(np.log(9))


def counts_of(values, lower, upper, bins):
    places = np.clip((values - lower) / (upper - lower) * bins, 0, bins - 1).astype(int)
    return np.stack([(places == place).sum(axis=1) for place in range(bins)], axis=-1)


def test_a_weibull_distribution_in_fine_bins_is_that_of_most_likelihood():
    values = 3 * np.random.default_rng(5).weibull(1.7, (3, 400))
    counts = counts_of(np.log(values), -6, 4, 2000)
    found = BinsOfBlocks("weibull", Fraction(-6), Fraction(4)).estimate(counts)
    for row, block in zip(found, values, strict=True):
        shape, _, scale = stats.weibull_min.fit(block, floc=0)
        uncorrected = row + np.array([-0.3698 / 400 / shape, 1.0756 / 400])
        assert np.exp(uncorrected) == pytest.approx([scale, shape], rel=2e-3)


def test_small_blocks_of_a_weibull_distribution_have_next_to_no_bias():
    values = 3 * np.random.default_rng(5).weibull(1.7, (4000, 40))
    found = BinsOfBlocks("weibull", Fraction(-6), Fraction(4)).estimate(counts_of(np.log(values), -6, 4, 64))
    errors = found.std(axis=0) / np.sqrt(4000)
    assert np.abs(found.mean(axis=0) - np.log([3, 1.7])).max() < 5 * errors.max()
    assert 10 * errors[1] < 1.0756 / 40  # what it would be without correction


def test_parts_of_a_mixture_are_in_the_order_of_their_means():
    draw = np.random.default_rng(5)
    values = np.where(draw.random((40, 500)) < 0.7, draw.normal(150, 12, (40, 500)), draw.normal(60, 10, (40, 500)))
    found = BinsOfBlocks("normal mixture", Fraction(0), Fraction(200)).estimate(counts_of(values, 0, 200, 64))
    assert (found[:, 1] < found[:, 2]).all()
    assert found.mean(axis=0) == pytest.approx([0.3, 60, 150, np.log(10), np.log(12)], rel=0.02)


def test_blocks_in_bins_about_a_centre_count_by_their_rows():
    counts = np.zeros((2, 64), dtype=np.int64)
    counts[0, 20:40] = 3
    at = (Fraction(-1), Fraction(1, 2))
    plain = BinsOfBlocks("weibull", Fraction(-6), Fraction(4)).estimate(counts)
    found = BinsOfBlocks("weibull", Fraction(-6), Fraction(4), centre=at, rows=Fraction(120)).estimate(counts)
    assert found[0] == pytest.approx([-1 + (plain[0, 0] + 1) / 2, 0.5 + (plain[0, 1] - 0.5) / 2])
    assert found[1].tolist() == [-1, 0.5]
