"""Public matrices applied to exact counts: as by their definition, and in integers that hold the result."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.curator.combining import combine
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Rows
from adomnia.privacy.transforms.matrices import Combination, Matrix
from privacy.transforms.test_matrices import combinations, whole


def query(*sizes, aggregate):
    keys = tuple(Column(f"k{place}", Text(tuple(map(str, range(size))))) for place, size in enumerate(sizes))
    return Query(Private("people", 1, keys), keys, aggregate)


def sizes_of(combination):
    return [factor.columns for factor in combination.blocks[0]]


@given(combinations(), st.data())
@settings(max_examples=300, deadline=None)
def test_results_are_the_matrix_times_the_counts(combination, data):
    sizes = sizes_of(combination)
    counts = data.draw(st.lists(st.integers(0, 99), min_size=prod(sizes), max_size=prod(sizes)))
    asked = query(*sizes, aggregate=combination)
    found = combine(asked, np.array(counts, dtype=np.int64).reshape(sizes))
    assert found.dtype == np.int64
    assert found.shape == asked.result_shape
    assert found.tolist() == whole(combination).dot(np.array(counts, dtype=object)).tolist()


def test_cells_of_several_keys_may_be_combined_by_one_matrix():
    asked = query(2, 3, aggregate=Combination(((Matrix.dense([[1, 0, 0, 0, 0, -1], [1] * 6]),),)))
    assert combine(asked, np.arange(6).reshape(2, 3)).tolist() == [-5, 15]


@pytest.mark.parametrize(("coefficient", "kind"), [(2**14, np.int64), (2**15, object), (2**70, object)])
def test_the_public_bound_decides_in_which_integers_it_is_computed(coefficient, kind):
    asked = query(2, aggregate=Combination(((Matrix.dense([[coefficient, -coefficient], [1, 1]]),),)))
    found = combine(asked, np.array([2**47, 3], dtype=np.int64))
    assert found.dtype == kind
    assert found.tolist() == [coefficient * (2**47 - 3), 2**47 + 3]
    assert all(type(value) is int for value in found.tolist())


def test_two_marginals_of_many_cells_are_sums_along_the_others():
    sizes, kept = (40, 30, 20), ((0, 2), (1,))
    blocks = tuple(
        tuple(Matrix.identity(size) if place in axes else Matrix.total(size) for place, size in enumerate(sizes))
        for axes in kept
    )
    counts = np.arange(prod(sizes), dtype=np.int64).reshape(sizes) % 17
    found = combine(query(*sizes, aggregate=Combination(blocks)), counts)
    assert found.tolist() == [*counts.sum(axis=1).ravel().tolist(), *counts.sum(axis=(0, 2)).tolist()]


def test_everything_else_is_as_the_engine_gives_it():
    exact = np.array([1, 2])
    assert combine(query(2, aggregate=Rows()), exact) is exact
