"""Combinations of counts: by the definition of a Kronecker product, and column by column."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.plans.plan import canonical
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import MOST_ROWS, Private
from adomnia.privacy.scans import Rows
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.matrices import Combination, Matrix
from kit.searches import examples

SEX, MEMBER = Column("sex", Text(("F", "M", "X"))), Column("member", Boolean())
VISITS = Private("visits", 10, (SEX, MEMBER))


@st.composite
def combinations(draw):
    """One to three blocks of factors that divide the cells alike."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    blocks = draw(
        st.lists(
            st.tuples(
                *(
                    st.lists(
                        st.lists(st.integers(-4, 4), min_size=size, max_size=size).filter(any), min_size=1, max_size=3
                    ).map(Matrix.dense)
                    for size in sizes
                )
            ),
            min_size=1,
            max_size=3,
        )
    )
    return Combination(tuple(blocks))


def dense(matrix):
    """All its numbers."""
    found = np.zeros((len(matrix.rows), matrix.columns), dtype=object)
    for place, row in enumerate(matrix.rows):
        for column, coefficient in row:
            found[place, column] = coefficient
    return found


def whole(combination):
    """The matrix that is applied, by the definition of a Kronecker product."""
    blocks = []
    for factors in combination.blocks:
        small = [dense(factor) for factor in factors]
        rows = product(*(range(len(each)) for each in small))
        columns = list(product(*(range(each.shape[1]) for each in small)))
        blocks += [
            [int(np.prod([each[r, c] for each, r, c in zip(small, row, column, strict=True)])) for column in columns]
            for row in rows
        ]
    return np.array(blocks, dtype=object)


@given(combinations())
@settings(max_examples=examples(100), deadline=None)
def test_one_row_moves_the_results_by_the_worst_column(combination):
    matrix = whole(combination)
    assert matrix.shape == (combination.results, combination.columns)
    row = combination.row
    assert row.l1 == max(sum(map(abs, column)) for column in matrix.T)
    assert row.l2_squared == max(sum(each**2 for each in column) for column in matrix.T)
    assert row.linf == combination.magnitude == max(map(abs, matrix.flat))
    assert not row.monotone or min(matrix.flat) >= 0


def test_norms_are_those_of_columns_and_not_of_rows():
    tall = Combination(((Matrix.dense([[1], [2], [-3]]),),))
    assert tall.row == Sensitivity(6, 14, 3)
    wide = Combination(((Matrix.dense([[1, 2, 3]]),),))
    assert wide.row == Sensitivity(3, 9, 3, monotone=True)


def test_two_marginals_of_a_million_cells_move_by_two():
    sizes = (100, 100, 100)
    marginals = Combination(
        tuple(
            tuple(Matrix.identity(size) if place in kept else Matrix.total(size) for place, size in enumerate(sizes))
            for kept in ((0, 1), (2,))
        )
    )
    assert (marginals.columns, marginals.results) == (10**6, 10_100)
    assert marginals.row == Sensitivity(2, 2, 1, monotone=True)


def test_a_query_of_combinations_has_as_many_cells():
    both = Combination(((Matrix.identity(3), Matrix.dense([[1, -1]])),))
    query = Query(VISITS, (SEX, MEMBER), both)
    assert (query.shape, query.result_shape, query.columns) == ((3, 2), (3,), 1)
    assert query.sensitivity() == Sensitivity(10, 100, 10, monotone=False)
    assert query.largest == MOST_ROWS
    assert Query(VISITS, (SEX, MEMBER), Combination(((Matrix.dense([[1] * 5 + [7]]),),))).largest == 7 * MOST_ROWS
    with pytest.raises(ValueError, match="must number 6, as combined, got 3"):
        Query(VISITS, (SEX,), both)
    assert both.expressions == ()


@pytest.mark.parametrize(
    ("columns", "rows", "error", "reason"),
    [
        (2, (((0, 1.0),),), TypeError, "of integers"),
        (2, (((True, 1),),), TypeError, "of integers"),
        (2, (), ValueError, "an entry each"),
        (2, (((0, 1),), ()), ValueError, "an entry each"),
        (2, (((0, 0),),), ValueError, "must not be 0"),
        (2, (((1, 1), (0, 1)),), ValueError, "in the order"),
        (2, (((1, 1), (1, 1)),), ValueError, "in the order"),
        (2, (((2, 1),),), ValueError, "must number 2"),
        (2, (((-1, 1),),), ValueError, "must number 2"),
    ],
)
def test_a_matrix_is_written_in_one_way_only(columns, rows, error, reason):
    with pytest.raises(error, match=reason):
        Matrix(columns, rows)


def test_equal_combinations_have_one_identity():
    one, other = Matrix.identity(2), Matrix.dense([[1, 0], [0, 1]])
    assert canonical(Combination(((one,),))) == canonical(Combination(((other,),)))
    assert canonical(Combination(((one,),))) != canonical(Combination(((Matrix.total(2),),)))


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        ((), "the same numbers of columns"),
        (((Matrix.identity(2),), (Matrix.identity(3),)), "the same numbers of columns"),
        (((Matrix.identity(2), Matrix.identity(3)), (Matrix.identity(6),)), "the same numbers of columns"),
        (((Matrix.total(1025), Matrix.total(1024)),), "cells and results"),
        (((Matrix.dense([[1]] * 1025), Matrix.dense([[1]] * 1024)),), "cells and results"),
        (((Matrix.dense([[2**40]]), Matrix.dense([[-(2**39)]])),), r"within 2\*\*78"),
    ],
)
def test_combinations_beyond_the_limits_are_refused(blocks, reason):
    with pytest.raises(ValueError, match=reason):
        Combination(blocks)


def test_a_combination_that_takes_too_many_products_on_the_way_is_refused():
    tall = Matrix(1, tuple(((0, 1),) for _ in range(2**13)))
    with pytest.raises(ValueError, match="products a factor"):
        Combination(((tall, Matrix.total(2**13)),))


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
    found = asked.apply([np.array(counts, dtype=np.int64).reshape(sizes)])
    assert found.dtype == np.int64
    assert found.shape == asked.result_shape
    assert found.tolist() == whole(combination).dot(np.array(counts, dtype=object)).tolist()


def test_cells_of_several_keys_may_be_combined_by_one_matrix():
    asked = query(2, 3, aggregate=Combination(((Matrix.dense([[1, 0, 0, 0, 0, -1], [1] * 6]),),)))
    assert asked.apply([np.arange(6).reshape(2, 3)]).tolist() == [-5, 15]


@pytest.mark.parametrize(("coefficient", "kind"), [(2**14, np.int64), (2**15, object), (2**70, object)])
def test_the_public_bound_decides_in_which_integers_it_is_computed(coefficient, kind):
    asked = query(2, aggregate=Combination(((Matrix.dense([[coefficient, -coefficient], [1, 1]]),),)))
    found = asked.apply([np.array([2**47, 3], dtype=np.int64)])
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
    found = query(*sizes, aggregate=Combination(blocks)).apply([counts])
    assert found.tolist() == [*counts.sum(axis=1).ravel().tolist(), *counts.sum(axis=(0, 2)).tolist()]


def test_everything_else_is_as_the_engine_gives_it():
    exact = np.array([1, 2])
    assert query(2, aggregate=Rows()).apply([exact]) is exact


def test_combinations_rise_no_further_than_the_counts():
    both = Combination(((Matrix.identity(2),), (Matrix.total(2),)))
    assert both.derive([Sensitivity(l1=3, monotone=True)]) == both.row.times(3) == Sensitivity(6, 18, 3, monotone=True)
    assert both.derive([Sensitivity(l1=3)]) == Sensitivity(6, 18, 3)


def test_counts_that_are_all_alike_are_combined_as_any_others():
    both = Combination(((Matrix.identity(2),), (Matrix.dense([[1, 1], [1, -1]]),)))
    counts = np.array([7, 7])
    assert both.simulate(7) == query(2, aggregate=both).apply([counts]).tolist() == [7, 7, 14, 0]
    assert both.spread_evenly(Fraction(20, 3)) == [7, 7, 14, 0]
    assert both.grids == ()
