import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from adomnia.methods.parts.describe.counted_shares import NoisyCounts
from kit.describing import covers_as_often

NONE = (1e-12, 0.0)


def test_without_noise_the_interval_of_a_share_is_wilsons():
    part, whole = NoisyCounts(np.array([37.0]), np.ones(1), NONE), NoisyCounts(np.array([120.0]), np.array([3.0]), NONE)
    found = part.share_of(whole, population=True).bounds(0.95, 1)
    assert np.concatenate(found) == pytest.approx(proportion_confint(37, 120, method="wilson"), abs=1e-6)
    found = part.share_of(whole, population=False).bounds(0.95, 1)
    assert np.concatenate(found) == pytest.approx([37 / 120] * 2, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5])
def test_shares_of_noisy_counts_hold_for_the_population(share):
    random, draws, rows, cells, scale = np.random.default_rng(1), 4000, 400, 5, 6.0
    law = (2 * scale**2, 12 * scale**4)
    counts = random.multinomial(rows, [share, *[(1 - share) / 4] * 4], draws) + random.laplace(0, scale, (draws, cells))
    part = NoisyCounts(counts[:, 0], np.ones(draws), law)
    whole = NoisyCounts(counts.sum(axis=1), np.full(draws, float(cells)), law)
    lower, upper = part.share_of(whole, population=True).bounds(0.95, 1)
    assert covers_as_often(int(((lower <= share) & (share <= upper)).sum()), draws, 0.945)
    assert np.mean(upper - lower) < 0.16
    blind = NoisyCounts(counts[:, 0], np.ones(draws), NONE).share_of(
        NoisyCounts(counts.sum(axis=1), np.full(draws, float(cells)), NONE), population=True
    )
    lower, upper = blind.bounds(0.95, 1)
    assert not covers_as_often(int(((lower <= share) & (share <= upper)).sum()), draws, 0.945)


def test_counts_are_whole_and_never_below_zero():
    found = NoisyCounts(np.array([-7.3, 4.6]), np.array([1.0, 2.0]), (8.0, 192.0)).estimate()
    lower, upper = found.interval(0.95, 1)
    assert found.values.tolist() == [0, 5]
    assert lower.tolist()[0] == 0
    assert all(float(each).is_integer() for each in (*lower, *upper))
    assert (lower <= found.values).all()
    assert (found.values <= upper).all()
