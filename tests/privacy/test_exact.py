"""Exact integers without their zeros are the same integers."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.privacy.exact import SparseIntegers, spread


@pytest.mark.parametrize("kind", [np.int64, object])
def test_a_table_without_its_zeros_is_the_same_table(kind):
    table = np.array([[0, 3, 0], [2**40, 0, 1]], dtype=kind)
    kept = SparseIntegers.of(table)
    assert kept.places.tolist() == [1, 3, 5]
    assert SparseIntegers.of(kept) is kept
    again = spread(kept)
    assert again.dtype == kind
    assert again.tolist() == table.tolist()
    assert spread(table) is table
    assert spread(SparseIntegers.of(np.zeros((), dtype=kind))).tolist() == 0
