"""The sorts of estimates that a folder can hold, by their tags: what counts are computed from when it is opened."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self, cast

from adomnia.methods.synthesis.nested_release import NestedRelease
from adomnia.methods.synthesis.residuals import Residuals
from adomnia.methods.synthesis.strategies import GramRelease
from adomnia.statistics.products import LinearRelease


class PlainEstimates(LinearRelease, Protocol):
    """Estimates that can be kept as plain data: numbers, texts, arrays, and lists and mappings of such."""

    tag: ClassVar[str]  # what folders know it by, for ever

    def to_plain(self) -> dict[str, Any]:
        """All that it is made of; keys are texts."""
        ...

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], sizes: Sequence[int]) -> Self:
        """The same again, with lists where tuples were, for columns of so many values.

        A ValueError, KeyError or TypeError for what `to_plain` cannot have written: it may come from a stranger.
        """
        ...


_ALL: tuple[type[PlainEstimates], ...] = (Residuals, GramRelease, NestedRelease)
ESTIMATES: Mapping[str, type[PlainEstimates]] = MappingProxyType({each.tag: each for each in _ALL})


def write_estimates(estimates: LinearRelease | None) -> dict[str, Any] | None:
    """The tag, and the plain data."""
    if estimates is None:
        return None
    tag = getattr(estimates, "tag", None)
    if tag not in ESTIMATES:
        raise ValueError(f"Release estimates must be of a registered class, got {type(estimates).__name__}.")
    return {"tag": tag, "content": cast("PlainEstimates", estimates).to_plain()}


def read_estimates(plain: Mapping[str, Any] | None, sizes: Sequence[int]) -> LinearRelease | None:
    """What `write_estimates` wrote."""
    if plain is None:
        return None
    if plain["tag"] not in ESTIMATES:
        raise ValueError(f"Release estimates must be of a known sort, got {plain['tag']!r:.60}.")
    return ESTIMATES[plain["tag"]].from_plain(plain["content"], sizes)
