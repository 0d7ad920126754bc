"""The last step: which cells of the answer are shown and in what order. It sees noisy values only, so it is free."""

from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from adomnia.plans.choices import holding
from adomnia.plans.formulas import noisy
from adomnia.plans.plan import Order, Plan
from adomnia.privacy.keys import Key, key_cells
from adomnia.statistics.contract import Estimate, Floats, Statistic


def finished(plan: Plan, estimates: Mapping[Statistic, Estimate]) -> NDArray[np.intp]:
    """The cells in the order of the answer, counted with the last key fastest.

    Those that HAVING keeps, sorted as ORDER BY says, then by the keys in their declared order: never in an order that
    data could have made.
    """
    shape = tuple(len(key_cells(key)) for key in plan.keys)
    cells = np.arange(prod(shape)) if plan.named is None else np.array(plan.named, dtype=np.intp)
    if plan.having is not None:
        cells = cells[holding(plan.having, plan.keys, estimates)[cells]]
    for order in reversed(plan.order):
        values = _values(plan, order, shape, estimates).ravel()[cells]
        # Stable, and by the negative for DESC: reversing would turn the cells that are equal.
        cells = cells[np.argsort(-values if order.descending else values, kind="stable")]
    return cells[plan.offset :][: plan.limit]


def _values(plan: Plan, order: Order, shape: tuple[int, ...], estimates: Mapping[Statistic, Estimate]) -> Floats:
    if isinstance(order.by, Key):
        return np.asarray(np.indices(shape)[plan.keys.index(order.by)], dtype=np.float64)
    return noisy(order.by, estimates)
