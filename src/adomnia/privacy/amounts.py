"""Exact numbers: what people write is read exactly, and what the ledger counts are whole decimal units."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral
from typing import SupportsIndex, TypeAlias

Number: TypeAlias = SupportsIndex | float | Fraction | Decimal

EPSILON_UNIT = Fraction(1, 10**12)  # what ledgers count epsilon and rho in
DELTA_UNIT = Fraction(1, 10**30)  # what ledgers count delta in

_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -300, 300
_FEW_BITS = 990  # quotients of such integers lie between 2**-990 and 2**990, which is within the above
_FEW = 2**_FEW_BITS
_SMALLEST, _LARGEST = Fraction(1, 10**300), Fraction(10**300)


def exact(value: Number, owner: str, field: str) -> Fraction:
    """The number that was written, or a ValueError that names class, field, rule and value.

    >>> exact(0.1, "Pure", "epsilon")
    Fraction(1, 10)
    """
    if type(value) is Fraction and _is_plain(value):
        return value
    if type(value) is int and value.bit_length() <= _FEW_BITS:
        return Fraction(value)
    number = _read(value)
    if number is None:
        raise ValueError(f"{owner} {field} must be a finite number, got {value!r}.")
    # Before anything is converted: Decimal("1e-999999999") is a short text but a Fraction of a billion digits.
    if not _of_sensible_size(number):
        raise ValueError(f"{owner} {field} must be 0 or between 1e-300 and 1e300 in size, got {value}.")
    return Fraction(number)


def positive(value: Number, owner: str, field: str) -> Fraction:
    """An exact number above zero."""
    number = exact(value, owner, field)
    if number.numerator <= 0:
        raise ValueError(f"{owner} {field} must be > 0, got {value}.")
    return number


def proportion(value: Number, owner: str, field: str) -> Fraction:
    """An exact number in [0, 1): what a delta may be."""
    number = exact(value, owner, field)
    if not 0 <= number < 1:
        raise ValueError(f"{owner} {field} must be >= 0 and < 1, got {value}.")
    return number


def whole(value: Number, owner: str, field: str) -> int:
    """A whole number of at least one: how many, or how far an integer moves."""
    if type(value) is int and 1 <= value < _FEW:
        return value
    number = exact(value, owner, field)
    if number < 1 or number.denominator != 1:
        raise ValueError(f"{owner} {field} must be a whole number >= 1, got {value}.")
    return int(number)


def round_up(amount: Fraction, unit: Fraction) -> int:
    """The least number of units that is at least the amount: how spends are counted."""
    # In integers: Fractions take nine calls for it, and every payment rounds a dozen amounts.
    numerator, denominator = amount.as_integer_ratio()
    units, parts = unit.as_integer_ratio()
    return -(-numerator * parts // (denominator * units))


def round_down(amount: Fraction, unit: Fraction) -> int:
    """The greatest number of units that is at most the amount: how budgets are counted."""
    numerator, denominator = amount.as_integer_ratio()
    units, parts = unit.as_integer_ratio()
    return numerator * parts // (denominator * units)


def show_up(amount: Fraction) -> str:
    """Six significant digits for the reader, never less than the amount."""
    return _shown(amount, ROUND_CEILING)


def show_down(amount: Fraction) -> str:
    """Six significant digits for the reader, never more than the amount."""
    return _shown(amount, ROUND_FLOOR)


def _read(value: object) -> Fraction | Decimal | None:
    match value:
        case bool():
            return None
        case Fraction():
            # Rebuilt, because a Fraction of NumPy integers would wrap in the first large product.
            return Fraction(int(value.numerator), int(value.denominator))
        case Integral():
            return Fraction(int(value))
        case float() if isfinite(value):
            # The shortest decimal that reads back as this float is what somebody typed: 0.1 means a tenth.
            return Fraction(float.__repr__(value))
        case Decimal() if value.is_finite():
            return value
    return None


def _is_plain(value: Fraction) -> bool:
    """Whether a Fraction of Python's integers is surely of a sensible size: most are, and nothing has to be rebuilt."""
    numerator, denominator = value.as_integer_ratio()
    plain = type(numerator) is int and type(denominator) is int
    return plain and numerator.bit_length() <= _FEW_BITS and denominator.bit_length() <= _FEW_BITS


def _of_sensible_size(number: Fraction | Decimal) -> bool:
    if not number:
        return True
    if isinstance(number, Decimal):
        return _SMALLEST_EXPONENT <= number.adjusted() < _LARGEST_EXPONENT
    return _SMALLEST <= abs(number) <= _LARGEST


def _shown(amount: Fraction, rounding: str) -> str:
    context = Context(prec=6, rounding=rounding)
    rounded = context.divide(amount.numerator, amount.denominator).normalize(context)
    return f"{rounded:f}" if -6 <= rounded.adjusted() <= 15 else f"{rounded:e}"
