"""Limits how fast each user or address may send requests, by token buckets."""

from __future__ import annotations

import math
from collections import OrderedDict
from hashlib import sha256
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from adomnia.api.retry import RetryLater

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.api.access import Access
    from adomnia.api.access.shared_database import SharedDatabase

_MOST_KEYS = 10_000
_PORTIONS = 20  # of a bucket that hosts share


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
            raise _too_fast((1 - tokens) / self._rate)


class SharedRateLimiter:
    """The same for all hosts together: tokens come from buckets in the shared database, a few at a time.

    What was taken and not used is forgotten by the time at which the bucket is full again. A burst is larger than it
    should be by what others have taken and not used: one portion for each worker at most.
    """

    def __init__(
        self, database: SharedDatabase, rate: float, burst: int, clock: Callable[[], float] = monotonic
    ) -> None:
        self._database, self._rate, self._burst, self._clock = database, rate, burst, clock
        self._portion = max(1, burst // _PORTIONS)
        self._lock = Lock()
        self._taken: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how many, and until when: 0 is a refusal

    def take(self, key: str) -> None:
        """Take one token, as `RateLimiter` does; it may wait for the database."""
        if self._use_taken(key):
            return
        more = self._fetch(key) - 1
        if more:
            self._keep(key, more, self._burst / self._rate)

    def _fetch(self, key: str) -> int:
        """Take tokens from the shared bucket; whoever finds it empty is refused here until there can be one."""
        digest = sha256(key.encode("utf-8", "surrogatepass")).digest()
        for number in dict.fromkeys((self._portion, 1)):
            if self._database.take_tokens(digest, number, self._rate, self._burst):
                return number
        self._keep(key, 0, 1 / self._rate)
        raise _too_fast(1 / self._rate)

    def _use_taken(self, key: str) -> bool:
        with self._lock:
            number, until = self._taken.pop(key, (0, 0.0))
            if self._clock() >= until:
                return False
            if number != 1:
                self._taken[key] = max(0, number - 1), until
        if not number:
            raise _too_fast(1 / self._rate)
        return True

    def _keep(self, key: str, number: int, seconds: float) -> None:
        with self._lock:
            self._taken[key] = number, self._clock() + seconds
            if len(self._taken) > _MOST_KEYS:
                self._taken.popitem(last=False)


def open_rate_limiter(access: Access, rate: float, burst: int) -> RateLimiter | SharedRateLimiter:
    """Limits for this process alone, or for all hosts that share their users."""
    return RateLimiter(rate, burst) if access.shared is None else SharedRateLimiter(access.shared, rate, burst)


def _too_fast(seconds: float) -> RetryLater:
    why = "come faster than this server takes them"
    return RetryLater("Your requests", why, max(1, math.ceil(seconds)), code="too_fast")
