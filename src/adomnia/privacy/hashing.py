"""Hashes that are computed once: what plans are made of is looked up all the time."""

from typing import TypeVar

_Kind = TypeVar("_Kind")


def hashed_once(kind: type[_Kind]) -> type[_Kind]:
    """A frozen dataclass that keeps its hash: relations hold all their columns, and columns all their categories."""
    slow = kind.__hash__

    def quick(self: _Kind) -> int:
        kept = self.__dict__
        found: int | None = kept.get("_hash")
        if found is None:
            found = kept["_hash"] = slow(self)
        return found

    def state(self: _Kind) -> dict[str, object]:
        # Without the hash, when it is pickled: another process hashes texts otherwise, and would not find it again.
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    kind.__hash__ = quick  # type: ignore[assignment, method-assign]
    kind.__getstate__ = state  # type: ignore[assignment, method-assign]
    return kind
