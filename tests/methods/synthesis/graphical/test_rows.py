import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.methods.synthesis.graphical import rows
from adomnia.methods.synthesis.graphical.fitting import MeasuredTable, fit
from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.graphical.rows import draw_rows
from adomnia.methods.synthesis.graphical.trees import build_tree
from kit.effort import do_within

VECTORS = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors2.json").read_text())
WIDE = [(0, 3, 4), (0, 13), (3, 5, 13), (1, 5, 12), (4, 5, 6), (7, 12), (6, 8), (9, 13), (5, 11), (7, 10), (2, 8)]
ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)


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
    monkeypatch.setattr(rows, "_sort_randomly", lambda groups, generator: np.argsort(groups, kind="stable"))
    found = correlate_within_parents(draw_rows(siblings(), 9_000, np.random.default_rng(1)))
    assert min(map(abs, found)) > 0.95
    assert min(VECTORS["rounding_sibling_correlation_unshuffled"]) > 0.98


SHAPES = {
    "chain": [(0, 1), (1, 2), (2, 3)],
    "star": [(0, 1), (1, 2), (1, 3)],
    "thick": [(0, 1, 2), (1, 2, 3)],
    "apart": [(0,), (1,), (2,), (3,)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_of_cliques_are_next_to_those_of_the_model(shape):
    sizes = (4, 3, 5, 6)
    for number in range(3):
        model = fit_random(sizes, SHAPES[shape], number)
        drawn = draw_rows(model, 5_000, np.random.default_rng(number))
        for columns in SHAPES[shape]:
            assert abs(count(drawn, sizes, columns) - model.marginal(columns)).max() < 2.5


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_of_other_pairs_are_within_the_error_of_sampling(shape):
    sizes = (4, 3, 5, 6)
    model = fit_random(sizes, SHAPES[shape], 7)
    drawn = draw_rows(model, 5_000, np.random.default_rng(7))
    for columns in combinations(range(4), 2):
        expected = model.marginal(columns)
        # Each of some 100 cells is beyond 6 deviations with a probability of 2e-9.
        assert (abs(count(drawn, sizes, columns) - expected) <= 2 + 6 * np.sqrt(expected)).all()


def test_counts_that_are_drawn_one_by_one_would_be_further_off(monkeypatch):
    def draw_counts(weights, totals, generator):
        return np.array([generator.multinomial(n, w / w.sum()) for n, w in zip(totals, weights, strict=True)])

    monkeypatch.setattr(rows, "_round_counts", draw_counts)
    model = fit_random((4, 3, 5, 6), SHAPES["chain"], 1)
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
