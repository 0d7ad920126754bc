"""Controlled rounding: sums are kept exactly, and every number is the one below or above."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.methods.synthesis.agreeing import project_to_sums
from adomnia.methods.synthesis.rounding import round_within
from kit.searches import examples


def keeps_sums(table, rows, columns):
    return np.array_equal(table.sum(axis=1), rows) and np.array_equal(table.sum(axis=0), columns)


@settings(max_examples=examples(60))
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 3000), st.floats(0.02, 3), st.integers(0, 2**20))
def test_numbers_are_those_below_or_above_and_sums_are_kept(height, width, total, spread, seed):
    random = np.random.default_rng(seed)
    exact = random.multinomial(total, random.dirichlet(np.full(height * width, spread))).reshape(height, width)
    rows, columns = exact.sum(axis=1), exact.sum(axis=0)
    table = project_to_sums(exact + random.normal(0, 5, exact.shape), rows, columns)
    found = round_within(table, rows, columns)
    assert keeps_sums(found, rows, columns)
    assert found.min() >= 0
    assert np.abs(found - table).max() < 1 + 1e-6


def test_numbers_are_rounded_to_the_nearer_side_where_that_is_possible():
    table = np.array([[0.9, 0.1, 2.0], [0.1, 0.9, 0.0]])
    found = round_within(table, np.array([3, 1]), np.array([1, 1, 2]))
    assert found.tolist() == [[1, 0, 2], [0, 1, 0]]


def test_what_was_rounded_up_first_is_given_back_where_others_need_it():
    # Greedy from the largest would take 0.8 in the first row and column, and leave 0.2 + 0.2 for the others.
    table = np.array([[0.6, 0.4], [0.4, 0.6]])
    found = round_within(table, np.array([1, 1]), np.array([1, 1]))
    assert keeps_sums(found, [1, 1], [1, 1])


@pytest.mark.parametrize("total", [10**9, 10**12, 2**48])
def test_sums_are_kept_where_doubles_are_too_coarse(total):
    random = np.random.default_rng(0)
    exact = random.multinomial(total, random.dirichlet(np.full(300, 0.1))).reshape(20, 15)
    rows, columns = exact.sum(axis=1), exact.sum(axis=0)
    found = round_within(project_to_sums(exact + random.normal(0, 90, exact.shape), rows, columns), rows, columns)
    assert keeps_sums(found, rows, columns)
    assert found.min() >= 0


def test_a_table_without_its_sums_gets_them():
    rows, columns = np.array([5, 0, 3]), np.array([4, 4])
    found = round_within(np.array([[9.0, 9.0], [2.0, 0.0], [0.0, 0.0]]), rows, columns)
    assert keeps_sums(found, rows, columns)
    assert found.min() >= 0
