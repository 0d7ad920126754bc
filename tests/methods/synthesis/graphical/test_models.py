from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.graphical.propagation import BeliefPropagation
from adomnia.methods.synthesis.graphical.trees import build_tree
from kit.effort import do_within

WIDE = [(0, 3, 4), (0, 13), (3, 5, 13), (1, 5, 12), (4, 5, 6), (7, 12), (6, 8), (9, 13), (5, 11), (7, 10), (2, 8)]
ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)


def believe(tree, potentials):
    tables = [potential.copy() for potential in potentials]
    BeliefPropagation(tree).run(tables)
    return tuple(tables)


def draw_model(sizes, cliques, number, total=100.0):
    """A model with random factors."""
    generator = np.random.default_rng(number)
    tree = build_tree(sizes, cliques)
    factors = {clique: generator.normal(size=tree.shape(clique)) for clique in tree.cliques}
    return Model(tree.sizes, tree, factors, believe(tree, factors.values()), total)


def multiply(model):
    """The joint counts over all cells, by brute force."""
    sizes = model.sizes
    joint = np.zeros(sizes)
    for clique, factor in model.factors.items():
        joint = joint + factor.reshape([sizes[c] if c in clique else 1 for c in range(len(sizes))])
    joint = np.exp(joint)
    return joint / joint.sum() * model.total


def sum_all_but(joint, columns):
    return joint.sum(axis=tuple(c for c in range(joint.ndim) if c not in columns))


SIZES = (2, 3, 1, 4, 2, 3, 2)
SHAPES = {
    "chain": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)],
    "star": [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6)],
    "ring": [(0, 1), (1, 3), (3, 4), (4, 5), (0, 5)],
    "thick": [(0, 1, 3), (1, 3, 4), (3, 4, 5), (4, 5, 6)],
    "parts": [(0, 1), (3, 4, 5)],
    "apart": [],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_marginal_is_a_sum_of_the_joint(shape):
    model = draw_model(SIZES, SHAPES[shape], 1)
    joint = multiply(model)
    tables = [columns for ways in range(8) for columns in combinations(range(7), ways)]
    for columns, counts in zip(tables, model.marginals(tables), strict=True):
        np.testing.assert_allclose(counts, sum_all_but(joint, columns), rtol=1e-9)
        np.testing.assert_allclose(counts, model.marginal(columns), rtol=1e-9)


@given(st.integers(0, 2**32), st.permutations(range(7)), st.integers(0, 4))
def test_axes_are_in_the_order_in_which_columns_are_named(number, order, ways):
    model = draw_model(SIZES, SHAPES["thick"], number)
    columns = tuple(order[:ways])
    joint = multiply(model).transpose(order)
    np.testing.assert_allclose(model.marginal(columns), joint.sum(axis=tuple(range(ways, 7))), rtol=1e-9)


def test_cells_without_rows_stay_without():
    sizes = (2, 2, 2)
    tree = build_tree(sizes, [(0, 1), (1, 2)])
    factors = {(0, 1): np.array([[0.0, -5_000.0], [0.0, -5_000.0]]), (1, 2): np.zeros((2, 2))}
    model = Model(sizes, tree, factors, believe(tree, factors.values()), 8.0)
    assert model.marginal((0, 2)).tolist() == [[2, 2], [2, 2]]
    assert model.marginal((1,)).tolist() == [8, 0]


def test_a_model_of_no_rows_has_none_anywhere():
    model = draw_model(SIZES, SHAPES["ring"], 3, total=0.0)
    assert not model.marginal((0, 5)).any()


@pytest.mark.parametrize("columns", [(0, 0), (7,), (-1,)])
def test_columns_that_are_not_there_are_refused(columns):
    with pytest.raises(ValueError, match="different places below 7"):
        draw_model(SIZES, SHAPES["chain"], 1).marginal(columns)


def test_a_table_of_too_many_cells_is_refused():
    sizes = (130, 130, 130)
    tree = build_tree(sizes, [])
    model = Model(sizes, tree, {}, tuple(np.full(130, 1 / 130) for _ in sizes), 1.0)
    assert model.marginal((0, 1)).shape == (130, 130)
    with pytest.raises(ValueError, match="at most 2000000 cells"):
        model.marginal((0, 1, 2))


@pytest.mark.no_cover
def test_all_three_way_tables_of_a_wide_model_take_a_few_seconds():
    model = draw_model(ADULT, WIDE, 1)
    tables = [c for c in combinations(range(14), 3) if np.prod([ADULT[column] for column in c]) <= 1e6]
    assert len(tables) == 364
    totals = do_within(5, lambda: [float(counts.sum()) for counts in model.iterate_marginals(tables)])
    np.testing.assert_allclose(totals, 100)


def test_columns_of_a_pair_may_be_named_in_any_order():
    model = draw_model(SIZES, SHAPES["star"], 2)
    for columns in permutations((1, 3, 6)):
        assert model.marginal(columns).shape == tuple(SIZES[c] for c in columns)
