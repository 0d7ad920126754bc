"""What would be measured of rows that are only supposed: how the errors of methods are known before data is read.

Rows are spread evenly over all cells, and values evenly and independently over their bounds.
"""

from fractions import Fraction
from math import prod

import numpy as np

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.noise import Integers
from adomnia.privacy.aggregates import Aggregate, Total
from adomnia.privacy.matrices import Combination
from adomnia.privacy.polynomials import Polynomial
from adomnia.privacy.vectors import Vector
from adomnia.statistics.contract import Measure


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


def _repeat(values: Integers, shape: tuple[int, ...]) -> Integers:
    """The same in every cell, before whose axes several numbers have none."""
    repeated: Integers = np.broadcast_to(values, shape).copy()  # type: ignore[assignment]  # of the same type
    return repeated


def _sums(aggregate: Aggregate, rows: Fraction) -> list[Fraction]:
    match aggregate:
        case Vector(variables=variables, entries=entries):
            widths = [each.domain.width for each in variables]
            absent = [Fraction(0)] * bool(aggregate.absent)
            return [rows * _mean(entry, widths) for entry in entries] + absent
        case Combination():
            return [Fraction(each) for each in aggregate.suppose(round(rows))]
        case Total(domain=domain, centre=centre):
            return [rows * (Fraction(domain.grid_lower + domain.grid_upper, 2) - centre)]
    return [rows]


def _mean(polynomial: Polynomial, widths: list[int]) -> Fraction:
    """The mean of a polynomial where each variable is spread evenly between 0 and its width."""
    terms = (
        coefficient
        * prod(
            (Fraction(width**power, power + 1) for width, power in zip(widths, exponents, strict=True)),
            start=Fraction(1),
        )
        for coefficient, exponents in polynomial.terms
    )
    return sum(terms, Fraction(0))
