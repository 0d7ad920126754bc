"""The grid integer of a number, as SQL that computes `Numbers.grid` to the last bit on every value.

`Numbers.grid` clamps in doubles, rounds by floor(x / step + 0.5), and clamps again in integers. That rounding never
falls as x rises, because IEEE division, addition and floor do not; so the two clamps are one, at the doubles where it
enters and leaves the range of grid integers. One CASE does both. Proof: docs/proofs/grid.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import floor, inf, nextafter

from adomnia.engines.render.constants import NOT_A_NUMBER, double, integer, nearest_double
from adomnia.privacy.domains import Numbers


@dataclass(frozen=True)
class Rounding:
    """`lowest` below `first`, `highest` above `last`, and between them plain rounding, which stays in range there."""

    first: float
    last: float
    lowest: int
    highest: int


@lru_cache(maxsize=1024)
def rounding(domain: Numbers) -> Rounding:
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


def on_grid(value: str, domain: Numbers, *, may_be_nan: bool) -> str:
    """The grid integer of a rendered DOUBLE, NULL for NULL and NaN."""
    limits = rounding(domain)
    # TRY_CAST, although what reaches it always fits: an engine may compute a branch for rows that do not take it.
    width = "BIGINT" if domain.magnitude < 2**63 else "HUGEINT"
    unless_nan = f"WHEN {value} = {NOT_A_NUMBER} THEN NULL " if may_be_nan else ""
    return (
        f"CASE {unless_nan}"
        f"WHEN {value} < {double(limits.first)} THEN {integer(limits.lowest)} "
        f"WHEN {value} > {double(limits.last)} THEN {integer(limits.highest)} "
        f"ELSE TRY_CAST(FLOOR({value} / {double(domain.step)} + 0.5e0) AS {width}) END"
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
