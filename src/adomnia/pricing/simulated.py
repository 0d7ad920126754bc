"""What would be estimated of rows that are only supposed: how errors are known before any data is read."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf, isnan, prod
from typing import Any

import numpy as np

from adomnia.mechanisms.contract import OfHistogram
from adomnia.methods.simulation import SUPPOSED_ROWS, drive
from adomnia.noise import Integers
from adomnia.plans.columns import find_estimates
from adomnia.plans.formulas import Term, WindowFunction, is_linear, statistics_of
from adomnia.plans.intervals import estimate_term, find_line
from adomnia.plans.plan import Plan, RowFilter, RowLimit
from adomnia.pricing.parts import split_price
from adomnia.privacy.events import Price
from adomnia.privacy.keys import key_cells
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Estimate, Measure, Measured, Result, ResultTable, Statistic
from adomnia.statistics.count import is_parted
from adomnia.statistics.linear import Ring, linear
from adomnia.statistics.summed import part_of
from adomnia.work import spend

_STEPS_OF_A_QUERY = 10
_STEPS_OF_AN_INTERVAL = 40  # for each query that it follows from
_TIMES_OF_A_SUM = 3  # as many steps: the distribution of a sum of many noises is found by search


class Simulated:
    """What would be estimated in a cell of so many rows, all values in the middle of their bounds, without noise."""

    def __init__(self, plan: Plan, price: Price, rows: int = SUPPOSED_ROWS) -> None:
        self.rows, self._plan = rows, plan
        self._paid = dict(zip(plan.statistics, split_price(plan, price), strict=True))
        self._measured: dict[int, dict[Measure, Measured]] = {}  # what two statistics share has one noise
        self._known: dict[tuple[Statistic, int], Result] = {}

    @property
    def groupings(self) -> list[int]:
        """Of how many groups each grouping is made."""
        return count_added_groups(self._plan)

    def needs_rows(self, source: Term) -> bool:
        """Whether the error depends on how many rows there are, as it does not for sums of noisy integers."""
        found = [self.result(part, self.rows) for part in statistics_of(source)]
        return not is_linear(source) or not all(isinstance(each, Estimate) and each.parts for each in found)

    def estimate(self, source: Term, rows: int | None = None, groups: int = 1) -> Estimate:
        """The estimate of one number where there are that many rows, or that many in each of so many groups."""
        many = self.rows if rows is None else rows
        results = {part: self.result(part, many) for part in statistics_of(source)}
        return estimate_term(source, SimulatedCells(self._plan, find_estimates(results), groups))

    def error(self, source: Term, confidence: float, cells: int = 1, groups: int = 1) -> float:
        """Half the width of the interval that the output itself would have; infinite where nothing is known."""
        return self.half_width(source, self.rows if self.needs_rows(source) else 0, confidence, cells, groups)

    def largest_error(self, source: Term, rows: int, confidence: float) -> float:
        """The same where there are that many rows, of whichever grouping has the largest."""
        return max(self.half_width(source, rows, confidence, 1, groups) for groups in self.groupings)

    def half_width(self, source: Term, rows: int, confidence: float, cells: int = 1, groups: int = 1) -> float:
        """The same where there are that many rows in each group."""
        estimate = self.estimate(source, rows, groups)
        queries = sum(len(each.queries) for each in statistics_of(source))
        spend(_STEPS_OF_AN_INTERVAL * queries * (_TIMES_OF_A_SUM if groups > 1 else 1))
        with np.errstate(all="ignore"):
            lower, upper = estimate.interval(confidence, cells)
            width = float(upper - lower) / 2
        return inf if isnan(width) else width  # of what is beyond doubles nothing is known

    def result(self, statistic: Statistic, rows: int) -> Result:
        """What a statistic would return."""
        if (statistic, rows) not in self._known:
            spend(count_steps(statistic))
            paid = self._paid[statistic]
            if (view := self._plan.view) is not None:  # a method, which is alone in its plan
                found = drive(*paid, rows)[1]  # type: ignore[arg-type]  # it is hashed by its fields
                self._known[statistic, rows] = view.adapt(found) if isinstance(found, ResultTable) else found
            else:
                with np.errstate(all="ignore"):
                    self._known[statistic, rows] = _drive(*paid, rows, self._measured.setdefault(rows, {}))
        return self._known[statistic, rows]


class SimulatedCells(dict[Any, Estimate]):
    """One supposed cell, or the sum of so many `groups` of them, and what would be computed with others like it."""

    def __init__(self, plan: Plan, estimates: Mapping[Statistic, Estimate], groups: int = 1) -> None:
        super().__init__(
            estimates if groups == 1 else {each: _times(found, groups) for each, found in estimates.items()}
        )
        self._plan = plan

    def __missing__(self, leaf: Term) -> Estimate:
        if isinstance(leaf, WindowFunction) and leaf.function in ("sum", "avg") and not self._are_chosen(leaf.stage):
            self[leaf] = self._total(leaf)
        else:  # a condition of keys, or what depends on how other rows compare
            self[leaf] = _unknown()
        return self[leaf]

    def _are_chosen(self, stage: int) -> bool:
        """Whether noisy values choose the rows that a total is of."""
        before = self._plan.choices[:stage]
        by_value = (any(True for _ in statistics_of(each.condition)) for each in before if isinstance(each, RowFilter))
        return any(by_value) or any(isinstance(each, RowLimit) for each in before)

    def _total(self, over: WindowFunction) -> Estimate:
        line = find_line(over.terms[0], self)
        groups = prod(len(key_cells(key)) for key in self._plan.keys if key not in over.keys)
        if line is None or not line.parts or line.constant:
            return _unknown()
        share = Fraction(1, groups) if over.function == "avg" else Fraction(1)
        parts = [(measured, factor * share) for measured, factor in line.parts.values()]
        if groups > 1:
            ring = Ring(None, frozenset(over.keys), over.stage)
            parts += [(_ring(measured, groups - 1, ring), factor) for measured, factor in parts]
        return replace(linear(tuple(parts), "sum of groups"), unsigned=line.parts.keys() <= line.unsigned)


def count_added_groups(plan: Plan) -> list[int]:
    """Of how many groups each grouping adds up what was measured; of one, where there is one grouping alone."""
    sizes = [prod(len(key_cells(key)) for key in plan.keys if key not in kept) for kept in (plan.sets or (plan.keys,))]
    return sorted(set(sizes))


def _times(estimate: Estimate, groups: int) -> Estimate:
    assert estimate.again is not None  # noqa: S101 - nothing else is added up over keys
    return estimate.again(lambda measured: _ring(measured, groups, "over"))


def _ring(measured: Measured, groups: int, name: Hashable) -> Measured:
    return part_of(measured, np.asarray(measured.values * groups), groups, name)


def _unknown() -> Estimate:
    return Estimate(np.asarray(0.0), lambda _confidence, _cells: (np.asarray(-np.inf), np.asarray(np.inf)), "not known")


def count_steps(statistic: Statistic) -> int:
    """How many steps it takes to suppose a result."""
    return _STEPS_OF_A_QUERY * sum(map(_count_values, statistic.queries))


def _count_values(query: Query) -> int:
    """How many numbers are supposed of a query: of a histogram, one for each value that is chosen and one for all."""
    return 1 + len(query.histogram.shares) if query.form == "histogram" else 1


def _drive(statistic: Statistic, price: Price, rows: int, measured: dict[Measure, Measured]) -> Result:
    flow = statistic.steps(price)
    asked = next(flow)
    simulate = getattr(statistic, "simulate", _simulate)  # some suppose rows that are spread over all values
    while True:
        for measure in asked:
            if measure not in measured:
                measured[measure] = Measured(simulate(measure, rows), measure.mechanism)
        try:
            asked = flow.send(tuple(measured[measure] for measure in asked))
        except StopIteration as end:
            result: Result = end.value
            return result


def _simulate(measure: Measure, rows: int) -> Integers:
    """What would be released without noise."""
    query, mechanism = measure.query, measure.mechanism
    # Of values that all lie in the middle, no rank would be off.
    if isinstance(mechanism, OfHistogram):
        return mechanism.spread_evenly(rows)
    inside = _integers(rows if query.by_block else query.aggregate.simulate(rows))
    if not is_parted(query):
        return inside
    # All rows lie in one cell, but for the keys that a statistic has added itself: those stay, the first of them full.
    parted: Integers = np.stack([inside, np.zeros_like(inside)])  # type: ignore[assignment]  # both of one type
    return parted


def _integers(values: int | list[int]) -> Integers:
    """An array of just these integers: left to itself, NumPy makes doubles of those that 64 bits do not hold."""
    exact = np.array(values, dtype=object)
    return exact.astype(np.int64) if all(abs(value) < 2**63 for value in exact.flat) else exact
