"""The last step: which rows of the answer are shown and in what order. It sees noisy values only, so it is free."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from adomnia.plans.cells import Cells, sort_cells
from adomnia.plans.plan import Plan
from adomnia.plans.views import choose_rows
from adomnia.plans.windows import WindowedCells
from adomnia.statistics.contract import Estimate, Result, ResultTable, Statistic


def finish(plan: Plan, results: Mapping[Statistic, Result]) -> NDArray[np.intp]:
    """The rows in the order of the answer, counted with the last key fastest, one grouping after the other.

    Those that HAVING and the choices inside keep, sorted as ORDER BY says, then by the keys in their declared order:
    never in an order that data could have made.
    """
    table = find_table(plan, results)
    if table is not None and plan.view is not None:
        return choose_rows(plan.view, table)[plan.offset :][: plan.limit]
    levels = find_levels(plan, find_estimates(results))
    starts = np.cumsum([0, *(level.size for level in levels)])
    left = [start + level.rows_at(len(plan.choices)).cells for start, level in zip(starts, levels, strict=False)]
    rows = np.concatenate(left)
    by = [(order, np.concatenate([level.sort_values(order) for level in levels])) for order in plan.order]
    if plan.sets:  # a total stands below what it is the total of
        places = [np.concatenate([level.places(key) for level in levels]) for key in plan.keys]
        rows = rows[np.lexsort([place[rows] for place in reversed(places)])]
    return sort_cells(rows, by)[plan.offset :][: plan.limit]


def find_levels(plan: Plan, estimates: Mapping[Statistic, Estimate]) -> Sequence[Cells]:
    """The cells of each grouping: one, unless there are several sets of keys."""
    return [WindowedCells(plan, estimates, kept) for kept in plan.sets or (None,)]


def find_table(plan: Plan, results: Mapping[Statistic, Result]) -> ResultTable | None:
    """The table among the results, as the question shows it; a plan that has one has nothing else."""
    found = next((each for each in results.values() if isinstance(each, ResultTable)), None)
    return found if found is None or plan.view is None else plan.view.adapt(found)


def find_estimates(results: Mapping[Statistic, Result]) -> dict[Statistic, Estimate]:
    """The results with one number a cell."""
    return {statistic: each for statistic, each in results.items() if isinstance(each, Estimate)}
