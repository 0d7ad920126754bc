"""Where blocks lie is found from noisy counts, and is not made up where there is noise alone."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.methods.parts.likelihood.locating import locate

BINS, SCALE = 128, 15.0
DEVIATION = SCALE * np.sqrt(2)


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
