"""Which whole numbers an expression can be, from its bounds and from what it is a multiple of."""

from fractions import Fraction
from math import gcd

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Expression, Literal
from adomnia.privacy.kinds import Quantity

_EXACT = 2**53  # up to here every integer is a double, hence a value of its own


def find_whole_numbers(value: Expression, most: int) -> Numbers | None:
    """Whole numbers between bounds, in the largest steps that all of them are multiples of, if there are few enough."""
    match value.kind:
        case Quantity(lower=Fraction() as lower, upper=Fraction() as upper, whole=True):
            step = _stride(value) or 1
            first, last = lower // step, -(-upper // step)
            near = max(-lower, upper) <= _EXACT
            return Numbers(first * step, last * step, step) if near and last - first < most else None
    return None


def _stride(value: Expression) -> int:
    """A number that divides every value of an expression; 0 divides only 0."""
    match value:
        case Literal(value=Fraction(numerator=constant, denominator=1)):
            return abs(constant)
        case Call(function="+" | "-", arguments=(left, right)):
            return gcd(_stride(left), _stride(right))
        case Call(function="*", arguments=(left, right)):
            return _stride(left) * _stride(right)
        case Call(function="negative", arguments=(inner,)):
            return _stride(inner)
    return 1
