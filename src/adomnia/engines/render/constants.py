"""Numbers written as SQL."""

from fractions import Fraction
from math import isfinite
from sys import float_info

from adomnia.engines.dialect import Dialect


def double(value: Fraction | float, dialect: Dialect) -> str:
    """A finite number as a literal that is read as exactly this double; beyond their range, as the last of them."""
    nearest = value if isinstance(value, float) else nearest_double(value)
    if not isfinite(nearest):
        raise ValueError(f"SQL number must be finite, got {nearest}.")
    digits = repr(nearest)
    # With an exponent in every case: without one, a literal is a decimal, whose conversion rounds a second time.
    text = dialect.double.format(digits if "e" in digits else f"{digits}e0")
    return f"({text})" if text.startswith("-") else text


def integer(value: int) -> str:
    """A whole number."""
    return f"({value})" if value < 0 else str(value)


def nearest_double(value: Fraction) -> float:
    """The double nearest to a fraction, and the last finite one for fractions beyond."""
    try:
        return float(value)
    except OverflowError:
        return float_info.max if value > 0 else -float_info.max
