"""Every sort of estimates that can be kept has a tag of its own, and a stranger's is refused."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.methods.releases.residuals import NoisyMarginal, Residuals
from adomnia.releases.arrays import Packer, Unpacker
from adomnia.releases.registry import ESTIMATES, read_estimates, write_estimates

SIZES = (3, 2, 1)
KEPT = {
    "Residuals": lambda: Residuals.from_measured(SIZES, [NoisyMarginal((0, 1), np.arange(6).reshape(3, 2), 2.5)]),
}


def there_and_back(estimates, sizes=SIZES):
    packer = Packer()
    written = packer.pack(write_estimates(estimates))
    return read_estimates(Unpacker(*packer.columns()).unpack(written), sizes)


@pytest.mark.parametrize("tag", ESTIMATES)
def test_estimates_count_the_same_once_they_are_read_again(tag):
    made = KEPT[tag]()
    found = there_and_back(made)
    assert isinstance(found, ESTIMATES[tag])
    for columns in ((0,), (1, 0), (0, 1)):
        shape = [SIZES[column] for column in columns]
        groups = np.arange(np.prod(shape)).reshape(shape) % 2
        for one, other in zip(found.count(columns, groups, 2), made.count(columns, groups, 2), strict=True):
            assert np.array_equal(one, other)
        assert found.covers(columns)


@pytest.mark.parametrize("tag", ESTIMATES)
def test_estimates_of_other_columns_are_refused(tag):
    with pytest.raises((ValueError, KeyError, IndexError, TypeError)):
        there_and_back(KEPT[tag](), (3, 5, 1))


def test_nothing_is_nothing():
    assert read_estimates(write_estimates(None), SIZES) is None


def test_estimates_that_no_folder_knows_are_not_written():
    with pytest.raises(ValueError, match="registered"):
        write_estimates(object())


def spoiled(**changes):
    first = {"columns": [], "contrasts": np.array(3.0), "variance": 1.0}
    second = {"columns": [0], "contrasts": np.zeros(3), "variance": 1.0} | changes
    return {"tag": "Residuals", "content": {"sets": [first, second]}}


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": [5]},
        {"columns": [-1]},
        {"columns": [True]},
        {"columns": [2]},  # a column of one value tells nothing
        {"columns": []},  # once more
        {"columns": [0, 1], "contrasts": np.zeros((3, 2))},  # without the sets of fewer columns
        {"contrasts": np.zeros(2)},
        {"contrasts": np.zeros(3, int)},
        {"contrasts": [0.0, 0.0, 0.0]},
        {"contrasts": np.array([0, np.nan, 0])},
        {"variance": -1.0},
        {"variance": float("inf")},
        {"variance": "much"},
    ],
)
def test_residuals_that_nobody_measured_are_refused(changes):
    assert read_estimates(spoiled(), SIZES).covers((0,))
    with pytest.raises((ValueError, TypeError)):
        read_estimates(spoiled(**changes), SIZES)
