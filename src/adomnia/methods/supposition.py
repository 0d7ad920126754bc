"""What would be measured of rows that are only supposed: how the errors of methods are known before data is read.

Rows are spread evenly over all cells, and values evenly and independently over their bounds.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm, prod

import numpy as np

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.methods.simulations import simulate_less
from adomnia.noise import Integers
from adomnia.privacy.aggregates import Aggregate, Total
from adomnia.privacy.events import Price
from adomnia.privacy.matrices import Combination
from adomnia.privacy.polynomials import Polynomial
from adomnia.privacy.vectors import Vector
from adomnia.statistics.contract import Measure, Measured, Result, Round, Statistic

SUPPOSED_ROWS = 1000  # of a cell, where nobody says how many there are
_KEPT = 64  # analyses that are remembered: what they ask for is listed, and their errors are told


def suppose(measure: Measure, rows: int) -> Integers:
    """The integers that would be released without noise."""
    query, mechanism = measure.query, measure.mechanism
    if isinstance(mechanism, Quantiles | Halving | Brackets):
        return _repeat(mechanism.spread_evenly(rows), mechanism.shape(query))
    inside = Fraction(rows, max(1, prod(query.shape)))
    values = np.array([round(each) for each in _sums(query.aggregate, inside)], dtype=object)
    exact = values.astype(np.int64) if all(abs(each) < 2**63 for each in values.flat) else values
    shape = mechanism.shape(query)
    return _repeat(exact if isinstance(query.aggregate, Vector | Combination) else exact.reshape(()), shape)


@lru_cache(maxsize=_KEPT)
def drive(analysis: Statistic, price: Price, rows: int) -> tuple[Round, Result]:
    """All measures that an analysis of so many supposed rows asks for, and its result."""
    flow = analysis.steps(price)
    with np.errstate(all="ignore"), simulate_less():
        asked = measures = next(flow)
        while True:
            try:
                measures = flow.send(tuple(Measured(suppose(each, rows), each.mechanism) for each in measures))
            except StopIteration as end:
                return asked, end.value
            asked += measures


def _repeat(values: Integers, shape: tuple[int, ...]) -> Integers:
    """The same in every cell, before whose axes several numbers have none."""
    repeated: Integers = np.broadcast_to(values, shape).copy()  # type: ignore[assignment]  # of the same type
    return repeated


def _sums(aggregate: Aggregate, rows: Fraction) -> list[Fraction]:
    match aggregate:
        case Vector(variables=variables, entries=entries):
            widths = [each.domain.width for each in variables]
            absent = [Fraction(0)] * bool(aggregate.absent)
            return [rows * mean for mean in _list_means(entries, widths)] + absent
        case Combination():
            return [Fraction(each) for each in aggregate.suppose(round(rows))]
        case Total(domain=domain, centre=centre):
            return [rows * (Fraction(domain.grid_lower + domain.grid_upper, 2) - centre)]
    return [rows]


def _list_means(polynomials: Sequence[Polynomial], widths: Sequence[int]) -> list[Fraction]:
    """The means of polynomials where each variable is spread evenly between 0 and its width."""
    every = {exponents for polynomial in polynomials for _, exponents in polynomial.terms}
    below = {exponents: prod(power + 1 for power in exponents) for exponents in every}
    whole = lcm(*below.values())
    means = {exponents: prod(map(pow, widths, exponents)) * whole // below[exponents] for exponents in every}
    sums = (sum(many * means[exponents] for many, exponents in polynomial.terms) for polynomial in polynomials)
    return [Fraction(each, whole) for each in sums]
