"""Hashes that are computed once: what plans are made of is looked up all the time."""

from typing import TypeVar

_Kind = TypeVar("_Kind")


def hashed_once(kind: type[_Kind]) -> type[_Kind]:
    """A frozen dataclass that keeps its hash: relations hold all their columns, and columns all their categories."""
    slow = kind.__hash__

    def quick(self: _Kind) -> int:
        if "_hash" not in self.__dict__:
            self.__dict__["_hash"] = slow(self)
        found: int = self.__dict__["_hash"]
        return found

    kind.__hash__ = quick  # type: ignore[assignment, method-assign]
    return kind
