"""Rigorous rational bounds on exp, ln and sqrt; docs/proofs/enclosures.md.

Two facts carry everything: `decimal` returns exp and ln correctly rounded, so the truth lies strictly between the two
neighbours of the result; and each function is increasing, so an argument rounded one way gives a bound on that side.
"""

from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction
from functools import lru_cache

_LARGEST_EXPONENT = 10_000  # beyond e**10000 a bound says nothing about privacy and only fills memory
_GUARD_DIGITS = 5
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)  # only ever moves the point, so it never rounds


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers lo <= 2**bits * exp(x) <= hi, at most 2 apart when x <= 0.

    >>> exp_bounds(Fraction(-1), 16)
    (24109, 24110)
    """
    numerator, denominator = x.numerator, x.denominator
    if numerator == 0:
        return 1 << bits, 1 << bits
    if numerator < -bits * denominator:
        return 0, 1
    if numerator > _LARGEST_EXPONENT * denominator:
        raise ValueError(f"exp_bounds x must be <= {_LARGEST_EXPONENT}, got {x}.")
    # D digits after the point of x and D + 1 in each result keep the relative error below 2.1 * 10**-D. Since 0.30103 >
    # log10(2) and 1 > log10(e), that is less than a thousandth in the answer: docs/proofs/enclosures.md.
    digits = bits * 30103 // 100_000 + _GUARD_DIGITS + max(0, -(-numerator // denominator))
    context = _context(digits + 1)
    argument = Decimal(numerator * 10**digits // denominator).scaleb(-digits, _EXACT)
    thousandths = int(context.multiply(context.exp(argument), 1000 << bits))
    return max(0, (thousandths - 1) // 1000), -(-(thousandths + 2) // 1000)


def exp_up(x: Fraction, digits: int = 50) -> Fraction:
    """A rational at or above exp(x).

    >>> float(exp_up(Fraction(1)))
    2.718281828459045
    """
    if x > _LARGEST_EXPONENT:
        raise ValueError(f"exp_up x must be <= {_LARGEST_EXPONENT}, got {float(x)}.")
    return _exp(-(-max(x, Fraction(-_LARGEST_EXPONENT)) * 10**digits // 1), digits, up=True)


def exp_down(x: Fraction, digits: int = 50) -> Fraction:
    """A rational at or below exp(x), never negative."""
    if x < -_LARGEST_EXPONENT:
        return Fraction(0)
    return _exp(min(x, Fraction(_LARGEST_EXPONENT)) * 10**digits // 1, digits, up=False)


def ln_up(x: Fraction, digits: int = 50) -> Fraction:
    """A rational at or above ln(x)."""
    return _ln(_positive(x, "ln_up"), digits, up=True)


def ln_down(x: Fraction, digits: int = 50) -> Fraction:
    """A rational at or below ln(x)."""
    return _ln(_positive(x, "ln_down"), digits, up=False)


def sqrt_up(x: Fraction, digits: int = 50) -> Fraction:
    """The least decimal of that many digits at or above sqrt(x); exact where it can be.

    >>> sqrt_up(Fraction(9, 4))
    Fraction(3, 2)
    """
    root = _root(x, "sqrt_up", digits)
    return _rational(root if _rational(root) ** 2 >= x else _context(digits).next_plus(root))


def sqrt_down(x: Fraction, digits: int = 50) -> Fraction:
    """The greatest decimal of that many digits at or below sqrt(x); exact where it can be."""
    root = _root(x, "sqrt_down", digits)
    return _rational(root if _rational(root) ** 2 <= x else _context(digits).next_minus(root))


@lru_cache(maxsize=256)
def _context(digits: int, rounding: str = ROUND_HALF_EVEN) -> Context:
    traps = [InvalidOperation, DivisionByZero, Overflow]
    return Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=traps)


def _exp(argument: int, digits: int, *, up: bool) -> Fraction:
    if argument == 0:
        return Fraction(1)
    context = _context(digits)
    nearest = context.exp(Decimal(argument).scaleb(-digits, _EXACT))
    bound = _rational(context.next_plus(nearest) if up else context.next_minus(nearest))
    # exp(0) is given exactly, so its neighbours must not step over 1.
    return min(bound, Fraction(1)) if argument < 0 else max(bound, Fraction(1))


def _ln(x: Fraction, digits: int, *, up: bool) -> Fraction:
    argument = _context(digits, ROUND_CEILING if up else ROUND_FLOOR).divide(x.numerator, x.denominator)
    if argument == 1:  # the only rational whose logarithm is rational; the neighbour of zero has a billion digits
        return Fraction(0)
    context = _context(digits)
    nearest = context.ln(argument)
    return _rational(context.next_plus(nearest) if up else context.next_minus(nearest))


def _root(x: Fraction, name: str, digits: int) -> Decimal:
    if x < 0:
        raise ValueError(f"{name} x must be >= 0, got {x}.")
    quotient = _context(digits + _GUARD_DIGITS).divide(x.numerator, x.denominator)
    return _context(digits).sqrt(quotient)


def _positive(x: Fraction, name: str) -> Fraction:
    if x <= 0:
        raise ValueError(f"{name} x must be > 0, got {x}.")
    return x


def _rational(decimal: Decimal) -> Fraction:
    return Fraction(*decimal.as_integer_ratio())
