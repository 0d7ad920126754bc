import json
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.methods.synthesis.graphical import models
from adomnia.methods.synthesis.graphical.fitting import BeliefPropagation, MeasuredTable, fit
from adomnia.methods.synthesis.graphical.models import Joints, Model, draw_rows
from adomnia.methods.synthesis.graphical.trees import build_tree
from kit.effort import do_within

WIDE = [(0, 3, 4), (0, 13), (3, 5, 13), (1, 5, 12), (4, 5, 6), (7, 12), (6, 8), (9, 13), (5, 11), (7, 10), (2, 8)]
ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
VECTORS = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors2.json").read_text())
SIZES_OF_JOINTS = (4, 3, 5, 2, 6, 1)
CLIQUES = [(0, 1, 2), (1, 2, 3), (2, 3, 4), (4, 5)]


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


def count(drawn, sizes, columns):
    shape = [sizes[column] for column in columns]
    codes = np.ravel_multi_index([drawn[:, column] for column in columns], shape)
    return np.bincount(codes, minlength=int(np.prod(shape))).reshape(shape)


def fit_random(sizes, cliques, number, rows=5_000.0, concentration=0.5):
    """A model of random tables that agree with each other."""
    generator = np.random.default_rng(number)
    joint = rows * generator.dirichlet(np.full(int(np.prod(sizes)), concentration)).reshape(sizes)
    tables = [joint.sum(axis=tuple(c for c in range(len(sizes)) if c not in columns)) for columns in cliques]
    measured = [MeasuredTable(columns, table, 5.0) for columns, table in zip(cliques, tables, strict=True)]
    return fit(sizes, measured, rows, tolerance=1e-3)


def siblings(parents=3, levels=20):
    """A parent and two children that are independent given it, each with all its values about as often."""
    sizes = (parents, levels, levels)
    tree = build_tree(sizes, [(0, 1), (0, 2)])
    weights = 1 + np.arange(parents)[:, None] * np.linspace(0, 1, levels)
    belief = weights / weights.sum()
    return Model(sizes, tree, {}, (belief, belief[:, ::-1].copy()), 1.0)


def correlate_within_parents(drawn, parents=3):
    groups = [drawn[drawn[:, 0] == parent] for parent in range(parents)]
    return [float(np.corrcoef(group[:, 1], group[:, 2])[0, 1]) for group in groups]


def test_siblings_are_independent_given_their_parent():
    found = correlate_within_parents(draw_rows(siblings(), 9_000, np.random.default_rng(1)))
    # Of about 1,500 rows or more a correlation by chance has a deviation below 0.026: 0.15 is beyond 5.5 of them.
    assert max(map(abs, found)) < 0.15
    assert max(map(abs, VECTORS["rounding_sibling_correlation_shuffled"])) < 0.15


def test_without_a_shuffle_siblings_would_rise_and_fall_together(monkeypatch):
    monkeypatch.setattr(models, "_sort_randomly", lambda groups, generator: np.argsort(groups, kind="stable"))
    found = correlate_within_parents(draw_rows(siblings(), 9_000, np.random.default_rng(1)))
    assert min(map(abs, found)) > 0.95
    assert min(VECTORS["rounding_sibling_correlation_unshuffled"]) > 0.98


SHAPES_OF_ROWS = {
    "chain": [(0, 1), (1, 2), (2, 3)],
    "star": [(0, 1), (1, 2), (1, 3)],
    "thick": [(0, 1, 2), (1, 2, 3)],
    "apart": [(0,), (1,), (2,), (3,)],
}


@pytest.mark.parametrize("shape", SHAPES_OF_ROWS)
def test_counts_of_cliques_are_next_to_those_of_the_model(shape):
    sizes = (4, 3, 5, 6)
    for number in range(3):
        model = fit_random(sizes, SHAPES_OF_ROWS[shape], number)
        drawn = draw_rows(model, 5_000, np.random.default_rng(number))
        for columns in SHAPES_OF_ROWS[shape]:
            assert abs(count(drawn, sizes, columns) - model.marginal(columns)).max() < 2.5


@pytest.mark.parametrize("shape", SHAPES_OF_ROWS)
def test_counts_of_other_pairs_are_within_the_error_of_sampling(shape):
    sizes = (4, 3, 5, 6)
    model = fit_random(sizes, SHAPES_OF_ROWS[shape], 7)
    drawn = draw_rows(model, 5_000, np.random.default_rng(7))
    for columns in combinations(range(4), 2):
        expected = model.marginal(columns)
        # Each of some 100 cells is beyond 6 deviations with a probability of 2e-9.
        assert (abs(count(drawn, sizes, columns) - expected) <= 2 + 6 * np.sqrt(expected)).all()


def test_counts_that_are_drawn_one_by_one_would_be_further_off(monkeypatch):
    def draw_counts(weights, totals, generator):
        return np.array([generator.multinomial(n, w / w.sum()) for n, w in zip(totals, weights, strict=True)])

    monkeypatch.setattr(models, "_round_counts", draw_counts)
    model = fit_random((4, 3, 5, 6), SHAPES_OF_ROWS["chain"], 1)
    drawn = draw_rows(model, 5_000, np.random.default_rng(1))
    assert abs(count(drawn, model.sizes, (0, 1)) - model.marginal((0, 1))).max() > 5


def test_dependence_through_a_clique_that_nobody_measured_is_kept():
    """On a ring the cliques of the tree have chords; measured pairs alone would lose what goes around it."""
    sizes, ring = (2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)]
    model = fit_random(sizes, ring, 4, concentration=0.3)
    drawn = draw_rows(model, 5_000, np.random.default_rng(4))
    for columns in ring:
        assert abs(count(drawn, sizes, columns) - model.marginal(columns)).max() < 2.5
    broken = draw_rows(fit_random(sizes, ring[:3], 4, concentration=0.3), 5_000, np.random.default_rng(4))
    assert abs(count(broken, sizes, ring[3]) - model.marginal(ring[3])).max() > 20


def test_on_average_counts_are_those_of_the_model_for_few_rows_too():
    sizes = (3, 4, 2)
    model = fit_random(sizes, [(0, 1), (1, 2)], 2)
    generator = np.random.default_rng(0)
    repeats = 400
    totals = sum(count(draw_rows(model, 5, generator), sizes, (0, 1, 2)) for _ in range(repeats))
    expected = model.marginal((0, 1, 2)) / model.total * 5 * repeats
    assert (abs(totals - expected) <= 6 * np.sqrt(expected) + 1).all()


@given(st.integers(0, 40), st.integers(0, 2**32))
@settings(max_examples=30)
def test_there_are_as_many_rows_as_asked_for_and_all_have_values(number, start):
    sizes = (3, 1, 4, 2)
    model = fit_random(sizes, [(0, 2), (2, 3), (1,)], start % 5)
    drawn = draw_rows(model, number, np.random.default_rng(start))
    assert drawn.shape == (number, 4)
    assert drawn.dtype == np.int32
    assert ((drawn >= 0) & (drawn < sizes)).all()


def test_no_row_is_where_the_model_has_none():
    diagonal = np.array([[50.0, -400.0], [-400.0, 50.0]])
    measured = [MeasuredTable(columns, diagonal, 1.0) for columns in ((0, 1), (1, 2))]
    drawn = draw_rows(fit((2, 2, 2), measured, 100.0, tolerance=1e-6), 1_000, np.random.default_rng(0))
    assert (drawn[:, :2] == drawn[:, 1:]).all()


def test_the_same_generator_gives_the_same_rows_and_another_one_others():
    model = fit_random((4, 3, 5), [(0, 1), (1, 2)], 1)
    one, same, other = (draw_rows(model, 200, np.random.default_rng(number)) for number in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_rows_are_in_no_order():
    model = fit_random((4, 3, 5), [(0, 1), (1, 2)], 1)
    drawn = draw_rows(model, 4_000, np.random.default_rng(1))
    # The deviation of a correlation by chance is 1/63; 0.1 is beyond 6 of them.
    assert abs(np.corrcoef(np.arange(4_000), drawn[:, 0])[0, 1]) < 0.1


@pytest.mark.no_cover
def test_as_many_rows_as_adult_has_take_less_than_a_second():
    tree = build_tree(ADULT, WIDE)
    measured = [MeasuredTable((column,), np.arange(1, size + 1), 1.0) for column, size in enumerate(ADULT)]
    pairs = [MeasuredTable(clique, np.ones(tree.shape(clique)), 1.0) for clique in WIDE]
    model = fit(ADULT, [*measured, *pairs], 48_842.0, iterations=5)
    assert do_within(1, lambda: draw_rows(model, 48_842, np.random.default_rng(0))).shape == (48_842, 14)


def believe_of_joints(tree, potentials):
    tables = [potential.copy() for potential in potentials]
    BeliefPropagation(tree).run(tables)
    return tables


def compute_both(most_cells):
    """Tables of all columns, by edges and by brute force."""
    generator = np.random.default_rng(0)
    tree = build_tree(SIZES_OF_JOINTS, CLIQUES)
    potentials = [generator.normal(size=tree.shape(clique)) for clique in tree.cliques]
    spread = [
        p.reshape([SIZES_OF_JOINTS[c] if c in k else 1 for c in range(6)])
        for k, p in zip(tree.cliques, potentials, strict=True)
    ]
    joint = np.exp(sum(spread))
    joints = Joints(tree, believe_of_joints(tree, potentials), most_cells)
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
