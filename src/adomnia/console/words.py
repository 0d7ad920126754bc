"""How values are written on pages: amounts of budgets, numbers with separators, times, shares."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.privacy.amounts import show_down, show_up

if TYPE_CHECKING:
    from collections.abc import Callable


def show_count(number: float) -> str:
    """A number with separators between thousands.

    >>> show_count(1234567)
    '1,234,567'
    """
    return f"{number:,}"


def percent(share: float) -> str:
    """A share as a length of SVG, which is an attribute and not a style.

    >>> percent(0.125)
    '12.50%'
    """
    return f"{100 * min(max(float(share), 0.0), 1.0):.2f}%"


def show_time(moment: str | None) -> str:
    """A time of the ledger, in UTC, to the minute.

    >>> show_time("2026-11-16T00:37:12.123456+00:00")
    '16 Nov 2026, 00:37'
    """
    return f"{datetime.fromisoformat(moment):%-d %b %Y, %H:%M}" if moment else ""


def _left(amount: Fraction | str) -> str:
    return show_down(Fraction(amount))


def _spent(amount: Fraction | str) -> str:
    return show_up(Fraction(amount))


FILTERS: dict[str, Callable[..., Any]] = {
    "count": show_count,
    "percent": percent,
    "time": show_time,
    "left": _left,
    "spent": _spent,
}
"""The filters of templates. What is left is rounded down, what was spent is rounded up."""
