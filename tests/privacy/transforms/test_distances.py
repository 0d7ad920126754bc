"""Distances from guesses: over all small databases no person moves the scores further than is said, in any norm."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from adomnia.plans.descriptions import describe_query
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket, Names
from adomnia.privacy.kinds import Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import MOST_ROWS, Private
from adomnia.privacy.scans import SparseIntegers
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess

ONE, OTHER, NAME = Column("one", Text(("a", "b"))), Column("other", Text(("x", "y", "z"))), Column("name", Text())
OPEN = Bucket(NAME, Names(("(made up)",), 9), NAME)
PEOPLE = Private("people", 1, (ONE, OTHER, NAME))
TABLES = ((), (ONE,), (OTHER,), (ONE, OTHER))
SIZES = (1, 2, 3, 6)
VALUES = (*product((0, 1, None), (0, 1, 2, None)),)  # of one row; None is no declared value
NORMS = ("total", "largest", "each")


def guess(table, *counts):
    return Guess(table, np.array(counts, dtype=np.int64))


NOBODY = tuple(Guess(table, np.zeros(size, dtype=np.int64)) for table, size in enumerate(SIZES))
FEW = guess(1, 2, 0), guess(1, 0, 5), guess(2, 1, 1, 1), guess(3, 0, 4, 1, 0, 2, -3), guess(3, 1, 1, 1, 1, 1, 1)
# What may be chosen: tables by themselves, one table and several guesses of it, the nearest, other scales and weights.
CANDIDATES = {
    "one": (Candidate((FEW[0],)),),
    "two guesses of a table": (Candidate((FEW[0], FEW[1])), Candidate((FEW[3], FEW[4]))),
    "the nearest": (Candidate((FEW[3],), -1), Candidate((FEW[4],), -1, 7)),
    "weights": (Candidate((FEW[0],), 3), Candidate((FEW[2],), -2, 5), Candidate((NOBODY[0],), 1, -9)),
}
OF_SEVERAL_TABLES = (Candidate((FEW[0], FEW[2], FEW[3])), Candidate((NOBODY[3], FEW[4]), -2))
CUTS = (None, (0, 3), (2, 5), (0, 1))
EVERY = [
    Distances(TABLES, candidates, norm, scale, between)
    for norm, scale, between in product(NORMS, (1, 4), CUTS)
    for candidates in (*CANDIDATES.values(), *((OF_SEVERAL_TABLES,) if norm != "each" else ()))
]


@cache
def databases(most):
    """All multisets of at most so many rows, each as how many rows there are of each sort."""
    found = [each for many in range(most + 1) for each in combinations_with_replacement(range(len(VALUES)), many)]
    return np.array([np.bincount(each, minlength=len(VALUES)) for each in found], dtype=np.int64)


def count(rows):
    """The tables of databases, one line of cells each."""
    return [rows @ place_rows(table) for table in range(len(TABLES))]


@cache
def place_rows(table):
    """In which cell of a table a row of each sort is, if in any."""
    held = np.zeros((len(VALUES), SIZES[table]), dtype=np.int64)
    for sort, (one, other) in enumerate(VALUES):
        cell = (0, one, other, None if None in (one, other) else 3 * one + other)[table]  # type: ignore[operator]
        if cell is not None:
            held[sort, cell] = 1
    return held


def define(distances, tables):
    """Scores by their definition, one line for each database."""
    columns = []
    for candidate in distances.candidates:
        apart = [np.abs(distances.scale * tables[each.table] - each.counts) for each in candidate.guesses]
        if distances.between is not None:
            low, high = distances.between
            apart = [np.where(each < low, low, np.where(each > high, high, each)) for each in apart]
        if distances.norm == "each":
            far = sum(apart)
        elif distances.norm == "largest":
            far = np.concatenate(apart, axis=1).max(axis=1, keepdims=True)
        else:
            far = np.concatenate(apart, axis=1).sum(axis=1, keepdims=True)
        columns.append(candidate.weight * far + candidate.offset)
    return np.concatenate(columns, axis=1)


def moves(distances, before, people):
    """How far each of some people moves all scores of each of some databases."""
    after = (before[:, None] + people[None]).reshape(-1, len(VALUES))
    first = define(distances, count(before))
    moved = define(distances, count(after)).reshape(len(before), len(people), -1) - first[:, None]
    return moved.reshape(-1, first.shape[1])


def norms(moved):
    sizes = np.abs(moved)
    return int(sizes.sum(axis=1).max()), int((sizes**2).sum(axis=1).max()), int(sizes.max())


@pytest.mark.no_cover
@pytest.mark.parametrize(("rows", "most"), [(1, 3), (2, 2)])
def test_no_person_moves_the_scores_of_any_small_database_further(rows, most):
    """Databases of at most four rows in all, a person with one row or with two of them."""
    people = databases(rows)[1:]
    for distances in EVERY:
        l1, squares, furthest = norms(moves(distances, databases(most), people))
        planned = distances.row.times(rows)
        assert (l1 <= planned.l1, squares <= planned.l2_squared, furthest <= planned.linf) == (True,) * 3


def test_bounds_are_reached_where_nothing_is_cut():
    """Bounds that nobody reaches would be noise for nothing, or a test of nothing."""
    for distances in EVERY:
        if distances.between is None and distances.candidates != CANDIDATES["the nearest"]:
            found = norms(moves(distances, databases(3), databases(1)[1:]))
            if len(distances.candidates) == 1 or distances.norm != "largest":
                assert found[2] == distances.row.linf
            if len(distances.candidates) == 1:
                assert found == (distances.row.l1, distances.row.l2_squared, distances.row.linf)


def test_one_guess_fewer_would_be_too_few():
    several = Distances(TABLES, (Candidate((FEW[0], FEW[1], FEW[0])),), "each")
    assert several.row == Sensitivity(3, 9, 3)
    assert norms(moves(several, databases(2), databases(1)[1:])) == (3, 9, 3)


def test_scores_number_one_a_candidate_or_one_a_cell():
    assert Distances(TABLES, CANDIDATES["weights"]).results == 3
    assert Distances(TABLES, CANDIDATES["weights"], "each").results == 6
    assert Distances(TABLES, CANDIDATES["two guesses of a table"], "each").results == 8
    asked = Query(PEOPLE, (), Distances(TABLES, CANDIDATES["weights"], "each"))
    assert (asked.result_shape, asked.form, asked.columns) == ((6,), "cells", 1)
    assert asked.aggregate.expressions == ()
    assert describe_query(asked) == "a choice of one of 6 by distances from 4 tables of rows"


def test_it_is_computed_from_counts_of_rows_and_these_from_nothing_else():
    asked = Query(PEOPLE, (), Distances(TABLES, CANDIDATES["one"]))
    assert [inner.keys for inner in asked.inner] == list(TABLES)
    (count_of_rows,) = asked.inner[0].inner
    assert count_of_rows is asked.inner[0]
    assert asked.recurs
    assert asked.aggregate.simulate(5) == 5
    assert asked.aggregate.spread_evenly(Fraction(5, 2)) == [Fraction(5, 2)]
    assert not asked.by_block
    assert not count_of_rows.recurs


def test_scores_fall_as_well_as_rise_and_rows_of_a_person_multiply():
    asked = Query(Private("people", 3, (ONE, OTHER)), (), Distances(TABLES, CANDIDATES["weights"], scale=2))
    assert asked.sensitivity() == Sensitivity(36, 504, 18)
    assert not asked.sensitivity().monotone


@pytest.mark.parametrize("most", [0, 3])
def test_the_public_bound_holds_for_all_numbers_on_the_way(most):
    for distances in EVERY:
        scores = define(distances, count(databases(most)))
        assert int(np.abs(scores).max()) <= distances.largest(most)
        for table, each in ((each.table, each) for each in distances.guesses):
            apart = np.abs(distances.scale * count(databases(most))[table] - each.counts)
            assert int(apart.max()) <= distances.largest(most)


def test_the_public_bound_of_a_query_is_of_as_many_rows_as_there_can_be():
    asked = Query(PEOPLE, (), Distances(TABLES, (Candidate((FEW[0], FEW[1]), -3, 11),), scale=5))
    assert asked.largest == 3 * (2 * 5 * MOST_ROWS + 7) + 11
    cut = Query(PEOPLE, (), Distances(TABLES, (Candidate((FEW[0], FEW[1])),), between=(0, 2**52)))
    assert cut.largest == 4 * 2**52


def test_sizes_of_guesses_add_up_beyond_64_bits_and_from_the_lowest_integer():
    assert Guess(0, np.full(2**13, -(2**52), dtype=np.int64)).total == 2**65
    assert Guess(0, np.full(3, 2**52 - 1, dtype=np.int64)).total == 3 * (2**52 - 1)
    assert Guess(0, np.array([-128, 127], dtype=np.int8)).total == 255


def test_two_guesses_are_the_same_only_if_they_are_one():
    assert guess(0, 1) != guess(0, 1)
    assert Candidate((FEW[0],)) == Candidate((FEW[0],))
    assert len({Query(PEOPLE, (), Distances(TABLES, CANDIDATES["one"])) for _ in range(2)}) == 1


@pytest.mark.parametrize(
    ("counts", "error", "reason"),
    [
        (np.zeros(2), TypeError, "one line of integers"),
        (np.zeros(2, dtype=np.uint64), TypeError, "one line of integers"),
        (np.array([1, 2], dtype=object), TypeError, "one line of integers"),
        (np.zeros((2, 2), dtype=np.int64), TypeError, "one line of integers"),
        (np.zeros(0, dtype=np.int64), ValueError, "of a cell or more"),
        (np.array([0, 2**52 + 1]), ValueError, r"within 2\*\*52"),
        (np.array([-(2**52) - 1, 0]), ValueError, r"within 2\*\*52"),
        (np.array([-(2**63)]), ValueError, r"within 2\*\*52"),
    ],
)
def test_guesses_are_integers_that_sums_can_hold(counts, error, reason):
    with pytest.raises(error, match=reason):
        Guess(0, counts)


@pytest.mark.parametrize("fields", [((),), (FEW[:1], 0), (FEW[:1], 1.5), (FEW[:1], True), (FEW[:1], 1, 0.5)])
def test_candidates_have_a_guess_and_integers(fields):
    with pytest.raises(ValueError, match="must have a guess, and a weight and an offset"):
        Candidate(*fields)


def test_offsets_are_limited():
    assert Candidate(FEW[:1], offset=-(2**52)).offset == -(2**52)
    with pytest.raises(ValueError, match="offset must stay within"):
        Candidate(FEW[:1], offset=2**52 + 1)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"candidates": ()}, "of candidates and of 1 to 2000 tables"),
        ({"tables": ()}, "of candidates and of 1 to 2000 tables"),
        ({"tables": ((),) * 2001}, "of candidates and of 1 to 2000 tables"),
        ({"candidates": (Candidate((guess(4, 1),)),)}, "one of 4 tables"),
        ({"candidates": (Candidate((guess(-1, 1),)),)}, "one of 4 tables"),
        ({"norm": "sum"}, "norm must be one of total, largest, each"),
        ({"candidates": OF_SEVERAL_TABLES, "norm": "each"}, "guesses of one table"),
        ({"candidates": (Candidate((guess(0, *[0] * (2**20 + 1)),)),), "norm": "each"}, "at most 1,048,576"),
        ({"scale": 0}, "scale must be a positive integer"),
        ({"scale": 1.0}, "scale must be a positive integer"),
        ({"scale": True}, "scale must be a positive integer"),
        ({"scale": 2**29, "candidates": (Candidate(FEW[:1], -4),)}, r"at most 2\*\*30 with weights"),
        ({"between": (0, 0)}, "two rising integers"),
        ({"between": (-1, 3)}, "two rising integers"),
        ({"between": (0.5, 1.5)}, "two rising integers"),
        ({"between": (0, 1.5)}, "two rising integers"),
        ({"between": (0, 2**52 + 1)}, "two rising integers"),
    ],
)
def test_distances_that_are_none_are_refused(fields, reason):
    with pytest.raises(ValueError, match=reason):
        Distances(**{"tables": TABLES, "candidates": CANDIDATES["one"], **fields})


def test_a_cut_at_halves_would_move_a_score_by_more_than_is_said():
    """Why cuts are integers: what is rounded after it was cut moves by one more."""
    before, after = (int(np.clip(distance, 0.5, 1.5) * 2 / 3) for distance in (1, 2))
    assert after - before == 1  # of a move by 1/3


@pytest.mark.parametrize(
    ("keys", "tables", "sizes", "reason"),
    [
        ((ONE,), ((ONE,),), (2,), "no keys but the declared ones"),
        ((), ((OPEN,),), (1,), "no keys but the declared ones"),
        ((), ((ONE,),), (3,), "a guess for each"),
        ((), ((ONE,), (OTHER,)), (2, 2), "a guess for each"),
    ],
)
def test_guesses_must_be_of_the_declared_cells_of_their_tables(keys, tables, sizes, reason):
    candidates = tuple(Candidate((guess(place, *[0] * size),)) for place, size in enumerate(sizes))
    with pytest.raises(ValueError, match=reason):
        Query(PEOPLE, keys, Distances(tables, candidates))


def test_tables_of_more_than_a_million_cells_are_refused():
    wide = tuple(Column(f"c{place}", Text(tuple(map(str, range(1024))))) for place in range(2))
    long = Private("people", 1, (*wide, ONE))
    with pytest.raises(ValueError, match="at most a million cells"):
        Query(long, (), Distances(((*wide, ONE), (ONE,)), (Candidate((guess(1, 0, 0),)),)))


def sparse(tables):
    return [SparseIntegers.of(each) for each in tables]


@pytest.mark.no_cover
def test_scores_are_those_of_their_definition_in_both_sorts_of_integers():
    some = databases(3)[::7]
    for distances in EVERY:
        expected = define(distances, count(some))
        for place in range(len(some)):
            tables = sparse([each[place] for each in count(some)])
            for largest, kind in ((2**62 - 1, np.int64), (2**62, object)):
                found = distances.apply(tables, largest)
                assert found.dtype == kind
                assert found.shape == (distances.results,)
                assert found.tolist() == expected[place].tolist()


def test_scores_of_object_counts_are_the_same():
    rows = databases(2)[-1]
    tables = [each.astype(object) for each in count(rows[None])]
    for distances in EVERY:
        found = distances.apply([SparseIntegers.of(each[0]) for each in tables], 2**62)
        assert found.tolist() == define(distances, count(rows[None]))[0].tolist()
        assert all(type(each) is int for each in found.tolist())


@pytest.mark.parametrize("norm", ["total", "largest", "each"])
def test_what_is_beyond_64_bits_does_not_wrap(norm):
    believed = Guess(0, np.array([-(2**52)]))
    distances = Distances(((),), (Candidate((believed, believed), -(2**15)),), norm, 2**15)
    rows = 2**47
    many = 1 if norm == "largest" else 2
    assert distances.largest(rows) >= 2**77
    found = distances.apply([SparseIntegers.of(np.array([rows]))], distances.largest(rows))
    assert found.tolist() == [-(2**15) * many * (2**62 + 2**52)]


def test_guesses_of_a_small_type_are_compared_in_a_wide_one():
    believed = Guess(0, np.array([-128, 127, 0], dtype=np.int8))
    tables = [SparseIntegers.of(np.array([1000, 0, 3]))]
    for norm, expected in (("total", [1128 + 127 + 3]), ("largest", [1128]), ("each", [1128, 127, 3])):
        assert Distances((TABLES[2],), (Candidate((believed,)),), norm).apply(tables, 2**40).tolist() == expected
