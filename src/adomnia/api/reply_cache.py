"""A cache of replies: an analyst who repeats a question gets the same bytes again without any computing."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.api.encoding import Pieces

LARGEST_BYTES = 2**26  # of a process
_LEAST_REPLIES = 8  # that fit: a reply larger than this part of the cache is not stored
_OVERHEAD = 500  # bytes around each reply


@dataclass(frozen=True)
class ReplyKey:
    """Everything that an answer depends on except its request id: who asked what, under which catalog."""

    analyst: str
    edition: str
    question: str


@dataclass(frozen=True)
class CachedReply:
    """A reply without the parts that change each time, and the request id that paid for it."""

    request_id: str
    body: Pieces


class ReplyCache:
    """The cache of one process, of limited size; the least recently used replies are dropped first."""

    def __init__(self, largest_bytes: int = LARGEST_BYTES) -> None:
        self._largest_bytes, self._used_bytes = largest_bytes, 0
        self._replies: OrderedDict[ReplyKey, CachedReply] = OrderedDict()
        self._lock = Lock()

    def put(self, key: ReplyKey, reply: CachedReply) -> None:
        """Store a reply, unless it is very large."""
        size = _size(key, reply)
        if size * _LEAST_REPLIES > self._largest_bytes:
            return
        with self._lock:
            self._drop(key)
            self._replies[key] = reply
            self._used_bytes += size
            while self._used_bytes > self._largest_bytes:
                self._drop(next(iter(self._replies)))

    def get(self, key: ReplyKey) -> CachedReply | None:
        """The reply to the same question."""
        with self._lock:
            reply = self._replies.get(key)
            if reply is not None:
                self._replies.move_to_end(key)
            return reply

    def _drop(self, key: ReplyKey) -> None:
        reply = self._replies.pop(key, None)
        if reply is not None:
            self._used_bytes -= _size(key, reply)


def _size(key: ReplyKey, reply: CachedReply) -> int:
    return len(key.question) + sum(map(len, reply.body)) + _OVERHEAD
