"""P-values that are so small that only a bound of them is known."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context

from adomnia.statistics.contract import Fact

LEAST = 1e-4  # what the laws of noisy statistics are trusted to, and 9,999 simulations can tell
EXPLAINED = "shown as < 0.0001 where only that bound is known"


class AtMost(float):
    """A p-value of which it is known that it is no more than this number.

    >>> bound_p_value(3e-17), bound_p_value(0.03), bound_p_value(1 / 401, 1 / 401)
    (AtMost(0.0001), 0.03, AtMost(0.0025))
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"AtMost({float(self)!r})"


def bound_p_value(value: float, least: float = LEAST) -> float:
    """The p-value, or that it is at most the least one that can be told, rounded up to two digits."""
    if value > least:
        return value
    digits = Context(prec=2, rounding=ROUND_CEILING)
    return AtMost(digits.create_decimal(repr(round(least, 12))))


def bound_p_values(values: Sequence[Fact]) -> tuple[Fact, ...]:
    """The same of a column; None where there is no reply."""
    return tuple(bound_p_value(value) if isinstance(value, float) else value for value in values)


def find_bound(values: Sequence[Fact]) -> float | None:
    """The bound that some values of a column are at, if any is: the largest, where groups have one each."""
    return max((float(value) for value in values if isinstance(value, AtMost)), default=None)
