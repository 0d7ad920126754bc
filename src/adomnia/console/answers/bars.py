"""The picture of one interval: where it begins and ends on the axis of its column, and where the noisy value is."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.console.answers.scales import IntervalScale


@dataclass(frozen=True)
class Bar:
    """Shares of the axis. Where an interval goes beyond it there is an arrow, and no dot where the value does.

    `void`: it says nothing. `hollow`: no difference is possible. `beyond`: no part of it is on the axis.
    """

    left: float = 0.0
    middle: float = 0.0
    right: float = 1.0
    dot: bool = True
    more_left: bool = False
    more_right: bool = False
    hollow: bool = False
    void: bool = False
    beyond: bool = False

    @property
    def left_half(self) -> float:
        """How long the part below the value is."""
        return max(self.middle - self.left, 0.0)

    @property
    def right_half(self) -> float:
        """How long the part above the value is."""
        return max(self.right - self.middle, 0.0)


VOID = Bar(void=True, dot=False)


def draw_bar(scale: IntervalScale, value: float, lower: float, upper: float, *, hollow: bool = False) -> Bar:
    """The bar of a value on the axis of its column."""
    low, high = (end if isfinite(end) else edge for end, edge in ((lower, scale.lower), (upper, scale.upper)))
    left, right = scale.share(low), scale.share(high)
    return Bar(
        left=left,
        middle=min(max(scale.share(value), left), right),
        right=right,
        dot=scale.lower <= value <= scale.upper,
        more_left=lower < scale.lower,
        more_right=upper > scale.upper,
        hollow=hollow,
        beyond=lower > scale.upper or upper < scale.lower,
    )
