"""The last step: which cells of the answer are shown and in what order. It sees noisy values only, so it is free."""

from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from adomnia.plans.choices import evaluate_condition
from adomnia.plans.formulas import noisy_values
from adomnia.plans.plan import Order, Plan
from adomnia.privacy.keys import Key, key_cells
from adomnia.statistics.contract import Estimate, Floats, Result, ResultTable, Statistic


def finish(plan: Plan, results: Mapping[Statistic, Result]) -> NDArray[np.intp]:
    """The cells in the order of the answer, counted with the last key fastest.

    Those that HAVING keeps, sorted as ORDER BY says, then by the keys in their declared order: never in an order that
    data could have made.
    """
    table, estimates = find_table(results), find_estimates(results)
    if table is not None:
        return np.arange(table.rows)[plan.offset :][: plan.limit]
    shape = tuple(len(key_cells(key)) for key in plan.keys)
    cells = np.arange(prod(shape)) if plan.named is None else np.array(plan.named, dtype=np.intp)
    if plan.having is not None:
        cells = cells[evaluate_condition(plan.having, plan.keys, estimates)[cells]]
    for order in reversed(plan.order):
        values = _values(plan, order, shape, estimates).ravel()[cells]
        # Stable, and by the negative for DESC: reversing would turn the cells that are equal.
        cells = cells[np.argsort(-values if order.descending else values, kind="stable")]
    return cells[plan.offset :][: plan.limit]


def find_table(results: Mapping[Statistic, Result]) -> ResultTable | None:
    """The table among the results; a plan that has one has nothing else."""
    return next((each for each in results.values() if isinstance(each, ResultTable)), None)


def find_estimates(results: Mapping[Statistic, Result]) -> dict[Statistic, Estimate]:
    """The results with one number a cell."""
    return {statistic: each for statistic, each in results.items() if isinstance(each, Estimate)}


def _values(plan: Plan, order: Order, shape: tuple[int, ...], estimates: Mapping[Statistic, Estimate]) -> Floats:
    if isinstance(order.by, Key):
        return np.asarray(np.indices(shape)[plan.keys.index(order.by)], dtype=np.float64)
    return noisy_values(order.by, estimates)
