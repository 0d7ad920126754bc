"""Every sort of estimates that can be kept has a tag of its own, and a stranger's is refused."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from adomnia import methods
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


def test_whatever_says_how_it_is_kept_can_be_kept():
    sources = Path(methods.__file__).parent.rglob("*.py")
    classes = [node for path in sources for node in ast.walk(ast.parse(path.read_text())) if is_plain(node)]
    assert {node.name for node in classes} == {kind.__name__ for kind in ESTIMATES.values()}


def is_plain(node):
    return isinstance(node, ast.ClassDef) and any(getattr(each, "name", "") == "from_plain" for each in node.body)
