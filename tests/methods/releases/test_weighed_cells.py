"""Weighted sums of a release have the errors that their noise has."""

import numpy as np
import pytest

from adomnia.methods.releases import weighed_cells
from adomnia.methods.releases.residuals import NoisyMarginal, Residuals

SIZES = (3, 4, 2)
PARTS = {(0, 1): 2.0, (1, 2): 3.0, (0, 2): 1.0}


def release(generator: np.random.Generator, spread: float) -> Residuals:
    measured = [
        NoisyMarginal(
            part, 10 + spread * np.sqrt(variance) * generator.normal(size=[SIZES[axis] for axis in part]), variance
        )
        for part, variance in PARTS.items()
    ]
    return Residuals.from_measured(SIZES, measured)


@pytest.mark.parametrize("dense", [True, False])
def test_weights_of_one_count(dense, monkeypatch):
    monkeypatch.setattr(weighed_cells, "_MOST_DENSE", 2**23 if dense else 0)
    generator = np.random.default_rng(1)
    found = release(generator, 1.0)
    for columns in ((), (1,), (0, 2), (0, 1)):
        shape = tuple(SIZES[column] for column in columns)
        groups = generator.integers(-1, 3, shape) if columns else np.array(0)
        counted, added = found.count(columns, groups, 3), found.add(columns, groups, 3, np.ones(shape))
        assert np.allclose(counted[0], added[0])
        assert np.allclose(counted[1], added[1])


def test_the_variance_of_a_weighted_sum_is_that_of_its_noise():
    """Each of three variances is held within 6 standard errors of 1,500 draws: one run in 1e8 fails."""
    generator = np.random.default_rng(2)
    groups, weights = generator.integers(-1, 3, (3, 4)), generator.normal(size=(3, 4))
    variances = release(generator, 1.0).add((0, 1), groups, 3, weights)[1]
    draws = np.array([release(generator, 1.0).add((0, 1), groups, 3, weights)[0] for _ in range(1500)])
    far = 6 * np.sqrt(2 / 1500)
    assert np.allclose(draws.var(axis=0), variances, rtol=far)
    assert not np.allclose(draws.var(axis=0), 1.7 * variances, rtol=far)
