from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from adomnia.methods.synthesis.graphical import dual
from adomnia.methods.synthesis.graphical.fitting import MeasuredTable, estimate_total, fit

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
    one = dual.Dual(whole.tree, [(t.columns, t.values, t.deviation) for t in measured], 1_000.0)
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
    improve = dual.Dual.improve

    def count(self, *arguments):
        result = improve(self, *arguments)
        spent.append(result[2])
        return result

    monkeypatch.setattr(dual.Dual, "improve", count)
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
