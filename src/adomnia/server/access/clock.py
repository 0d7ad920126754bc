"""Time that never goes back, whatever is done to the machine's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Clock"]


class Clock:
    """At least the latest time that anybody has seen, so that what has expired stays expired.

    A clock that was moved ahead and back again would make time stand still, and nothing would expire any more: while
    it is behind, time goes on by the steady clock, which nobody can set.
    """

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._wall, self._steady = wall, steady
        self._mark = (wall(), steady())  # one value, so that threads see both halves of the same moment

    def now(self, seen: float) -> float:
        """The time, given the latest one that is on record."""
        (latest, then), steady = self._mark, self._steady()
        time = max(self._wall(), seen, latest + steady - then)
        self._mark = (time, steady)
        return time
