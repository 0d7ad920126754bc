"""Differences as columns: of two columns of a row, of a column and a number, and how large they are."""

from fractions import Fraction
from math import gcd, lcm

from adomnia.methods.contract import NumberColumn
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import call, number

_MOST_STEPS = 2**30  # of a difference: what is measured of it is rounded to about so many


def subtract(column: NumberColumn, other: NumberColumn) -> NumberColumn:
    """The difference of two columns of a row, on the finer grid of both: that of whole numbers alone would round it."""
    lower = column.domain.lower - other.domain.upper
    upper = column.domain.upper - other.domain.lower
    step, coarser = sorted((column.domain.step, other.domain.step))
    while step < coarser and upper - lower > _MOST_STEPS * step:
        step = min(2 * step, coarser)
    return NumberColumn(
        f"{column.name} - {other.name}", call("-", column.value, other.value), Numbers(lower, upper, step)
    )


def subtract_number(column: NumberColumn, mu: Fraction) -> NumberColumn:
    """How far a column is above a number, on a grid that has this number too, unless that would be too fine."""
    lower, upper, step = column.domain.lower - mu, column.domain.upper - mu, column.domain.step
    below = lcm(step.denominator, mu.denominator)
    both = Fraction(gcd(int(step * below), int(mu * below)), below)
    step = both if upper - lower <= _MOST_STEPS * both else step
    value = column.value if mu == 0 else call("-", column.value, number(mu))
    name = column.name if mu == 0 else f"{column.name} - {float(mu):g}"
    return NumberColumn(name, value, Numbers(lower, upper, step))


def size_of(difference: NumberColumn) -> NumberColumn:
    """How large a difference is, whatever its sign."""
    domain = difference.domain
    lower, upper = domain.lower, domain.upper
    least = Fraction(0) if lower <= 0 <= upper else min(abs(lower), abs(upper))
    sizes = Numbers(least, max(abs(lower), abs(upper)), domain.step)
    return NumberColumn(f"size of {difference.name}", call("abs", difference.value), sizes)
