"""Replies that were given before, kept as bytes: asked the same again, an analyst gets them without any computing."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

ROOM = 2**26  # bytes a process
_LARGEST_SHARE = 8  # no reply takes more than this part of the room
_OVERHEAD = 500  # bytes of our own around each


@dataclass(frozen=True)
class Asked:
    """Who asked what, under which catalog: everything that an answer depends on, but not its request id."""

    analyst: str
    edition: str
    question: str


@dataclass(frozen=True)
class Kept:
    """A reply without what changes from one to the next, and the request id that paid for it."""

    request_id: str
    body: bytes


class Replies:
    """A bounded memory of one process; what was not used for longest makes room."""

    def __init__(self, room: int = ROOM) -> None:
        self._room, self._used = room, 0
        self._kept: OrderedDict[Asked, Kept] = OrderedDict()
        self._lock = Lock()

    def keep(self, asked: Asked, kept: Kept) -> None:
        """Remember a reply, unless it is very large."""
        size = _size(asked, kept)
        if size * _LARGEST_SHARE > self._room:
            return
        with self._lock:
            self._forget(asked)
            self._kept[asked] = kept
            self._used += size
            while self._used > self._room:
                self._forget(next(iter(self._kept)))

    def find(self, asked: Asked) -> Kept | None:
        """The reply to the same question."""
        with self._lock:
            kept = self._kept.get(asked)
            if kept is not None:
                self._kept.move_to_end(asked)
            return kept

    def _forget(self, asked: Asked) -> None:
        kept = self._kept.pop(asked, None)
        if kept is not None:
            self._used -= _size(asked, kept)


def _size(asked: Asked, kept: Kept) -> int:
    return len(asked.question) + len(kept.body) + _OVERHEAD
