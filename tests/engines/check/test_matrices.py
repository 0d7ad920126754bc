"""The second look at combinations: what columns make of counts, by another way than the plan's."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.check import combine_sensitivity
from adomnia.privacy.matrices import Combination, Matrix
from adomnia.privacy.sensitivity import Sensitivity
from privacy.test_matrices import combinations


@given(combinations(), st.integers(1, 10))
@settings(max_examples=200, deadline=None)
def test_both_derivations_of_combinations_agree(combination, rows):
    counts = Sensitivity(l1=rows, monotone=True)
    assert combine_sensitivity(counts, combination) == combination.row.times(rows)


def test_norms_are_those_of_columns_and_not_of_rows():
    counts = Sensitivity(l1=2, monotone=True)
    assert combine_sensitivity(counts, Combination(((Matrix.dense([[1], [2], [3]]),),))) == Sensitivity(
        12, 56, 6, monotone=True
    )
    assert combine_sensitivity(counts, Combination(((Matrix.dense([[1, 2, -3]]),),))) == Sensitivity(6, 36, 6)


def test_what_is_said_of_counts_is_believed_no_further_than_it_goes():
    one = Combination(((Matrix.total(3),),))
    assert combine_sensitivity(Sensitivity(l1=5, monotone=False), one) == Sensitivity(l1=5)
    large = Combination(((Matrix.dense([[2**39]]), Matrix.dense([[2**39]])),))
    assert combine_sensitivity(Sensitivity(l1=1, monotone=True), large) == Sensitivity(l1=2**78, monotone=True)
