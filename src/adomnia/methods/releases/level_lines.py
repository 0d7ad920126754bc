"""Tables of several levels, one below the other: in each line a value of every column, or all of them together."""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from adomnia.methods.releases.attributes import MISSING
from adomnia.privacy.keys import Label
from adomnia.statistics.products import Attribute

ALL = "(all)"  # in the place of a value, where all of them are counted together


def label_lines(attributes: Sequence[Attribute], shown: Sequence[tuple[int, ...]]) -> dict[str, tuple[Label, ...]]:
    """The value of every column in each line of these tables, which are by rising columns."""
    sizes = list(map(len, attributes))
    return {
        each.name: tuple(word for columns in shown for word in _list_words(each, place, columns, sizes))
        for place, each in enumerate(attributes)
    }


def list_whole(
    counts: Mapping[tuple[int, ...], NDArray[np.int64]], shown: Sequence[tuple[int, ...]], lines: int
) -> list[int | None]:
    """The whole numbers in each line, sums by adding the finest of them up; None where there are none."""
    if not counts:
        return [None] * lines
    finest = counts[max(counts, key=len)]
    tables = (finest.sum(axis=tuple(place for place in range(finest.ndim) if place not in each)) for each in shown)
    return [int(each) for table in tables for each in np.ravel(table)]


def _list_words(attribute: Attribute, place: int, columns: tuple[int, ...], sizes: Sequence[int]) -> list[str]:
    cells = prod(sizes[column] for column in columns)
    if place not in columns:
        return [ALL] * cells
    after = prod(sizes[column] for column in columns if column > place)
    once = [_say(level) for level in attribute.levels for _ in range(after)]
    return once * (cells // len(once))


def _say(level: Label | None) -> str:
    if level is None:
        return MISSING
    return str(level).lower() if isinstance(level, bool) else str(level)
