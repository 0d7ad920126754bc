"""Places that lie within each other, level by level, as far as that is declared: rows are never looked at for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np

from adomnia.methods.contract import BadArgument
from adomnia.privacy.keys import Label
from adomnia.statistics.products import Attribute, Places

_FIX = "write 'south: Oslo, Hamar; west: Bergen', and of more than two levels one such list after the other, with |"


@dataclass(frozen=True)
class Geography:
    """Levels of so many places. `above` has for each level but the first in which of the level before its places lie.

    Without it every combination of places is one of the finest level.
    """

    tag: ClassVar[str] = "Geography"
    sizes: tuple[int, ...]
    above: tuple[tuple[int, ...], ...] = ()

    @property
    def is_nested(self) -> bool:
        """Whether the finest level says all, because what its places lie in is declared."""
        return bool(self.above) or len(self.sizes) == 1

    @property
    def leaves(self) -> int:
        """How many places there are at the finest level."""
        return self.sizes[-1] if self.is_nested else prod(self.sizes)

    @cached_property
    def coordinates(self) -> Places:
        """For every level and every finest place, which of the level it lies in."""
        if not self.is_nested:
            return np.indices(self.sizes).reshape(len(self.sizes), -1)
        lines = [np.arange(self.sizes[-1])]
        for inside in reversed(self.above):
            lines.append(np.array(inside)[lines[-1]])
        return np.stack(lines[::-1])

    @cached_property
    def nodes(self) -> Places:
        """For the root and every level, which node every finest place lies in, counted from 0."""
        lines = [np.zeros(self.leaves, dtype=np.int64)]
        for place, size in zip(self.coordinates, self.sizes, strict=True):
            lines.append(place if self.is_nested else lines[-1] * size + place)
        return np.stack(lines)

    def count_nodes(self, level: int) -> int:
        """How many there are, the root being level 0."""
        if level == 0:
            return 1
        return self.sizes[level - 1] if self.is_nested else prod(self.sizes[:level])


def read_geography(attributes: Sequence[Attribute], nesting: str | None) -> Geography:
    """The levels, and what the question declares of them."""
    sizes = tuple(map(len, attributes))
    if nesting is None:
        return Geography(sizes)
    lists = nesting.split("|")
    if len(lists) != len(sizes) - 1:
        raise BadArgument("nesting", f"has {len(lists)} lists, and there are {len(sizes)} levels", _FIX)
    pairs = zip(attributes[:-1], attributes[1:], lists, strict=True)
    return Geography(sizes, tuple(_read_list(*each) for each in pairs))


def _read_list(coarse: Attribute, fine: Attribute, text: str) -> tuple[int, ...]:
    """For every fine place the coarse one that it is listed under; a missing one lies in the missing one."""
    found: dict[int, int] = {}
    for entry in filter(str.strip, text.split(";")):
        name, colon, inside = entry.partition(":")
        if not colon:
            raise BadArgument("nesting", f"has {entry.strip()!r} without a colon", _FIX)
        place = _find(coarse, name)
        for each in inside.split(","):
            if found.setdefault(_find(fine, each), place) != place:
                raise BadArgument("nesting", f"has {each.strip()!r} in two places", "list it once")
    if None in fine.levels:
        found[len(fine) - 1] = len(coarse) - 1
    left = [str(level) for place, level in enumerate(fine.levels) if place not in found]
    if left:
        raise BadArgument(
            "nesting", f"does not say where {', '.join(left[:5])} lie", "list every value that is declared"
        )
    empty = [str(level) for place, level in enumerate(coarse.levels) if place not in found.values()]
    if empty:
        raise BadArgument("nesting", f"has nothing in {', '.join(empty[:5])}", "list what lies in every place")
    return tuple(found[place] for place in range(len(fine)))


def _find(attribute: Attribute, name: str) -> int:
    """The place of a value, as it is written."""
    written = {_write(level): place for place, level in enumerate(attribute.levels) if level is not None}
    if name.strip() not in written:
        why = f"names {name.strip()!r}, which is no value of {attribute.name}"
        raise BadArgument("nesting", why, f"its values are {', '.join(list(written)[:10])}")
    return written[name.strip()]


def _write(level: Label | None) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)
