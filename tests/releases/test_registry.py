"""Every sort of estimates that can be kept has a tag of its own, and a stranger's is refused."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from adomnia import methods
from adomnia.methods.synthesis.geography import Geography
from adomnia.methods.synthesis.nested_release import LevelTable, NestedRelease
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.methods.synthesis.strategies import GramRelease
from adomnia.privacy.transforms.matrices import Matrix
from adomnia.releases.arrays import Packer, Unpacker
from adomnia.releases.registry import ESTIMATES, read_estimates, write_estimates

SIZES = (3, 2, 1)
PLACES = Geography((3,))
LEVELS = [
    LevelTable(0, np.array([[9.0, 8.0]]), 0.5, np.zeros(1), 0.0),
    LevelTable(1, np.arange(6.0).reshape(3, 2), 0.25, np.zeros(3), 0.0),
]
# Of each sort one that is made, how many values its columns have, and columns that it counts by.
KEPT = {
    "Residuals": (
        Residuals.from_measured(SIZES, [NoisyMarginal((0, 1), np.arange(6).reshape(3, 2), 2.5)]),
        SIZES,
        ((0,), (1, 0), (0, 1)),
    ),
    "GramRelease": (GramRelease.solve(Matrix.dense([[1, 1, 1], [1, 0, 0], [0, 2, 1]]), [7, 2, 5], 2.5), (3,), ((0,),)),
    "NestedRelease": (NestedRelease.solve(PLACES, (2,), LEVELS, None), (3, 2), ((0,), (0, 1), (1, 0))),
}


def there_and_back(estimates, sizes):
    packer = Packer()
    written = packer.pack(write_estimates(estimates))
    return read_estimates(Unpacker(*packer.columns()).unpack(written), sizes)


@pytest.mark.parametrize("tag", ESTIMATES)
def test_estimates_count_the_same_once_they_are_read_again(tag):
    made, sizes, sets = KEPT[tag]
    found = there_and_back(made, sizes)
    assert isinstance(found, ESTIMATES[tag])
    for columns in sets:
        shape = [sizes[column] for column in columns]
        groups = np.arange(np.prod(shape)).reshape(shape) % 2
        for one, other in zip(found.count(columns, groups, 2), made.count(columns, groups, 2), strict=True):
            assert np.array_equal(one, other)
        assert found.covers(columns)


@pytest.mark.parametrize("tag", ESTIMATES)
def test_estimates_of_other_columns_are_refused(tag):
    made, sizes, _ = KEPT[tag]
    for place in range(2 if len(sizes) > 1 else 1):
        others = [size + 3 * (place == own) for own, size in enumerate(sizes)]
        with pytest.raises((ValueError, KeyError, IndexError, TypeError)):
            there_and_back(made, tuple(others))


def test_nothing_is_nothing():
    assert read_estimates(write_estimates(None), SIZES) is None


def test_estimates_that_no_folder_knows_are_not_written():
    with pytest.raises(ValueError, match="registered"):
        write_estimates(object())


def test_whatever_says_how_it_is_kept_can_be_kept():
    sources = Path(methods.__file__).parent.rglob("*.py")
    classes = [node for path in sources for node in ast.walk(ast.parse(path.read_text())) if is_plain(node)]
    assert {node.name for node in classes} == {kind.__name__ for kind in ESTIMATES.values()}


def is_plain(node):
    return isinstance(node, ast.ClassDef) and any(getattr(each, "name", "") == "from_plain" for each in node.body)
