"""Parts of a total that hold the noise of other cells than one's own."""

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ring:
    """The cells that share the values of the `outer` keys, but not of the `inner` ones; None: of all keys.

    Of those that are left at a `stage`.
    """

    inner: frozenset[Hashable] | None
    outer: frozenset[Hashable]
    stage: int

    def meets(self, other: "Ring") -> bool:
        """Whether a cell may be in both, so that their noise is not independent."""
        apart = self.stage == other.stage and (_is_within(self, other) or _is_within(other, self))
        return not apart


def _is_within(ring: Ring, other: Ring) -> bool:
    """Whether all of a ring is within the hole of another."""
    return other.inner is not None and ring.outer >= other.inner
