"""Cells that count for weights: squared sums of them by the values of every set of columns, for variances."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.statistics.contract import Floats
    from adomnia.statistics.products import Places

_MOST_DENSE = 2**23  # cells of tables of groups; beyond it those without any are left out, which takes longer


def add_weights(groups: Places, number: int, weights: Floats) -> Floats:
    """The sum of the weights of each group."""
    held = groups >= 0
    return np.asarray(np.bincount(groups[held], weights=weights[held], minlength=number), np.float64)


def square_weights(groups: Places, number: int, weights: Floats) -> Iterator[tuple[tuple[int, ...], Floats]]:
    """Of each set of axes, the sums over its values of the squared weights of a group's cells there, added up."""
    axes = tuple(range(groups.ndim))
    yield axes, add_weights(groups, number, weights**2)
    tables: dict[tuple[int, ...], Floats] = {}
    for many in range(groups.ndim - 1, -1, -1):
        for part in combinations(axes, many):
            width = prod(groups.shape[axis] for axis in part)
            if number * width > _MOST_DENSE:
                yield part, _square_sparsely(groups, number, weights, part)
                continue
            wider = next((each for each in tables if len(each) == many + 1 and set(part) <= set(each)), None)
            if wider is None:
                table = add_weights(_place(groups, part), number * width, weights)
                tables[part] = table.reshape(number, *(groups.shape[axis] for axis in part))
            else:
                (axis,) = (place for place, each in enumerate(wider) if each not in part)
                tables[part] = tables[wider].sum(axis=axis + 1)
            flat = tables[part].reshape(number, -1)
            yield part, np.einsum("gt,gt->g", flat, flat)


def _square_sparsely(groups: Places, number: int, weights: Floats, part: tuple[int, ...]) -> Floats:
    """By the values that groups have cells of: there are fewer of them than cells."""
    width = prod(groups.shape[axis] for axis in part)
    held = groups >= 0
    found, places = np.unique(_place(groups, part)[held], return_inverse=True)
    sums = np.bincount(places.reshape(-1), weights=weights[held])
    return np.asarray(np.bincount(found // width, weights=sums**2, minlength=number), np.float64)


def _place(groups: Places, part: tuple[int, ...]) -> Places:
    """Of each cell the place of its group and of its values on some axes; below zero where it is in no group."""
    width = prod(groups.shape[axis] for axis in part)
    within = np.arange(width, dtype=np.int64)
    within = within.reshape([length if axis in part else 1 for axis, length in enumerate(groups.shape)])
    return np.where(groups < 0, -1, groups * width + within)
