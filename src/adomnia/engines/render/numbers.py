"""Numbers as SQL: constants, and grid integers that agree with `Numbers.grid` to the last bit on every value.

`Numbers.grid` clamps in doubles, rounds by floor(x / step + 0.5), and clamps again in integers. That rounding never
falls as x rises, because IEEE division, addition and floor do not; so the two clamps are one, at the doubles where it
enters and leaves the range of grid integers. One CASE does both. Proof: docs/proofs/grid.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor, inf, isfinite, nextafter
from sys import float_info

from adomnia.engines.dialect import Dialect
from adomnia.privacy.domains import Numbers


@dataclass(frozen=True)
class Rounding:
    """`lowest` below `first`, `highest` above `last`, and between them plain rounding, which stays in range there."""

    first: float
    last: float
    lowest: int
    highest: int


@lru_cache(maxsize=1024)
def find_rounding(domain: Numbers) -> Rounding:
    """Where the clamps of a domain begin and end."""
    lower, upper, step = (nearest_double(bound) for bound in (domain.lower, domain.upper, domain.step))

    def reaches(x: float) -> bool:
        return floor(x / step + 0.5) >= domain.grid_lower

    def exceeds(x: float) -> bool:
        return floor(x / step + 0.5) > domain.grid_upper

    return Rounding(
        first=_first_where(reaches, lower, upper),
        last=nextafter(_first_where(exceeds, lower, upper), -inf),
        lowest=_known(domain.grid(lower)),
        highest=_known(domain.grid(upper)),
    )


def render_grid(value: str, domain: Numbers, dialect: Dialect, *, may_be_nan: bool) -> str:
    """The grid integer of a rendered double, NULL for NULL and NaN."""
    limits, types = find_rounding(domain), dialect.types
    unless_nan = f"WHEN {value} = {dialect.not_a_number} THEN NULL " if may_be_nan else ""
    rounding = dialect.fine_rounding if dialect.fine_rounding and domain.step <= 1 else dialect.rounding
    rounded = rounding.format(value, double(domain.step, dialect))
    width = types.long if domain.magnitude <= types.long.largest else types.wide
    return (
        f"CASE {unless_nan}"
        f"WHEN {value} < {double(limits.first, dialect)} THEN {integer(limits.lowest)} "
        f"WHEN {value} > {double(limits.last, dialect)} THEN {integer(limits.highest)} "
        f"ELSE {dialect.fitting(rounded, width.name)} END"
    )


def _first_where(rising: Callable[[float], bool], lower: float, upper: float) -> float:
    """The first double from `lower` where a condition that stays true holds; the one after `upper` if there is none."""
    if rising(lower):
        return lower
    if not rising(upper):
        return nextafter(upper, inf)
    while nextafter(lower, inf) < upper:
        middle = lower + (upper - lower) / 2
        lower, upper = (lower, middle) if rising(middle) else (middle, upper)
    return upper


def _known(grid: int | None) -> int:
    assert grid is not None  # noqa: S101 - only NULL and NaN are on no grid
    return grid


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
