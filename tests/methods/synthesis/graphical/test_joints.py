from itertools import combinations

import numpy as np
import pytest

from adomnia.methods.synthesis.graphical.joints import Joints
from adomnia.methods.synthesis.graphical.propagation import BeliefPropagation
from adomnia.methods.synthesis.graphical.trees import build_tree

SIZES = (4, 3, 5, 2, 6, 1)
CLIQUES = [(0, 1, 2), (1, 2, 3), (2, 3, 4), (4, 5)]


def believe(tree, potentials):
    tables = [potential.copy() for potential in potentials]
    BeliefPropagation(tree).run(tables)
    return tables


def compute_both(most_cells):
    """Tables of all columns, by edges and by brute force."""
    generator = np.random.default_rng(0)
    tree = build_tree(SIZES, CLIQUES)
    potentials = [generator.normal(size=tree.shape(clique)) for clique in tree.cliques]
    spread = [
        p.reshape([SIZES[c] if c in k else 1 for c in range(6)]) for k, p in zip(tree.cliques, potentials, strict=True)
    ]
    joint = np.exp(sum(spread))
    joints = Joints(tree, believe(tree, potentials), most_cells)
    for ways in range(7):
        for columns in combinations(range(6), ways):
            expected = joint.sum(axis=tuple(c for c in range(6) if c not in columns)) / joint.sum()
            yield joints, joints.find(columns), expected


@pytest.mark.parametrize("most_cells", [1, 7, 40, 150, 2**24])
def test_tables_are_the_same_in_blocks_of_any_size(most_cells):
    for _, found, expected in compute_both(most_cells):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_no_more_is_kept_than_there_is_room_for():
    for most_cells in (1, 40, 150):
        for joints, _, _ in compute_both(most_cells):
            assert sum(table.size for table in joints._tables.values()) <= most_cells


def test_blocks_are_used_where_parts_are_too_large_and_only_there():
    joints, _, _ = next(compute_both(40))
    assert joints._count_largest((0, 4), {0: 4, 4: 6}) == 60  # columns 2, 3 and 4 together, or 0, 1 and 2
    assert joints._choose_lengths((0, 4)) == {0: 2, 4: 3}
    assert joints._count_largest((0, 4), {0: 2, 4: 3}) == 30
    assert Joints(joints.tree, joints.beliefs)._choose_lengths((0, 4)) == {}


def test_windows_are_no_shorter_than_helps():
    joints, _, _ = next(compute_both(1))
    assert joints._choose_lengths((0, 4)) == {0: 2, 4: 3}  # the separators of the way have 30 cells together anyway
