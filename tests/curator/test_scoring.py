"""Scores are what their definition says: from few counts or from all, in 64 bits or in Python's own integers."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.curator.scoring import SparseCounts, score
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess
from privacy.transforms.test_distances import EVERY, TABLES, count, databases, define


def sparse(tables):
    return [SparseCounts.of(each) for each in tables]


@pytest.mark.no_cover
def test_scores_are_those_of_their_definition_in_both_sorts_of_integers():
    some = databases(3)[::7]
    for distances in EVERY:
        expected = define(distances, count(some))
        for place in range(len(some)):
            tables = sparse([each[place] for each in count(some)])
            for largest, kind in ((2**62 - 1, np.int64), (2**62, object)):
                found = score(distances, tables, largest)
                assert found.dtype == kind
                assert found.shape == (distances.results,)
                assert found.tolist() == expected[place].tolist()


def test_scores_of_object_counts_are_the_same():
    rows = databases(2)[-1]
    tables = [each.astype(object) for each in count(rows[None])]
    for distances in EVERY:
        found = score(distances, [SparseCounts.of(each[0]) for each in tables], 2**62)
        assert found.tolist() == define(distances, count(rows[None]))[0].tolist()
        assert all(type(each) is int for each in found.tolist())


@pytest.mark.parametrize("norm", ["total", "largest", "each"])
def test_what_is_beyond_64_bits_does_not_wrap(norm):
    believed = Guess(0, np.array([-(2**52)]))
    distances = Distances(((),), (Candidate((believed, believed), -(2**15)),), norm, 2**15)
    rows = 2**47
    many = 1 if norm == "largest" else 2
    assert distances.largest(rows) >= 2**77
    found = score(distances, [SparseCounts.of(np.array([rows]))], distances.largest(rows))
    assert found.tolist() == [-(2**15) * many * (2**62 + 2**52)]


def test_guesses_of_a_small_type_are_compared_in_a_wide_one():
    believed = Guess(0, np.array([-128, 127, 0], dtype=np.int8))
    tables = [SparseCounts.of(np.array([1000, 0, 3]))]
    for norm, expected in (("total", [1128 + 127 + 3]), ("largest", [1128]), ("each", [1128, 127, 3])):
        assert score(Distances((TABLES[2],), (Candidate((believed,)),), norm), tables, 2**40).tolist() == expected


@pytest.mark.parametrize("kind", [np.int64, object])
def test_a_table_without_its_zeros_is_the_same_table(kind):
    table = np.array([[0, 3, 0], [2**40, 0, 1]], dtype=kind)
    kept = SparseCounts.of(table)
    assert kept.places.tolist() == [1, 3, 5]
    again = kept.spread((2, 3))
    assert again.dtype == kind
    assert again.tolist() == table.tolist()
    assert SparseCounts.of(np.zeros((), dtype=kind)).spread(()).tolist() == 0
