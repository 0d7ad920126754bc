"""Plans against the optimum that was computed independently, and against each other."""

from __future__ import annotations

import json
from ast import literal_eval
from itertools import permutations
from math import prod
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.synthesis.bases import BASES
from adomnia.methods.synthesis.planning import _Told, _Wanted, compare_plans, list_closure, list_tables, plan_tables
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals

VECTORS = json.loads((Path(__file__).parents[2] / "fixtures" / "vectors2.json").read_text())
OPTIMUM = VECTORS["residual_planner_2x3x2_all_2way_pcost1"]
RATIOS = VECTORS["marginals_total_variance_ratio_to_RP_optimum"]
ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
MIXED = (3, 4, 1, 2)
EIGHT = (2,) * 8


def variances_of(plan, sizes, *, laplace):
    """The variances of all contrasts, where the price is 1, with noise as the mechanisms have it."""
    told = []
    for table in plan.tables:
        own = [sizes[column] for column in table.columns]
        facts, part = BASES[table.basis], float(table.part)
        l1, l2_squared = prod(map(facts.l1, own)), prod(map(facts.l2_squared, own))
        variance = 2 * (l1 / part) ** 2 if laplace else l2_squared / (2 * part)
        told.append(NoisyMarginal(table.columns, np.zeros([facts.results(n) for n in own]), variance, table.basis))
    return Residuals.from_measured(sizes, told)


def test_contrasts_reach_the_least_variance_of_all_pairs():
    plan = plan_tables((2, 3, 2), list_tables((2, 3, 2), 2), "auto", laplace=False)
    assert 2 * plan.total == pytest.approx(OPTIMUM["T_total_variance"], rel=1e-5)
    found = variances_of(plan, (2, 3, 2), laplace=False)
    for name, expected in OPTIMUM["sigma2"].items():
        assert 2 * found.variances[literal_eval(name)] == pytest.approx(expected, rel=1e-4)
    for name, (expected, _) in OPTIMUM["percell_var_[matrix,formula]"].items():
        assert 2 * found.variance(literal_eval(name)) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("sizes", "known"),
    [((2, 3, 2), "2x3x2"), (ADULT, "adult(14 attrs, sizes 100..2)"), ((10,) * 5, "10^5")],
    ids=["2x3x2", "adult", "10^5"],
)
def test_plans_have_the_known_variances(sizes, known):
    expected = RATIOS[known]
    assert 2 * plan_tables(sizes, list_tables(sizes, 2), "auto", laplace=False).total == pytest.approx(
        expected["RP_optimum_T"], rel=1e-5
    )
    plain = plan_tables(sizes, list_tables(sizes, 2), "plain", laplace=False)
    assert 2 * plain.total / expected["RP_optimum_T"] <= expected["optimised_012way_+LS"] + 1e-4


def test_fourier_coefficients_have_the_variance_of_barak_et_al():
    plan = plan_tables(EIGHT, list_tables(EIGHT, 2), "fourier", laplace=True)
    assert variances_of(plan, (2,) * 8, laplace=True).variance((0, 1)) == pytest.approx(684.5)
    assert len({table.part for table in plan.tables}) == 1
    assert len(plan.tables) == 1 + 8 + 28


@pytest.mark.parametrize("laplace", [False, True])
@pytest.mark.parametrize("wanted", [list_tables, list_closure])
@pytest.mark.parametrize("how", ["auto", "residual", "plain"])
@pytest.mark.parametrize(
    ("sizes", "ways"), [(MIXED, 2), (MIXED, 3), (MIXED, 4), ((2, 2, 2, 2, 2), 2), ((1, 1), 2), ((7,), 1)]
)
def test_the_stated_total_is_that_of_all_cells_of_the_wanted_tables(sizes, ways, how, wanted, laplace):
    tables = wanted(sizes, ways)
    for plan in compare_plans(sizes, tables, how, laplace=laplace):
        assert sum(table.part for table in plan.tables) == 1
        found = variances_of(plan, sizes, laplace=laplace)
        assert all(found.covers(table) for table in list_closure(sizes, ways))
        cells = {table: prod(sizes[column] for column in table) for table in tables}
        total = sum(cells[table] * found.variance(table) for table in cells)
        assert plan.total == pytest.approx(total, rel=1e-6)


def test_laplace_noise_has_the_least_variance_of_all_plans():
    plans = {plan.name: plan.total for plan in compare_plans(EIGHT, list_tables(EIGHT, 2), "auto", laplace=True)}
    chosen = plan_tables(EIGHT, list_tables(EIGHT, 2), "auto", laplace=True)
    assert chosen.total == min(plans.values()) == pytest.approx(112 * 128)
    assert chosen.name == "counts of all columns together"
    assert plans["Fourier coefficients"] < plans["counts of the largest tables"] == pytest.approx(112 * 518)


def test_tables_that_tell_nothing_more_are_not_measured():
    plan = plan_tables((10,) * 5, list_tables((10,) * 5, 2), "plain", laplace=False)
    assert {len(table.columns) for table in plan.tables} == {2}


def test_parts_of_the_price_are_at_a_minimum():
    """Moving a little of the price from any table to another makes it no better."""
    wanted = _Wanted.of((3, 4, 2), list_closure((3, 4, 2), 2))
    for laplace in (False, True):
        told = _Told.of(wanted, wanted.measure("counts"), laplace=laplace)
        parts = told.divide()
        for giver, taker in permutations(range(len(parts)), 2):
            moved = parts.copy()
            moved[[giver, taker]] += np.array([-0.01, 0.01]) * parts[giver]
            assert told.total(moved) > told.total(parts) * (1 - 1e-4)


def test_columns_of_many_values_are_measured_by_their_counts():
    plan = plan_tables((300, 5), ((0, 1),), "residual", laplace=False)
    assert {table.columns: table.basis for table in plan.tables} == {
        (): "contrasts",
        (0,): "counts",
        (1,): "contrasts",
        (0, 1): "counts",
    }
    assert plan.total < 1.02 * 0.5 * (np.sqrt(300 * 5) * 1) ** 2


def test_wanted_tables_are_all_sets_of_so_many_columns():
    assert list_tables((2, 2, 2), 2) == ((0, 1), (0, 2), (1, 2))
    assert list_closure((2, 2, 2), 2) == ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    assert list_tables((2, 2), 4) == ((0, 1),)


def test_all_shown_tables_together_cost_those_of_pairs_little_and_better_the_total_much():
    pairs, shown = ((ADULT, list_tables(ADULT, 2)), (ADULT, list_closure(ADULT, 2)))
    least, found = (
        variances_of(plan_tables(*each, "auto", laplace=False), ADULT, laplace=False) for each in (pairs, shown)
    )
    cells = {table: prod(ADULT[column] for column in table) for table in pairs[1]}
    ratio = sum(cells[each] * found.variance(each) for each in cells) / sum(
        cells[each] * least.variance(each) for each in cells
    )
    assert 1 < ratio < 1.01
    assert found.variance(()) < 0.6 * least.variance(())


@pytest.mark.parametrize("laplace", [False, True])
def test_the_largest_tables_alone_are_measured_by_their_counts_if_that_is_asked(laplace):
    (plan,) = compare_plans((3, 4, 5), list_closure((3, 4, 5), 3), "largest", laplace=laplace)
    assert [(table.columns, table.basis, table.part) for table in plan.tables] == [((0, 1, 2), "counts", 1)]


def test_a_plan_is_called_by_what_it_measures():
    """The tables of fewer columns get no part of the price here, so that they are not said to be measured."""
    plans = compare_plans((7, 7), list_closure((7, 7), 2), "auto", laplace=True)
    best = plan_tables((7, 7), list_closure((7, 7), 2), "auto", laplace=True)
    assert [table.columns for table in best.tables] == [(0, 1)]
    assert best.name == "counts of the largest tables"
    assert "counts of all tables" not in [plan.name for plan in plans]
