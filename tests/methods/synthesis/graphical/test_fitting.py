from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from adomnia.methods.synthesis.graphical import fitting
from adomnia.methods.synthesis.graphical.fitting import BeliefPropagation, MeasuredTable, descend, estimate_total, fit
from adomnia.methods.synthesis.graphical.trees import build_tree

SIZES = (3, 2, 4, 2)
RING = [(0, 1), (1, 2), (2, 3), (0, 3), (0,), (3,), (1,), (2,)]


def sum_all_but(joint, columns):
    return joint.sum(axis=tuple(c for c in range(joint.ndim) if c not in columns))


def measure(sizes, cliques, number, deviation=10.0):
    """Noisy tables of a random joint distribution, the noise of every other one twice as large."""
    generator = np.random.default_rng(number)
    cells = int(np.prod(sizes))
    joint = 1_000 * generator.dirichlet(np.full(cells, 0.3)).reshape(sizes)
    tables = [sum_all_but(joint, columns) for columns in cliques]
    deviations = [deviation * (1 + place % 2) for place in range(len(cliques))]
    return [
        MeasuredTable(columns, table + generator.normal(0, each, table.shape), each)
        for columns, table, each in zip(cliques, tables, deviations, strict=True)
    ]


def loss_of(model, measured):
    errors = [
        (model.marginal(t.columns) - t.values.reshape(-1, order="C").reshape(model.tree.shape(t.columns)))
        for t in measured
    ]
    return sum(float((error**2).sum()) / (2 * t.deviation**2) for error, t in zip(errors, measured, strict=True))


def least_loss(sizes, measured, total):
    """The same convex program over all cells of the joint table, by non-negative least squares."""
    cells = np.arange(int(np.prod(sizes))).reshape(sizes)
    lines, targets = [np.full(cells.size, 1e3)], [np.array([1e3 * total])]
    for table in measured:
        values = table.values.reshape([sizes[c] for c in table.columns])
        for place in np.ndindex(values.shape):
            chosen = np.zeros(cells.size)
            index = [slice(None)] * len(sizes)
            for column, value in zip(table.columns, place, strict=True):
                index[column] = value
            chosen[cells[tuple(index)].ravel()] = 1 / table.deviation
            lines.append(chosen)
        targets.append(values.ravel() / table.deviation)
    return nnls(np.array(lines), np.concatenate(targets), maxiter=100_000)[1] ** 2 / 2


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("deviation", [2.0, 10.0, 60.0])
def test_a_fit_reaches_the_least_loss_of_all_distributions(number, deviation):
    measured = measure(SIZES, RING, number, deviation)
    total = estimate_total(measured)
    model = fit(SIZES, measured, iterations=20_000, tolerance=1e-6)
    best = least_loss(SIZES, measured, total)
    assert best - 1e-3 <= loss_of(model, measured) <= best * 1.002 + 0.01


@pytest.mark.parametrize("number", range(4))
def test_a_fit_by_default_comes_within_a_few_percent_of_the_least_loss(number):
    measured = measure(SIZES, RING, number)
    best = least_loss(SIZES, measured, estimate_total(measured))
    assert loss_of(fit(SIZES, measured), measured) <= best * 1.03 + 0.1


def test_a_fit_that_forgets_the_precision_of_its_tables_is_worse(monkeypatch):
    measured = measure(SIZES, RING, 3)
    best = least_loss(SIZES, measured, estimate_total(measured))
    alike = [MeasuredTable(table.columns, table.values, 10.0) for table in measured]
    assert loss_of(fit(SIZES, alike, estimate_total(measured), tolerance=1e-6), measured) > best * 1.03


def test_a_pass_is_as_far_from_its_end_as_its_gradient_says():
    """Strong duality, on the objective of a pass computed from all cells."""
    measured = measure(SIZES, RING, 1)
    whole = fit(SIZES, measured, 1_000.0, iterations=5)
    one = fitting.Dual(whole.tree, [(t.columns, t.values, t.deviation) for t in measured], 1_000.0)
    uniform = np.full(SIZES, 1 / np.prod(SIZES))

    def objective(factors):
        joint = np.exp(sum(spread(factor, columns) for columns, factor in factors.items()))
        joint /= joint.sum()
        errors = [(1_000 * sum_all_but(joint, t.columns) - t.values) / t.deviation for t in measured]
        loss = sum(float((error**2).sum()) / 2 for error in errors)
        return loss + 1_000 * (joint * np.log(joint / uniform)).sum() / np.median([t.deviation for t in measured])

    rough, fine = (one.improve({}, 1.0, tolerance, 5_000)[0] for tolerance in (0.1, 1e-12))
    gap = objective(rough) - objective(fine)
    assert 0 < gap <= 0.1 * one.improve(rough, 1e9, 1.0, 3)[1]


def spread(factor, columns):
    return factor.reshape([SIZES[c] if c in columns else 1 for c in range(len(SIZES))])


def test_exact_tables_are_met():
    measured = [MeasuredTable(t.columns, t.values, 1.0) for t in measure(SIZES, RING, 5, deviation=1e-9)]
    model = fit(SIZES, measured, iterations=5_000, tolerance=1e-6)
    for table in measured:
        np.testing.assert_allclose(model.marginal(table.columns), table.values, atol=0.05)


def test_of_all_distributions_that_fit_it_is_one_without_more_structure():
    measured = [MeasuredTable((0,), np.array([30.0, 70.0]), 1.0), MeasuredTable((1,), np.array([20.0, 80.0]), 1.0)]
    np.testing.assert_allclose(fit((2, 2), measured, tolerance=1e-8).marginal((0, 1)), [[6, 24], [14, 56]], atol=0.01)


def test_a_start_from_the_model_before_takes_fewer_gradients(monkeypatch):
    spent = []
    improve = fitting.Dual.improve

    def count(self, *arguments):
        result = improve(self, *arguments)
        spent.append(result[2])
        return result

    monkeypatch.setattr(fitting.Dual, "improve", count)
    measured = measure(SIZES, RING, 2)
    before = fit(SIZES, measured[:-1])
    spent.clear()
    warm, with_start = fit(SIZES, measured, start=before), sum(spent)
    spent.clear()
    cold, without = fit(SIZES, measured), sum(spent)
    assert with_start < 0.8 * without
    assert loss_of(warm, measured) <= loss_of(cold, measured) * 1.02


def test_a_cell_that_was_below_zero_for_many_fits_comes_back():
    rough = MeasuredTable((0, 1), np.array([[500.0, 300.0], [200.0, -150.0]]), 50.0)
    model = fit((2, 2, 2), [rough], 1_000.0)
    for _ in range(30):
        model = fit((2, 2, 2), [rough], 1_000.0, start=model)
    assert model.marginal((0, 1))[1, 1] < 1
    fine = MeasuredTable((0, 1, 2), np.array([[[250, 230], [150, 140]], [[100, 80], [20, 30]]]), 5.0)
    model = fit((2, 2, 2), [rough, fine], 1_000.0, start=model)
    np.testing.assert_allclose(model.marginal((0, 1))[1, 1], 50, atol=5)


@given(st.integers(0, 2**32), st.integers(0, 10), st.integers(0, 10))
@settings(max_examples=20)
def test_a_start_may_have_other_cliques(number, first, second):
    pairs = [*combinations(range(4), 2), (0, 1, 2), (1, 2, 3), (0,), (3,), (2, 3)]
    start = fit(SIZES, measure(SIZES, [pairs[first], (0,)], number), iterations=30)
    measured = measure(SIZES, [pairs[second], (1,)], number)
    model = fit(SIZES, measured, start=start, tolerance=1e-4)
    best = least_loss(SIZES, measured, estimate_total(measured))
    assert loss_of(model, measured) <= best * 1.02 + 0.1


def test_the_start_stays_as_it_is():
    measured = measure(SIZES, RING, 2)
    start = fit(SIZES, measured, iterations=20)
    factors = {columns: factor.copy() for columns, factor in start.factors.items()}
    beliefs = [belief.copy() for belief in start.beliefs]
    fit(SIZES, measured, start=start)
    assert all((start.factors[columns] == factor).all() for columns, factor in factors.items())
    assert all((one == other).all() for one, other in zip(start.beliefs, beliefs, strict=True))


def test_the_same_tables_give_the_same_model():
    measured = measure(SIZES, RING, 2)
    one, other = fit(SIZES, measured), fit(SIZES, measured)
    assert all((a == b).all() for a, b in zip(one.beliefs, other.beliefs, strict=True))


@pytest.mark.parametrize(
    ("sizes", "measured"),
    [
        ((3,), [MeasuredTable((0,), np.array([-5.0, -1.0, -9.0]), 2.0)]),
        ((3,), [MeasuredTable((0,), np.array([0, 0, 0]), 2.0)]),
        ((1,), [MeasuredTable((0,), np.array([17]), 2.0)]),
        ((1, 1), [MeasuredTable((0, 1), np.array([[17]]), 2.0), MeasuredTable((1,), np.array([12]), 2.0)]),
        ((2, 3), [MeasuredTable((), np.array(50), 2.0)]),
        ((2, 2), [MeasuredTable((0, 1), np.array([[1e12, 0], [0, 1e12]]), 1e-3)]),
        ((2, 2), [MeasuredTable((0, 1), np.array([[1, 0], [0, 1]]), 1e9), MeasuredTable((0,), np.array([0, 2]), 1e-6)]),
        ((2, 2), [MeasuredTable((0, 1), np.array([[-1e6, 5], [3, -1e6]]), 0.5)]),
    ],
    ids=["negative", "nobody", "one level", "levels of one", "total alone", "huge", "unlike precision", "far below 0"],
)
def test_whatever_the_noise_made_of_it_a_fit_is_a_distribution(sizes, measured):
    model = fit(sizes, measured)
    table = model.marginal(tuple(range(len(sizes))))
    assert np.isfinite(table).all()
    assert (table >= 0).all()
    assert table.sum() == pytest.approx(max(estimate_total(measured), 0))
    assert all(np.isfinite(factor).all() for factor in model.factors.values())


def test_counts_below_zero_are_met_by_zero():
    model = fit((3,), [MeasuredTable((0,), np.array([60.0, -20.0, 40.0]), 5.0)], 100.0, tolerance=1e-6)
    np.testing.assert_allclose(model.marginal((0,)), [60, 0, 40], atol=0.1)


def test_totals_weigh_as_much_as_they_are_precise():
    one, other = MeasuredTable((0,), np.array([90, 20]), 3.0), MeasuredTable((1,), np.array([20, 30, 40, 50]), 1.0)
    assert estimate_total([one, other]) == pytest.approx((110 / 18 + 140 / 4) / (1 / 18 + 1 / 4))


def test_values_may_be_flat():
    flat = [MeasuredTable(t.columns, t.values.ravel(), t.deviation) for t in measure(SIZES, RING, 2)]
    np.testing.assert_array_equal(fit(SIZES, flat).beliefs[0], fit(SIZES, measure(SIZES, RING, 2)).beliefs[0])


@pytest.mark.parametrize("columns", [(1, 0), (0, 0)])
def test_columns_of_a_measured_table_are_sorted_and_different(columns):
    with pytest.raises(ValueError, match="sorted and different"):
        MeasuredTable(columns, np.zeros((2, 2)), 1.0)


@pytest.mark.parametrize("deviation", [0.0, -1.0, float("nan")])
def test_a_measured_table_has_noise(deviation):
    with pytest.raises(ValueError, match="deviation must be > 0"):
        MeasuredTable((0,), np.zeros(2), deviation)


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


SIZES_OF_DUAL = (2, 3, 1, 4, 2, 3)


CLIQUES = [(0, 1), (1, 3), (0, 3), (3, 4), (2, 4)]


@given(st.integers(0, 2**32), st.sampled_from([0.1, 3.0, 300.0]))
def test_beliefs_are_sums_of_the_joint(number, scale):
    generator = np.random.default_rng(number)
    tree = build_tree(SIZES_OF_DUAL, CLIQUES)
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
