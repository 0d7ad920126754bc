"""What would be measured of rows that are only supposed: how the errors of methods are known before data is read.

Rows are spread evenly over all groups, and values evenly and independently over their bounds.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np

from adomnia.mechanisms.contract import OfHistogram
from adomnia.methods.analysis import Analysis
from adomnia.noise import Integers
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Call, Expression, Literal
from adomnia.privacy.keys import AnyKey, Bucket
from adomnia.statistics.contract import Floats, Measure, Measured, Result, Round, Statistic

SUPPOSED_ROWS = 1000  # of a cell, where nobody says how many there are
_KEPT = 64  # analyses that are remembered: what they ask for is listed, and their errors are told
_FEWER = 8  # times
_LEAST = 60  # of which a standard deviation is known to a tenth

_IS_QUOTED: ContextVar[bool] = ContextVar("is_quoted", default=False)


def simulate(measure: Measure, rows: int, asked: Round = ()) -> Integers:
    """The integers that would be released without noise, after what was asked before."""
    query, mechanism = measure.query, measure.mechanism
    if isinstance(mechanism, OfHistogram):
        return _repeat(mechanism.spread_evenly(rows), mechanism.shape(query))
    cuts = _find_cuts(query.keys[-1], _list_domains(asked)) if query.keys else None
    if cuts is not None:
        return _repeat(np.rint(cuts * rows / prod(query.shape[:-1])).astype(np.int64), mechanism.shape(query))
    if query.by_block:
        return np.array(query.aggregate.simulate(prod(query.shape)), dtype=np.int64)
    inside = Fraction(rows, max(1, prod(query.shape)))
    values = np.array([round(each) for each in query.aggregate.spread_evenly(inside)], dtype=object)
    exact = values.astype(np.int64) if all(abs(each) < 2**63 for each in values.flat) else values
    shape = mechanism.shape(query)
    return _repeat(exact.reshape(()) if exact.size == 1 else exact, shape)


@lru_cache(maxsize=_KEPT)
def drive(analysis: Statistic, price: Price, rows: int) -> tuple[Round, Result]:
    """All measures that an analysis of so many supposed rows asks for, and its result."""
    foreseen = analysis.expected_result(price, rows) if isinstance(analysis, Analysis) else None
    if foreseen is not None:
        return analysis.planned_measures(price), foreseen
    flow = analysis.steps(price)
    with np.errstate(all="ignore"), simulate_less():
        asked = measures = next(flow)
        while True:
            try:
                supposed = (simulate(each, rows, asked) for each in measures)
                measures = flow.send(tuple(map(Measured, supposed, (each.mechanism for each in measures))))
            except StopIteration as end:
                return asked, end.value
            asked += measures


def _repeat(values: Integers, shape: tuple[int, ...]) -> Integers:
    """The same in every cell, before whose axes several numbers have none."""
    repeated: Integers = np.broadcast_to(values, shape).copy()  # type: ignore[assignment]  # of the same type
    return repeated


def _list_domains(asked: Round) -> dict[Expression, Numbers]:
    """The grids that values were chosen from, by what they were values of."""
    histograms = (each.query.histogram for each in asked if each.query.form == "histogram")
    return {each.value: each.domain for each in histograms}


def _find_cuts(key: AnyKey, domains: Mapping[Expression, Numbers]) -> Floats | None:
    """The shares of evenly spread values that lie between cuts, if the key cuts one that was chosen from before.

    What is cut apart in every group is cut alike in all of them, because all are supposed to be alike.
    """
    found = key.value if isinstance(key, Bucket) else key
    while isinstance(found, Call) and found.function == "case" and isinstance(found.arguments[1], Call):
        found = found.arguments[1]
    if not isinstance(found, Call) or found.function != "case":
        return None
    conditions = [each for each in found.arguments[:-1:2] if isinstance(each, Call) and each.function == "<"]
    limits = [each.arguments[1].value for each in conditions if isinstance(each.arguments[1], Literal)]
    domain = domains.get(conditions[0].arguments[0]) if limits else None
    if domain is None:
        return None
    places = np.array([float(Fraction(limit) / domain.step) for limit in limits])  # type: ignore[arg-type]  # numbers
    ends = domain.grid_lower - 0.5, domain.grid_upper + 0.5
    edges = np.clip([ends[0], *places, ends[1]], *ends)
    return np.asarray(np.diff(edges) / (ends[1] - ends[0]))


@contextmanager
def simulate_less() -> Iterator[None]:
    """Within it, errors to expect are computed, and nothing that anybody is told as a result."""
    before = _IS_QUOTED.set(True)
    try:
        yield
    finally:
        _IS_QUOTED.reset(before)


def count_simulations(usual: int, least: int = _LEAST) -> int:
    """How many simulations are made of what is usually simulated so often.

    >>> with simulate_less():
    ...     count_simulations(1000), count_simulations(1000, least=400)
    (125, 400)
    >>> count_simulations(1000)
    1000
    """
    return max(min(usual, least), usual // _FEWER) if _IS_QUOTED.get() else usual
