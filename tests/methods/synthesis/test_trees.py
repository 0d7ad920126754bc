"""Trees of runs of bins whose levels are weighted."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from adomnia.methods.synthesis.line_workloads import WORKLOADS, LineWorkload
from adomnia.methods.synthesis.trees import cost_levels, fit_tree


def total_error(tree, workload):
    rows = [dict(run) for run in tree.list_runs()]
    strategy = np.array([[row.get(place, 0.0) for place in range(workload.bins)] for row in rows])
    return float(np.sum(np.linalg.inv(strategy.T @ strategy) * workload.matrix))


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("norm", [1, 2])
def test_the_error_of_a_full_tree_is_that_of_its_matrix(name, norm):
    workload = LineWorkload(name, 64)
    tree = fit_tree(workload, norm)
    assert tree.error == pytest.approx(total_error(tree, workload), rel=1e-9)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("bins", [3, 10, 100])
def test_runs_that_are_cut_off_have_less_error_than_stated(norm, bins):
    workload = LineWorkload("ranges", bins)
    tree = fit_tree(workload, norm)
    assert 0.85 * tree.error <= total_error(tree, workload) <= tree.error * (1 + 1e-9)


def test_gaussian_levels_are_weighted_as_the_closed_form_says():
    """Without limits, the least sum of cost / told at a given length has told as sqrt(cost / (length of a unit))."""
    workload = LineWorkload("prefixes", 256)
    tree = fit_tree(workload, 2)
    units = [2.0**-level - 2.0 ** -(level + 1) for level in range(8)] + [2.0**-8]
    optimum = sum(sqrt(cost * unit) for cost, unit in zip(cost_levels(workload, 2), units, strict=True)) ** 2
    assert tree.branches == 2
    assert optimum <= tree.error <= 1.0005 * optimum


@pytest.mark.parametrize("norm", [1, 2])
def test_portions_add_up_and_no_move_of_one_is_better(norm):
    tree = fit_tree(LineWorkload("ranges", 100), norm)
    assert sum(tree.portions) == 1024
    assert tree.weigh() == tree
    equal = replace(tree, portions=(1024 - 10 * (len(tree.portions) - 1), *[10] * (len(tree.portions) - 1)))
    assert tree.error < equal.error
