"""P-values that are so small that only a bound of them is known."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context
from typing import Self

from adomnia.statistics.contract import Fact

LEAST = 1e-4  # what the distributions of noisy statistics are trusted to, and 9,999 simulations can tell
EXPLAINED = "< 0.0001 is a bound"


class AtMost(float):
    """A p-value that is too small to be told: it is below its floor, and the number itself says no more than that.

    >>> bound_p_value(3e-17).floor, bound_p_value(1 / 401, 1 / 401).floor, bound_p_value(0.03)
    (0.0001, 0.0025, 0.03)
    """

    floor: float

    def __new__(cls, value: float, floor: float) -> Self:
        found = super().__new__(cls, value)
        found.floor = floor
        return found


def bound_p_value(value: float, least: float = LEAST) -> float:
    """The p-value; one that is not above the least that can be told has that as its floor, rounded up to two digits."""
    if value > least:
        return value
    digits = Context(prec=2, rounding=ROUND_CEILING)
    return AtMost(value, float(digits.create_decimal(repr(round(least, 12)))))


def bound_p_values(values: Sequence[Fact]) -> tuple[Fact, ...]:
    """The same of a column; None where it is not estimable."""
    return tuple(bound_p_value(value) if isinstance(value, float) else value for value in values)


def say_p_value(value: float) -> str:
    """The p-value in a sentence.

    >>> say_p_value(3e-17), say_p_value(0.0312)
    ('p-value < 0.0001', 'p-value 0.0312')
    """
    bounded = bound_p_value(value)
    return f"p-value < {bounded.floor:g}" if isinstance(bounded, AtMost) else f"p-value {value:.3g}"


def find_floor(values: Sequence[Fact]) -> float | None:
    """The floor that some values of a column are below, if any is: the largest, where groups have one each."""
    return max((value.floor for value in values if isinstance(value, AtMost)), default=None)
