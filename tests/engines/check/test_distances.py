"""The second look at distances: from what texts prove of counts, by another way than the plan's."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.engines.check import distance_sensitivity
from adomnia.privacy.distances import Candidate, Distances
from adomnia.privacy.sensitivity import Sensitivity
from privacy.test_distances import EVERY, FEW, TABLES


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
