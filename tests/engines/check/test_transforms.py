"""The second look at combinations: what columns make of counts, by another way than the plan's."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.check import check_cells_of_blocks, transform_sensitivity
from adomnia.engines.check.transforms import combine_sensitivity, distance_sensitivity, estimate_sensitivity
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from adomnia.privacy.scans import Rows
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.transforms.distances import Candidate, Distances
from adomnia.privacy.transforms.estimates import EstimateMoments
from adomnia.privacy.transforms.matrices import Combination, Matrix
from privacy.transforms.test_distances import EVERY, FEW, TABLES
from privacy.transforms.test_estimates import counts, moments, moves_of
from privacy.transforms.test_matrices import combinations
from sql.hospital import HOSPITAL


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


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_both_derivations_of_distances_agree(rows):
    counts = [Sensitivity(l1=rows, monotone=True)] * len(TABLES)
    for distances in EVERY:
        assert distance_sensitivity(counts, distances) == distances.row.times(rows)


def test_a_table_that_moves_further_moves_its_scores_further():
    """Each table is taken as its own text proves it, and no table for another."""
    counts = [Sensitivity(1), Sensitivity(2), Sensitivity(5), Sensitivity(3)]
    both = (Candidate((FEW[0], FEW[2])),)
    assert distance_sensitivity(counts, Distances(TABLES, both)) == Sensitivity(7, 49, 7)
    assert distance_sensitivity(counts, Distances(TABLES, both, "largest")) == Sensitivity(5, 25, 5)
    apart = (Candidate((FEW[0],), -2), Candidate((FEW[2],)))
    assert distance_sensitivity(counts, Distances(TABLES, apart, "each", 3)) == Sensitivity(27, 369, 15)


def test_what_a_text_proves_in_each_norm_is_kept_for_single_cells():
    spread = Sensitivity(4, 4, 1, monotone=True)
    each = Distances(TABLES, (Candidate((FEW[0], FEW[1])),), "each", 5)
    assert distance_sensitivity([spread] * 4, each) == Sensitivity(40, 400, 10)


def test_nothing_is_believed_to_rise():
    found = distance_sensitivity([Sensitivity(1, monotone=True)] * 4, Distances(TABLES, (Candidate((FEW[0],)),)))
    assert found == Sensitivity(Fraction(1))
    assert not found.monotone


def test_single_cells_of_two_tables_are_not_added_up():
    """The plan refuses them; a plan that did not would stop here."""
    mixed = Distances(TABLES, (Candidate((FEW[0], FEW[2])),))
    object.__setattr__(mixed, "norm", "each")
    with pytest.raises(ValueError, match="too many values to unpack"):
        distance_sensitivity([Sensitivity(1)] * 4, mixed)


@pytest.mark.no_cover
@pytest.mark.parametrize("bounds", [(lower, lower + width) for lower, width in product((-7, 0, 3), range(1, 30))])
def test_no_pair_of_estimates_is_further_apart(bounds):
    found = estimate_sensitivity(moments(bounds))
    moves = list(moves_of(moments(bounds).domains[0]))
    assert max(map(sum, moves)) <= found.l1
    assert max(one**2 + two**2 for one, two in moves) <= found.l2_squared
    assert max(map(max, moves)) <= found.linf


def test_parameters_are_added_up():
    one, two, both = (estimate_sensitivity(moments(*each)) for each in ([(0, 4)], [(0, 9)], [(0, 4), (0, 9)]))
    assert both == one + two
    assert estimate_sensitivity(counts((0, 4), (0, 9))) == counts((0, 4), (0, 9)).move


BLOCK = '("person" % 16777216) % 200'
COUNTED = f'SELECT {BLOCK} AS k0, "hospital" AS k1, COUNT(*) AS m0 FROM "visits" GROUP BY 1, 2'


def test_rows_of_a_block_may_be_counted_by_further_keys_without_a_cap():
    assert check_cells_of_blocks(Statement(COUNTED, ()), HOSPITAL, DUCKDB) == (range(200), range(5))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (f"{BLOCK} AS k0", '"hospital" AS k0'),  # no block of people
        ("AS k1", "AS k2"),
        ("AS m0", "AS n0"),
        ("GROUP BY 1, 2", "GROUP BY 1"),
        ("GROUP BY 1, 2", "GROUP BY 2, 1"),
        (f"{BLOCK} AS k0, ", ""),
        ("COUNT(*)", "COUNT(*) * COUNT(*)"),
        ('"visits"', '"regions"'),
    ],
)
def test_whatever_else_is_no_count_of_rows_in_blocks(right, wrong):
    assert right in COUNTED
    with pytest.raises(Failure):
        check_cells_of_blocks(Statement(COUNTED.replace(right, wrong), ()), HOSPITAL, DUCKDB)


def test_what_is_neither_moments_nor_counts_is_not_known():
    class Others(EstimateMoments):
        """What a person moves in these is anybody's guess."""

    planted = moments((0, 4))
    with pytest.raises(TypeError, match="moments or counts, got Others"):
        estimate_sensitivity(Others(planted.sums, planted.function, planted.domains))


ONE = Combination(((Matrix.dense([[1, 2]]),),))
NEAREST = Distances(TABLES, (Candidate((FEW[0],)),))
MOVED, CELLS = Sensitivity(l1=3, monotone=True), (range(8),)


@pytest.mark.parametrize(
    ("aggregate", "proved", "expected"),
    [
        (Rows(), [MOVED], MOVED),
        (ONE, [MOVED], combine_sensitivity(MOVED, ONE)),
        (NEAREST, [MOVED] * 4, distance_sensitivity([MOVED] * 4, NEAREST)),
        (moments((0, 4)), [CELLS], moments((0, 4)).move),
    ],
)
def test_what_is_computed_from_scans_moves_by_what_is_proved_of_these(aggregate, proved, expected):
    assert transform_sensitivity(aggregate, proved) == expected


class Louder(Combination):
    """Whose results move a thousand times as far as those of the class that it extends."""

    def apply(self, exact, largest):
        return 1000 * super().apply(exact, largest)


class Farther(Distances):
    """The same of scores."""

    def apply(self, exact, largest):
        return 1000 * super().apply(exact, largest)


class Scanned(Louder, Rows):
    """A scan by name, which is computed from others all the same."""


@pytest.mark.parametrize(
    ("aggregate", "proved"),
    [
        (Louder(ONE.blocks), [MOVED]),
        (Scanned(ONE.blocks), [MOVED]),
        (Farther(NEAREST.tables, NEAREST.candidates), [MOVED] * 4),
    ],
)
def test_what_extends_a_class_that_is_known_may_compute_anything(aggregate, proved):
    with pytest.raises(ValueError, match=r"knows no (Louder|Scanned|Farther)"):
        transform_sensitivity(aggregate, proved)


@pytest.mark.parametrize(
    ("aggregate", "proved"),
    [
        (moments((0, 4)), [MOVED]),  # which says nothing of blocks
        (Rows(), [CELLS]),
        (ONE, [CELLS]),
        (NEAREST, [MOVED, MOVED, MOVED, CELLS]),
        (Rows(), [MOVED, MOVED]),
        (ONE, [MOVED, MOVED]),
    ],
)
def test_what_is_proved_must_be_what_the_derivation_needs(aggregate, proved):
    with pytest.raises(ValueError, match=r"of what is proved|too many values"):
        transform_sensitivity(aggregate, proved)
