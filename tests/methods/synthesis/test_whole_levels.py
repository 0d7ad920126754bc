"""Whole counts of places within places."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.methods.synthesis.nested_release import NestedRelease
from adomnia.methods.synthesis.places import Geography
from adomnia.methods.synthesis.whole_levels import list_children, round_levels

GEOGRAPHIES = [
    Geography((3, 4)),
    Geography((2, 5), ((0, 0, 1, 1, 1),)),
    Geography((2, 3, 5), ((1, 0, 1), (0, 1, 1, 2, 2))),
    Geography((6,)),
]


def release_of(geography, values):
    levels = len(geography.sizes) + 1
    return NestedRelease(geography, (values.shape[1],), values, (1.0,) * levels, (1.0,) * levels)


@pytest.mark.parametrize("geography", GEOGRAPHIES)
@pytest.mark.parametrize("spread", [0.0, 0.3, 40.0, 1e6])
@pytest.mark.parametrize("total", [None, 0, 13])
def test_parts_add_up_to_what_they_are_parts_of_and_none_is_negative(geography, spread, total):
    values = np.random.default_rng(3).normal(spread / 2, spread, (geography.leaves, 3))
    counts = round_levels(release_of(geography, values), total)
    assert [len(each) for each in counts] == [geography.count_nodes(level) for level in range(len(counts))]
    for level, table in enumerate(counts):
        assert (table >= 0).all()
        for node in range(len(table)):
            below = np.unique(geography.nodes[-1][geography.nodes[level] == node])
            assert counts[-1][below].sum(axis=0).tolist() == table[node].tolist()
    assert counts[0].sum() == (max(0, round(values.sum())) if total is None else total)


def test_whole_counts_are_kept_as_they_are():
    geography = GEOGRAPHIES[1]
    values = np.arange(15.0).reshape(5, 3)
    assert round_levels(release_of(geography, values))[-1].tolist() == values.tolist()


def test_small_cells_are_pushed_up_where_most_are_empty():
    """As the notes say: zero is the least, and what is above it keeps what others were below it."""
    geography, random = Geography((1, 200), ((0,) * 200,)), np.random.default_rng(5)
    found = [round_levels(release_of(geography, random.normal(0, 3, (200, 1))), 40)[-1].sum() for _ in range(3)]
    assert found == [40, 40, 40]
    exact = np.zeros((200, 1))
    exact[0] = 1000.0
    lifted = [round_levels(release_of(geography, exact + random.normal(0, 3, (200, 1))))[-1] for _ in range(20)]
    assert np.mean([each[1:].sum() for each in lifted]) > 10
    assert np.mean([each[0, 0] for each in lifted]) < 997


def test_children_are_listed_under_what_they_lie_in():
    assert list_children(GEOGRAPHIES[2], 2).tolist() == [[1, -1], [0, 2]]
    assert list_children(GEOGRAPHIES[1], 2).tolist() == [[0, 1, -1], [2, 3, 4]]
