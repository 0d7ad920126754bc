"""The table of a release of several levels: of the root and each level the sums of its nodes, then all their cells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.synthesis.attributes import MISSING
from adomnia.methods.synthesis.geography import Geography
from adomnia.methods.synthesis.nested_release import NestedRelease
from adomnia.privacy.keys import Label
from adomnia.statistics.contract import Floats
from adomnia.statistics.products import Attribute, Places

ALL = "(all)"  # in the place of a value, where all of them are counted together


@dataclass(frozen=True)
class LevelLines:
    """The values of every column in each line."""

    geography: Geography
    attributes: Sequence[Attribute]

    def label(self) -> dict[str, tuple[Label, ...]]:
        """By the names of columns, levels first."""
        return {each.name: tuple(self._list_words(place)) for place, each in enumerate(self.attributes)}

    def _list_words(self, place: int) -> Iterator[str]:
        levels = len(self.geography.sizes)
        words = [*map(_say, self.attributes[place].levels), ALL]
        cells = [len(each) for each in self.attributes[levels:]]
        inside = np.indices(cells).reshape(len(cells), prod(cells))
        for level in range(levels + 1):
            own = (
                find_places(self.geography, level)[place] if place < level else [-1] * self.geography.count_nodes(level)
            )
            yield from (words[each] for each in own)
            if cells:
                columns = inside[place - levels] if place >= levels else None
                yield from (
                    words[each] for node in own for each in ([node] * prod(cells) if columns is None else columns)
                )


def find_places(geography: Geography, level: int) -> Places:
    """Of each level down to this one, in which place every node lies."""
    nodes, first = np.unique(geography.nodes[level], return_index=True)
    found = np.zeros((level, geography.count_nodes(level)), dtype=np.int64)
    found[:, nodes] = geography.coordinates[:level, first]
    return found


def list_counts(release: NestedRelease) -> tuple[Floats, Floats]:
    """The counts in each line, and their variances."""
    values, variances = [], []
    for level in range(len(release.geography.sizes) + 1):
        table = release.add_level(level)
        values.append(table.sum(axis=1))
        variances.append(release.vary_level(level, summed=True))
        if release.shape:
            values.append(table.ravel())
            variances.append(np.repeat(release.vary_level(level, summed=False), table.shape[1]))
    return np.concatenate(values), np.maximum(np.concatenate(variances), 0.0)


def list_whole(release: NestedRelease, counts: Sequence[NDArray[np.int64]]) -> list[int | None]:
    """The whole numbers in each line."""
    tables = ((table.sum(axis=1), table.ravel()) if release.shape else (table.ravel(),) for table in counts)
    return [each for pair in tables for table in pair for each in table.tolist()]


def fill_table(release: NestedRelease, level: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The whole numbers of a level by all columns of levels down to it, and by the others; impossible ones are 0."""
    places = find_places(release.geography, level)
    found = np.zeros((*release.geography.sizes[:level], counts.shape[1]), dtype=np.int64)
    found[tuple(places)] = counts
    return found.reshape((*release.geography.sizes[:level], *release.shape))


def _say(level: Label | None) -> str:
    if level is None:
        return MISSING
    return str(level).lower() if isinstance(level, bool) else str(level)
