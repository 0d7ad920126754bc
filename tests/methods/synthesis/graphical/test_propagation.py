import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from adomnia.methods.synthesis.graphical.propagation import BeliefPropagation
from adomnia.methods.synthesis.graphical.trees import build_tree


def multiply(tree, potentials):
    """The joint distribution over all cells, by brute force."""
    joint = np.zeros(tree.sizes)
    for clique, potential in zip(tree.cliques, potentials, strict=True):
        joint = joint + potential.reshape([tree.sizes[c] if c in clique else 1 for c in range(len(tree.sizes))])
    joint = np.exp(joint - joint.max())
    return joint / joint.sum()


def sum_all_but(joint, columns):
    return joint.sum(axis=tuple(c for c in range(joint.ndim) if c not in columns))


SIZES = (2, 3, 1, 4, 2, 3)
CLIQUES = [(0, 1), (1, 3), (0, 3), (3, 4), (2, 4)]


@given(st.integers(0, 2**32), st.sampled_from([0.1, 3.0, 300.0]))
def test_beliefs_are_sums_of_the_joint(number, scale):
    generator = np.random.default_rng(number)
    tree = build_tree(SIZES, CLIQUES)
    potentials = [scale * generator.normal(size=tree.shape(clique)) for clique in tree.cliques]
    joint = multiply(tree, potentials)
    BeliefPropagation(tree).run(potentials)
    for clique, belief in zip(tree.cliques, potentials, strict=True):
        np.testing.assert_allclose(belief, sum_all_but(joint, clique), rtol=1e-8, atol=1e-12)


def test_no_cell_of_a_separator_is_lost_when_another_outweighs_it_in_one_clique_and_not_in_the_other():
    tree = build_tree((2, 2, 2), [(0, 1), (1, 2)])
    down, up = np.array([[0.0, -2_000.0]] * 2), np.array([[0.0, 0.0], [2_000.0, 2_000.0]])
    BeliefPropagation(tree).run([down, up])
    for belief in (down, up):
        np.testing.assert_allclose(belief, 0.25)
