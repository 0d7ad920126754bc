"""How fast anybody may ask: a bucket of tokens each, filled by the clock."""

from __future__ import annotations

import math
from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING

from adomnia.server.later import Later

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Rates"]

_MOST_KEYS = 10_000


class Rates:
    """`rate` requests a second for each key, and `burst` of them at once.

    Who was not heard of for longest is forgotten first: by then their bucket is as good as full again.
    """

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = monotonic, most_keys: int = _MOST_KEYS
    ) -> None:
        self._rate, self._burst, self._clock, self._most_keys = rate, burst, clock, most_keys
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        """One token of this key's bucket, or Later with the seconds until there is one."""
        now = self._clock()
        tokens, filled = self._buckets.pop(key, (float(self._burst), now))
        tokens = min(float(self._burst), tokens + (now - filled) * self._rate)
        enough = tokens >= 1
        self._buckets[key] = (tokens - enough, now)
        if len(self._buckets) > self._most_keys:
            self._buckets.popitem(last=False)
        if not enough:
            seconds = max(1, math.ceil((1 - tokens) / self._rate))
            raise Later("Your requests", "come faster than this server takes them", seconds, code="too_fast")
