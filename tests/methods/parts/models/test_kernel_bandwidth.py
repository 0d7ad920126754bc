"""Bandwidths: narrow where a curve bends and rows are many, wide where there is nothing but noise."""

import numpy as np
import pytest

from adomnia.methods.parts.models.binned_means import BinnedMeans, ask_means
from adomnia.methods.parts.models.kernel_bandwidth import choose_bandwidth, estimate_error, list_bandwidths, weigh
from adomnia.privacy.events import Pure
from adomnia.statistics.contract import Measure, Measured
from kit.analyses import frame

FRAME = frame({"y": (0, 1)})
Y = FRAME.numbers["y"]
MIDDLES = (np.arange(64) + 0.5) / 64


def measured(rows, curve, seed=0, epsilon=1):
    """Responses of 0 and 1 that are spread evenly over 64 bins, with noise."""
    rng, mechanism = np.random.default_rng(seed), Measure(ask_means(FRAME.relation, (), Y), Pure(epsilon)).mechanism
    counts = rng.multinomial(rows, np.full(64, 1 / 64))
    ones = rng.binomial(counts, curve(MIDDLES))
    whole = mechanism.scale * epsilon
    noise = np.rint(rng.laplace(0, float(mechanism.scale), (64, 3))).astype(np.int64)
    return BinnedMeans(
        Y, Measured(np.stack([counts - ones, 0 * ones, ones], axis=1) * int(whole) + noise, mechanism), True
    )


def wave(x):
    return 0.5 + 0.45 * np.sin(12 * x)


def flat(x):
    return np.full_like(x, 0.4)


def test_a_kernel_ends_at_its_bandwidth():
    assert weigh(np.zeros(1), np.array([0.0, 0.5, 1.0, 2.0]), 1.0).tolist() == [[1.0, 0.75, 0.0, 0.0]]


def test_candidates_go_from_one_bin_to_all():
    found = list(list_bandwidths(1.0, 10.0))
    assert found[0] == 0.75
    assert found[-1] >= 10
    assert found == sorted(found)


@pytest.mark.parametrize("seed", range(5))
def test_a_wave_has_a_narrow_kernel_and_a_flat_line_a_wide_one(seed):
    bending, straight = (choose_bandwidth(measured(20_000, each, seed), MIDDLES, 1 / 64) for each in (wave, flat))
    assert bending < 0.15
    assert straight > 0.2


def test_where_no_rows_are_seen_it_is_the_widest():
    assert choose_bandwidth(measured(0, flat), MIDDLES, 1 / 64) >= 1


def test_the_estimated_error_ranks_as_the_real_one_does():
    bins = measured(50_000, wave, 3)
    estimated, real = [], []
    for bandwidth in list_bandwidths(1 / 64, 1.0):
        weights = weigh(MIDDLES, MIDDLES, bandwidth)
        estimated.append(estimate_error(bins, weights))
        real.append(((weights @ bins.sums / (weights @ bins.counts) - wave(MIDDLES)) ** 2).sum())
    assert real[int(np.argmin(estimated))] < 2 * min(real)
