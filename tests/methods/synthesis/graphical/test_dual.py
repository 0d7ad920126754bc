import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.methods.synthesis.graphical.dual import BeliefPropagation, descend
from adomnia.methods.synthesis.graphical.trees import build_tree


def steep(size=40):
    """A quadratic whose curvatures differ by a factor of ten thousand, and its minimum."""
    generator = np.random.default_rng(0)
    turn, _ = np.linalg.qr(generator.normal(size=(size, size)))
    matrix = turn @ np.diag(np.logspace(0, 4, size)) @ turn.T
    minimum = generator.normal(size=size)
    return matrix, minimum


def test_the_minimum_of_a_quadratic_is_reached():
    matrix, minimum = steep()
    found = descend(
        lambda place: matrix @ (place - minimum),
        np.zeros(40),
        np.diag(matrix).copy(),
        lambda slopes: float(slopes @ slopes) < 1e-16,
        2_000,
    )
    np.testing.assert_allclose(found.place, minimum, atol=1e-6)
    assert found.gradients < 2_000


def test_a_wrong_guess_of_the_curvature_costs_steps_and_not_the_minimum():
    target = np.array([3.0, -20.0, 0.5])

    def find_slopes(place):
        return np.exp(np.clip(place, None, 50)) - np.exp(target) + 1e-9 * place

    found = descend(find_slopes, np.zeros(3), np.full(3, 1e-4), lambda slopes: abs(slopes).max() < 1e-10, 500)
    np.testing.assert_allclose(np.exp(found.place), np.exp(target), atol=1e-7)


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_no_more_gradients_are_computed_than_allowed(most):
    matrix, minimum = steep()
    calls = []

    def find_slopes(place):
        calls.append(1)
        return matrix @ (place - minimum)

    found = descend(find_slopes, np.zeros(40), np.ones(40), lambda slopes: False, most)
    assert len(calls) == found.gradients <= most


def test_a_last_step_that_is_too_long_is_not_taken():
    found = descend(lambda place: 100 * place, np.ones(1), np.full(1, 1e-3), lambda slopes: False, 2)
    assert found.place.tolist() == [1.0]


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
