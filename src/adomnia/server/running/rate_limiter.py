"""Limits how fast each user or address may send requests, by token buckets."""

from __future__ import annotations

import math
from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING

from adomnia.server.retry import RetryLater

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["RateLimiter"]

_MOST_KEYS = 10_000


class RateLimiter:
    """Allows each key `rate` requests a second, and `burst` of them at once.

    When there are too many keys, the one that was silent for longest is dropped: its bucket is nearly full again.
    """

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = monotonic, most_keys: int = _MOST_KEYS
    ) -> None:
        self._rate, self._burst, self._clock, self._most_keys = rate, burst, clock, most_keys
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        """Take one token from the bucket of a key; refuse if it is empty, with the seconds until there is one."""
        now = self._clock()
        tokens, filled = self._buckets.pop(key, (float(self._burst), now))
        tokens = min(float(self._burst), tokens + (now - filled) * self._rate)
        enough = tokens >= 1
        self._buckets[key] = (tokens - enough, now)
        if len(self._buckets) > self._most_keys:
            self._buckets.popitem(last=False)
        if not enough:
            seconds = max(1, math.ceil((1 - tokens) / self._rate))
            raise RetryLater("Your requests", "come faster than this server takes them", seconds, code="too_fast")
