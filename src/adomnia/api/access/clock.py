"""A clock that never goes back, however the machine's clock is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """A clock that is never behind the latest time seen so far, so that what has expired stays expired.

    If the machine's clock was set ahead and back again, waiting for it to catch up would stop the time, and nothing
    would expire: meanwhile time goes on by the monotonic clock, which nobody can set.
    """

    def __init__(self, wall: Callable[[], float], monotonic: Callable[[], float]) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._mark = (wall(), monotonic())  # one value, so that threads see both halves of the same moment

    def now(self, seen: float) -> float:
        """The time, given the latest one that is on record."""
        (latest, then), monotonic = self._mark, self._monotonic()
        time = max(self._wall(), seen, latest + monotonic - then)
        self._mark = (time, monotonic)
        return time
